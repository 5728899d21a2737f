//! The one list of commands: dispatch, arity, `COMMAND` and the live help of redis-cli come from it.

mod description;
mod likeness;
mod named;
mod table;

use std::fmt;

use crate::Call;

pub use description::{count, docs, every, info, keyless, list};
pub use named::{FieldSyntax, Misnamed, operations};
pub use table::{COMMANDS, SERVICES, refusals};

macro_rules! actions {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// What a command asks for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Action {
            $($machine(&'static Call),)+
            Session(Verb),
        }

        impl Action {
            /// The operation, if it asks for one of a service.
            #[must_use]
            pub const fn call(self) -> Option<&'static Call> {
                match self {
                    $(Self::$machine(call))|+ => Some(call),
                    Self::Session(_) => None,
                }
            }
        }
    };
}

turnstile_services::services!(actions);

/// What a command asks of the connection or the server, rather than of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Ping,
    Echo,
    Quit,
    Reset,
    Hello,
    Auth,
    Select,
    ClientSetInfo,
    ClientSetName,
    ClientGetName,
    ClientId,
    ClientInfo,
    ClientList,
    ClientReply,
    ClientNoEvict,
    ClientNoTouch,
    ClientTraceParent,
    ClientKill,
    ClientTracking,
    ClientTrackingInfo,
    ClientCaching,
    ClientRedirection,
    Info,
    Command,
    CommandCount,
    CommandDocs,
    CommandGetKeys,
    CommandInfo,
    CommandList,
    ConfigGet,
    Multi,
    Exec,
    Discard,
    Watch,
    Unwatch,
    Subscribe,
    Unsubscribe,
    PatternSubscribe,
    PatternUnsubscribe,
    Time,
    DbSize,
    Scan,
    Monitor,
    Role,
    SlowLogGet,
    SlowLogLen,
    SlowLogReset,
    LatencyLatest,
    LatencyHistory,
    LatencyReset,
    LatencyDoctor,
    AclWhoAmI,
    AclUsers,
    AclList,
    AclGetUser,
    ReadOnly,
    ReadWrite,
    ClusterAge,
    ClusterStatus,
    ClusterDrain,
    ClusterStepDown,
}

/// How a command is written, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Syntax {
    /// In small letters; a subcommand's is `container|name`.
    pub name: &'static str,
    pub summary: &'static str,
    pub group: &'static str,
    pub arguments: &'static [Argument],
    pub flags: &'static [&'static str],
    /// What it does; a container of subcommands may do nothing alone.
    pub action: Option<Action>,
    pub subcommands: &'static [Self],
}

/// One argument, or a choice or sequence of them.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub name: &'static str,
    pub kind: Kind,
    /// The word that must stand before it.
    pub token: Option<&'static str>,
    pub optional: bool,
    pub multiple: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Text,
    Integer,
    /// Nothing but its token.
    Token,
    OneOf(&'static [Argument]),
    Block(&'static [Argument]),
}

/// Why a request names nothing that can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown<'a> {
    Command(&'a [u8]),
    Subcommand {
        container: &'static str,
        name: &'a [u8],
    },
    /// The command exists and takes another number of arguments.
    Arity(&'static str),
}

/// The most characters of an unknown name that an error repeats.
const REPEATED_MAX: usize = 128;

impl fmt::Display for Unknown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &[u8]| {
            let shown = name.get(..REPEATED_MAX).unwrap_or(name);
            String::from_utf8_lossy(shown).into_owned()
        };
        match self {
            Self::Command(name) => {
                write!(f, "unknown command '{}'", shown(name))?;
                likeness::put_suggestion(f, &likeness::commands_like(name))
            }
            Self::Subcommand { container, name } => {
                write!(f, "unknown subcommand '{}' of '{container}'", shown(name))?;
                likeness::put_suggestion(f, &likeness::subcommands_like(container, name))
            }
            Self::Arity(name) => write!(f, "wrong number of arguments for '{name}' command"),
        }
    }
}

impl std::error::Error for Unknown<'_> {}

impl Syntax {
    /// The number of words, the name's among them; negative when it is the least number.
    #[must_use]
    pub fn arity(&self) -> i64 {
        let own = 1 + self.name.matches('|').count();
        let needed: usize = self.arguments.iter().map(Argument::words_min).sum();
        let words = i64::try_from(own + needed).expect("a command has few words");
        if self.subcommands.is_empty() && self.arguments.iter().all(Argument::is_fixed) {
            words
        } else if self.action.is_none() {
            -2
        } else {
            -words
        }
    }

    /// The name of a subcommand without that of its container.
    fn own_name(&self) -> Option<&'static str> {
        self.name.rsplit('|').next()
    }

    fn takes(&self, words: usize) -> bool {
        let arity = self.arity();
        let Ok(words) = i64::try_from(words) else {
            return false;
        };
        if arity < 0 {
            words >= -arity
        } else {
            words == arity
        }
    }
}

impl Argument {
    fn words_min(&self) -> usize {
        if self.optional {
            return 0;
        }
        let own = match self.kind {
            Kind::Text | Kind::Integer => 1,
            Kind::Token => 0,
            Kind::OneOf(choices) => words_of_shortest(choices),
            Kind::Block(parts) => parts.iter().map(Self::words_min).sum(),
        };
        own + usize::from(self.token.is_some())
    }

    /// Whether it takes the same number of words however it is written.
    fn is_fixed(&self) -> bool {
        let parts = match self.kind {
            Kind::Text | Kind::Integer | Kind::Token => true,
            Kind::OneOf(choices) => choices.iter().all(|choice| {
                choice.is_fixed() && choice.words_min() == words_of_shortest(choices)
            }),
            Kind::Block(parts) => parts.iter().all(Self::is_fixed),
        };
        !self.optional && !self.multiple && parts
    }
}

fn words_of_shortest(choices: &[Argument]) -> usize {
    choices.iter().map(Argument::words_min).min().unwrap_or(0)
}

/// Finds commands by name, whatever the case of its letters. Made once.
#[derive(Debug)]
pub struct Catalogue {
    /// Open addressing; a command's home is [`home`] of its name.
    places: Vec<Option<Place>>,
}

#[derive(Clone, Debug)]
struct Place {
    syntax: &'static Syntax,
    /// The name in capitals, as most clients write it: equal bytes are quicker to see than equal
    /// letters.
    capitals: Box<[u8]>,
    /// Kept here because it is counted from the arguments.
    arity: i64,
}

/// Places in the table: far more than commands, so that most stand at their home.
const PLACES: usize = 1024;

impl Default for Catalogue {
    fn default() -> Self {
        Self::new()
    }
}

impl Catalogue {
    #[must_use]
    pub fn new() -> Self {
        let mut places = vec![None; PLACES];
        assert!(COMMANDS.len() * 4 <= PLACES, "the table is too small");
        for syntax in &*COMMANDS {
            let mut at = home(syntax.name.as_bytes());
            while places.get(at).is_some_and(Option::is_some) {
                at = (at + 1) % PLACES;
            }
            let place = places
                .get_mut(at)
                .expect("a place is below the number of places");
            *place = Some(Place {
                syntax,
                capitals: syntax.name.to_ascii_uppercase().into_bytes().into(),
                arity: syntax.arity(),
            });
        }
        Self { places }
    }

    /// The syntax of the command or container called `name`.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<&'static Syntax> {
        self.place(name).map(|place| place.syntax)
    }

    /// The name of what a request asks for: that of a subcommand, where it names one.
    #[must_use]
    pub fn name_of(&self, arguments: &crate::Arguments<'_, '_>) -> Option<&'static str> {
        let syntax = self.find(arguments.get(0)?)?;
        let is_meant = |one: &&Syntax| {
            let own = one.own_name().unwrap_or_default().as_bytes();
            let given = arguments.get(1).unwrap_or_default();
            own.eq_ignore_ascii_case(given)
        };
        let subcommand = syntax.subcommands.iter().find(is_meant);
        Some(subcommand.unwrap_or(syntax).name)
    }

    #[inline]
    fn place(&self, name: &[u8]) -> Option<&Place> {
        let mut at = home(name);
        loop {
            let place = self.places.get(at)?.as_ref()?;
            if *place.capitals == *name || place.capitals.eq_ignore_ascii_case(name) {
                return Some(place);
            }
            at = (at + 1) % PLACES;
        }
    }

    /// What a request asks for: its words are counted, not read.
    ///
    /// # Errors
    /// There is no such command, or it takes another number of words.
    #[inline]
    pub fn resolve<'a>(&self, arguments: &crate::Arguments<'a, '_>) -> Result<Action, Unknown<'a>> {
        let name = arguments.get(0).unwrap_or_default();
        let place = self.place(name).ok_or(Unknown::Command(name))?;
        let words = i64::try_from(arguments.len()).expect("a request has few words");
        if !place.syntax.subcommands.is_empty() && words > 1 {
            return subcommand(place.syntax, arguments);
        }
        let fits = if place.arity < 0 {
            words >= -place.arity
        } else {
            words == place.arity
        };
        match place.syntax.action {
            Some(action) if fits => Ok(action),
            _ => Err(Unknown::Arity(place.syntax.name)),
        }
    }
}

fn subcommand<'a>(
    container: &'static Syntax,
    arguments: &crate::Arguments<'a, '_>,
) -> Result<Action, Unknown<'a>> {
    let name = arguments.get(1).unwrap_or_default();
    let syntax = find_subcommand(container, name).ok_or(Unknown::Subcommand {
        container: container.name,
        name,
    })?;
    match syntax.action {
        Some(action) if syntax.takes(arguments.len()) => Ok(action),
        _ => Err(Unknown::Arity(syntax.name)),
    }
}

fn find_subcommand(container: &'static Syntax, name: &[u8]) -> Option<&'static Syntax> {
    container.subcommands.iter().find(|syntax| {
        let own = syntax.own_name().unwrap_or_default();
        own.as_bytes().eq_ignore_ascii_case(name)
    })
}

/// Mixes the length and three letters; small and capital letters count as the same.
#[inline]
fn home(name: &[u8]) -> usize {
    let letter = |at: usize| usize::from(name.get(at).copied().unwrap_or(0) | 0x20);
    let last = name.len().wrapping_sub(1);
    (name.len() * 13 + letter(last) * 17 + letter(0) * 31 + letter(9) * 7) % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::typed;

    fn resolve(line: &str) -> Result<Action, String> {
        typed(line, |found, _arguments| {
            found.map_err(|unknown| unknown.to_string())
        })
    }

    #[test]
    fn every_command_is_found_in_any_case() {
        let catalogue = Catalogue::new();
        for syntax in COMMANDS.iter() {
            for name in [
                syntax.name.to_ascii_lowercase(),
                syntax.name.to_ascii_uppercase(),
            ] {
                let found = catalogue.find(name.as_bytes()).map(|found| found.name);
                assert_eq!(found, Some(syntax.name));
            }
        }
    }

    #[test]
    fn the_words_of_a_rush_stand_at_their_home() {
        let catalogue = Catalogue::new();
        for name in [
            "rooms.book",
            "exchange.place-order",
            "exchange.cancel-order",
            "games.move",
            "travel.book",
        ] {
            let place = catalogue.places[home(name.as_bytes())].as_ref();
            assert_eq!(place.map(|place| place.syntax.name), Some(name));
        }
    }

    #[test]
    fn a_request_is_known_by_its_name_and_its_number_of_words() {
        let found = |name: &str| {
            let syntax = COMMANDS.iter().find(|syntax| syntax.name == name);
            Ok(syntax.and_then(|syntax| syntax.action).expect(name))
        };
        let error = |text: &str| Err(text.to_owned());
        let rows = [
            ("ping", Ok(Action::Session(Verb::Ping))),
            ("PING hello", Ok(Action::Session(Verb::Ping))),
            ("client ID", Ok(Action::Session(Verb::ClientId))),
            ("command", Ok(Action::Session(Verb::Command))),
            ("command count", Ok(Action::Session(Verb::CommandCount))),
            ("rooms.book p r a d g i", found("rooms.book")),
            ("ROOMS.BOOK p r a d g i KEY k", found("rooms.book")),
            ("rooms.add-room p r t", found("rooms.add-room")),
            ("Exchange.Get-Depth s", found("exchange.get-depth")),
            ("travel.book 7 flight-1", found("travel.book")),
            ("games.move 1 a 0 5", found("games.move")),
            ("GAMES.ACCEPT-DRAW 1 a", found("games.accept-draw")),
            (
                "TRAVEL.LIST-TRANSACTIONS",
                found("travel.list-transactions"),
            ),
            (
                "rooms.book p r a d g",
                error("wrong number of arguments for 'rooms.book' command"),
            ),
            (
                "rooms.look-up a b",
                error("wrong number of arguments for 'rooms.look-up' command"),
            ),
            (
                "client",
                error("wrong number of arguments for 'client' command"),
            ),
            (
                "client id 3",
                error("wrong number of arguments for 'client|id' command"),
            ),
            (
                "client kil 3",
                error("unknown subcommand 'kil' of 'client', did you mean 'kill'?"),
            ),
            ("get x", error("unknown command 'get'")),
        ];
        for (line, expected) in rows {
            assert_eq!(resolve(line), expected, "{line}");
        }
    }

    #[test]
    fn arity_counts_the_words_that_must_stand() {
        let arity = |name: &str| Catalogue::new().find(name.as_bytes()).map(Syntax::arity);
        assert_eq!(arity("rooms.book"), Some(-7));
        assert_eq!(arity("rooms.look-up"), Some(2));
        assert_eq!(arity("ping"), Some(-1));
        assert_eq!(arity("client"), Some(-2));
        assert_eq!(arity("command"), Some(-1));
        // A choice between one word and several.
        let client = Catalogue::new().find(b"client");
        let kill = client.and_then(|client| find_subcommand(client, b"kill"));
        assert_eq!(kill.map(Syntax::arity), Some(-3));
    }
}
