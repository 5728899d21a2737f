//! The topmost layer: the flags of the command line, made from the table of options.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::{
    option::{Declaration, Kind},
    options::OPTIONS,
};

/// Place of the flags about logging in a help text: below those of the command, above `--help`.
const LAST: usize = 998;

/// The flags that a command line has, each with its text: those about logging, which every command
/// takes, or the others.
#[derive(Clone, Debug)]
pub(crate) struct Supplied<const LOG: bool>(pub(super) Vec<(&'static Declaration, String)>);

/// The flags of commands that start a server.
pub(crate) type Flags = Supplied<false>;

/// The flags about logging.
pub(crate) type LogFlags = Supplied<true>;

fn options(is_global: bool) -> impl Iterator<Item = &'static Declaration> {
    let those = move |option: &&Declaration| option.is_global == is_global;
    OPTIONS.iter().filter(those)
}

fn argument(option: &'static Declaration) -> Arg {
    let argument = Arg::new(option.flag)
        .long(option.flag)
        .value_name(option.value)
        .help(option.full_help());
    let argument = match option.kind {
        Kind::Text | Kind::Integer => argument,
        Kind::List => argument.action(ArgAction::Append),
        Kind::Boolean => argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
    };
    if option.is_global {
        argument.global(true).display_order(LAST)
    } else {
        argument
    }
}

impl<const LOG: bool> FromArgMatches for Supplied<LOG> {
    /// The texts of a flag that is given several times become one list.
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = options(LOG).filter_map(|option| {
            let texts = matches.get_many::<String>(option.flag)?;
            let texts: Vec<&str> = texts.map(String::as_str).collect();
            Some((option, texts.join(",")))
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const LOG: bool> Args for Supplied<LOG> {
    fn augment_args(command: Command) -> Command {
        command.args(options(LOG).map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
