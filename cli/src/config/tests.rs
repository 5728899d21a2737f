//! What holds for every option, and the reference page that is made from the table.

use std::{env, fmt::Write as _, fs, path::Path};

use clap::Parser as _;

use super::{
    Config, Layers,
    option::{Declaration, Kind},
    options::OPTIONS,
};
use crate::arguments::{Arguments, Command, ConfigCommand};

/// A value as the file writes it.
fn in_file(option: &Declaration, text: &str) -> String {
    match option.kind {
        Kind::Text => format!("\"{text}\""),
        Kind::Boolean | Kind::Integer => text.to_owned(),
        Kind::List if text.is_empty() => "[]".to_owned(),
        Kind::List => format!("[\"{text}\"]"),
    }
}

/// Value and origin of an option in what `config print` prints.
fn printed(layers: &Layers, option: &Declaration) -> (String, String) {
    let text = layers.to_string();
    let section = format!("[{}]", option.section());
    let mut lines = text.lines().skip_while(|line| *line != section);
    let begin = format!("{} = ", option.key());
    let line = lines.find_map(|line| line.strip_prefix(&begin)).unwrap();
    let (value, origin) = line.split_once(" # ").unwrap();
    (value.trim().to_owned(), origin.to_owned())
}

/// Puts a flag over the layers, as the command line does.
fn with_flag(layers: Layers, flag: &str) -> Layers {
    let arguments = Arguments::try_parse_from(["turnstile", "config", "print", flag]).unwrap();
    let Command::Config(ConfigCommand::Print(print)) = arguments.command else {
        panic!("{arguments:?}");
    };
    layers.flags(&print.flags, &arguments.log)
}

#[test]
fn each_layer_covers_the_one_below_it_for_every_option() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("turnstile.toml");
    for option in OPTIONS {
        let layers = Layers::defaults();
        match option.default {
            None => {
                let unset = format!("# {} is not set\n", option.key());
                assert!(layers.to_string().contains(&unset), "{}", option.path);
            }
            Some(default) => {
                let expected = (in_file(option, default), "default".to_owned());
                assert_eq!(printed(&layers, option), expected);
            }
        }
        let example = in_file(option, option.example);
        let content = format!("[{}]\n{} = {example}\n", option.section(), option.key());
        fs::write(&path, content).unwrap();
        let layers = layers.file(&path).unwrap();
        let expected = (example.clone(), format!("{}:2", path.display()));
        assert_eq!(printed(&layers, option), expected);

        let text = option.default.unwrap_or(option.example);
        let variable = (option.variable(), text.to_owned());
        let layers = layers.environment([variable].into_iter()).unwrap();
        let origin = format!("environment {}", option.variable());
        assert_eq!(printed(&layers, option), (in_file(option, text), origin));

        let flag = format!("--{}", option.flag);
        let layers = with_flag(layers, &format!("{flag}={}", option.example));
        assert_eq!(printed(&layers, option), (example, format!("flag {flag}")));
        Config::parse(&layers).unwrap();
    }
}

#[test]
fn every_option_changes_the_configuration() {
    let shown = |layers: &Layers| format!("{:?}", Config::parse(layers).unwrap());
    let default = shown(&Layers::defaults());
    for option in OPTIONS {
        let flag = format!("--{}={}", option.flag, option.example);
        let layers = with_flag(Layers::defaults(), &flag);
        assert_ne!(shown(&layers), default, "{}", option.path);
    }
}

#[test]
fn a_running_server_takes_over_the_options_that_say_so() {
    let defaults = Layers::defaults();
    for option in OPTIONS {
        let flag = format!("--{}={}", option.flag, option.example);
        let changes = defaults.changes(&with_flag(Layers::defaults(), &flag));
        let (live, fixed) = match option.is_live {
            true => (vec![option.path], vec![]),
            false => (vec![], vec![option.path]),
        };
        assert_eq!((changes.live, changes.fixed), (live, fixed));
    }
}

#[test]
fn no_two_options_share_a_name_and_sections_stay_together() {
    let mut paths: Vec<&str> = OPTIONS.iter().map(|option| option.path).collect();
    let mut flags: Vec<&str> = OPTIONS.iter().map(|option| option.flag).collect();
    let mut sections: Vec<&str> = OPTIONS.iter().map(Declaration::section).collect();
    sections.dedup();
    for names in [&mut paths, &mut flags, &mut sections] {
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    }
}

/// Columns of the reference page.
const COLUMNS: usize = 100;

/// A paragraph, wrapped.
fn paragraph(text: &str) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        if column > 0 && column + word.len() >= COLUMNS {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out
}

const HEAD: &str = "\
# Configuration

`turnstile serve` reads its options from four places. A later one overrides an earlier one: the
default, the file of `--config FILE` (TOML), an environment variable, a flag. `turnstile dev` takes
the flags only. `turnstile config print` prints the effective value of every option and its origin;
the output is a valid configuration file. An unknown name is an error.

A [reload](../operations.md#reload) makes the server read the file again. It changes the options that say
so below. If another option has changed, or if the file is wrong, the server keeps all of its options and
says why.

This page is generated from the table of options by `cargo xtask reference`.
";

fn reference() -> String {
    let (mut page, mut section) = (HEAD.to_owned(), "");
    for option in OPTIONS {
        if option.section() != section {
            section = option.section();
            write!(page, "\n## [{section}]\n").unwrap();
        }
        let (key, flag, value) = (option.key(), option.flag, option.value);
        let help = paragraph(&format!("{}.", option.help));
        let flag = match option.kind {
            Kind::Boolean => format!("--{flag}[={value}]"),
            Kind::Text | Kind::Integer | Kind::List => format!("--{flag} {value}"),
        };
        write!(page, "\n### `{key}`\n\n{help}\n\n- Flag: `{flag}`\n").unwrap();
        write!(page, "- Variable: `{}`", option.variable()).unwrap();
        if let Some(foreign) = option.foreign_variable {
            write!(page, ", else `{foreign}`").unwrap();
        }
        match option.default {
            None => page.push_str("\n- Default: not set"),
            Some("") => page.push_str("\n- Default: empty"),
            Some(default) => write!(page, "\n- Default: `{default}`").unwrap(),
        }
        if let Some(dev) = option.dev {
            write!(page, "; in `dev` `{dev}`").unwrap();
        }
        page.push('\n');
        if option.is_live {
            page.push_str("- A reload changes it in a running server.\n");
        }
    }
    page
}

#[test]
fn the_reference_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/configuration.md");
    if env::var_os("TURNSTILE_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, reference()).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(page == reference(), "run `cargo xtask reference`");
}
