//! What the server knows of each service of [the list](turnstile_services), and what is special about
//! some.

use std::{borrow::Cow, fmt};

use turnstile_chassis::{Countable, Fields, Served as _, joined};
use turnstile_contract::Service;
use turnstile_embedded::{Embedded, Hosted};
use turnstile_exchange::Exchange;
use turnstile_games::{Games, MatchId};
use turnstile_rooms::{EntryState, Reference, Rooms};
use turnstile_travel::{Travel, Xid};
use turnstile_types::{Outcome, Position, Principal, Timestamp};

use crate::limits::{HOLDS_PER_CONNECTION, MATCHES_PER_CONNECTION, TRANSACTIONS_PER_CONNECTION};

/// A table with a bound that all clients share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// What is in it, in the plural.
    pub(crate) name: &'static str,
    /// How many there may be.
    pub(crate) most: usize,
    /// How many of them one connection may have opened.
    pub(crate) per_connection: usize,
}

/// A service of this server.
pub(crate) trait Registered: Service + Hosted<Event: Fields> {
    /// Its place in the list.
    const PLACE: usize;
    /// Its commands, and behind them its queries.
    const OPERATIONS: &'static [&'static str];
    /// The place of the first of them among those of all services.
    const FIRST_OPERATION: usize = operations_before(Self::PLACE);
    /// Done, and each refusal by its word.
    const OUTCOMES: &'static [&'static str];
    /// Whether some commands wait, and are counted again when they are answered.
    const ANSWERS_LATE: bool = false;
    /// What asks for its totals.
    const TOTALS: Self::Query;

    /// Where followers read its events, if all of them stand in one channel.
    const CHANNEL: &'static str;
    /// Whether its events are kept only while somebody follows them.
    const IS_KEPT_WHILE_FOLLOWED: bool = false;

    /// What clients open in a table that all share.
    type Opened: Copy + fmt::Debug;
    /// That table, if it has one.
    const TABLE: Option<Table> = None;

    /// Which of the operations a command is.
    fn command_place(command: &Self::Command<'_>) -> usize;

    /// Which of the operations a query is.
    fn query_place(query: &Self::Query) -> usize;

    /// Which of the outcomes it is.
    fn outcome_place(outcome: &Self::Outcome) -> usize;

    /// The totals, if the answer tells them.
    fn totals_of(answer: &Self::Answer) -> Option<Self::Totals>;

    /// Appends what has happened since the last call, if that is wanted; answers the last position of
    /// what was not.
    fn take_events(
        backend: &mut Embedded,
        _is_wanted: bool,
        events: &mut Vec<Self::Event>,
    ) -> Option<Position> {
        backend.move_events::<Self>(events);
        None
    }

    /// Where followers read this event.
    fn channel(_event: &Self::Event) -> Cow<'static, str> {
        Cow::Borrowed(Self::CHANNEL)
    }

    /// Whether those who follow the service are told this event.
    fn is_told(_event: &Self::Event) -> bool {
        true
    }

    /// The ticket of its late answer, where it waits for one.
    fn late_ticket(_outcome: &Self::Outcome) -> Option<Position> {
        None
    }

    /// Whether it commits a transaction, for fault points.
    fn commits(_outcome: &Self::Outcome) -> bool {
        false
    }

    /// How many places of the table are taken.
    fn taken(_backend: &Embedded) -> usize {
        0
    }

    /// What was opened.
    fn opened(_outcome: &Self::Outcome) -> Option<Self::Opened> {
        None
    }

    /// Whether that is still open.
    fn is_open(_backend: &Embedded, _now: Timestamp, _id: Self::Opened) -> bool {
        false
    }
}

macro_rules! open_of_services {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// How much of something a principal has open, in all services.
        pub(crate) fn open_of(backend: &Embedded, principal: &Principal, of: Countable) -> u32 {
            let each = [$(
                backend
                    .machine::<turnstile_services::$name::$machine>()
                    .open_of(principal, of),
            )+];
            each.into_iter().fold(0, u32::saturating_add)
        }
    };
}

turnstile_services::services!(open_of_services);

/// The words under which a service is counted.
#[derive(Debug)]
pub(crate) struct CountedWords {
    /// Its number in records.
    pub(crate) number: u8,
    pub(crate) name: &'static str,
    pub(crate) operations: &'static [&'static str],
    pub(crate) outcomes: &'static [&'static str],
    pub(crate) answers_late: bool,
}

macro_rules! words_of_services {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// The places of the services in the list.
        enum Place {
            $($machine,)+
        }

        /// The services, in the order of the list.
        pub(crate) const SERVICES: [CountedWords; [$(Place::$machine),+].len()] = [
            $(CountedWords {
                number: <turnstile_services::$name::$machine as turnstile_types::Machine>::SERVICE,
                name: turnstile_services::$name::$machine::NAME,
                operations: turnstile_services::$name::$machine::OPERATIONS,
                outcomes: turnstile_services::$name::$machine::OUTCOMES,
                answers_late: turnstile_services::$name::$machine::ANSWERS_LATE,
            },)+
        ];
    };
}

turnstile_services::services!(words_of_services);

/// How many operations the services before this place have.
const fn operations_before(place: usize) -> usize {
    let mut operations = 0;
    let mut at = 0;
    while at < place {
        operations += SERVICES[at].operations.len();
        at += 1;
    }
    operations
}

/// The operations of all services.
pub(crate) const OPERATIONS: usize = operations_before(SERVICES.len());

/// Some of the services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SomeServices(pub(crate) [bool; SERVICES.len()]);

impl SomeServices {
    pub(crate) const ALL: Self = Self([true; SERVICES.len()]);
    pub(crate) const NONE: Self = Self([false; SERVICES.len()]);

    pub(crate) const fn has<M: Registered>(self) -> bool {
        self.0[M::PLACE]
    }

    pub(crate) const fn add<M: Registered>(&mut self) {
        self.0[M::PLACE] = true;
    }
}

/// What all services have in common: operations are commands and queries in the order of their
/// declaration.
macro_rules! operations {
    ($name:ident: $machine:ident) => {
        const CHANNEL: &'static str = concat!(stringify!($name), ".events");
        const PLACE: usize = Place::$machine as usize;
        const OPERATIONS: &'static [&'static str] = {
            use turnstile_services::$name::{Command, Query};
            const ALL: [&str; Command::WORDS.len() + Query::WORDS.len()] =
                joined("", &[Command::WORDS, Query::WORDS]);
            &ALL
        };
        const TOTALS: Self::Query = turnstile_services::$name::Query::Totals;

        fn command_place(command: &Self::Command<'_>) -> usize {
            command.place()
        }

        fn query_place(query: &Self::Query) -> usize {
            turnstile_services::$name::Command::WORDS.len() + query.place()
        }

        fn totals_of(answer: &Self::Answer) -> Option<Self::Totals> {
            match answer {
                turnstile_services::$name::Answer::Totals(totals) => Some(*totals),
                _ => None,
            }
        }
    };
}

/// Done, and each refusal by its word.
macro_rules! outcomes {
    ($name:ident) => {
        const OUTCOMES: &'static [&'static str] = {
            use turnstile_services::$name::Refusal;
            const ALL: [&str; 1 + Refusal::WORDS.len()] = joined("", &[&["done"], Refusal::WORDS]);
            &ALL
        };

        fn outcome_place(outcome: &Self::Outcome) -> usize {
            match outcome {
                Outcome::Done(_) => 0,
                Outcome::Refused(refusal) => 1 + refusal.place(),
            }
        }
    };
}

macro_rules! plain {
    ($($name:ident: $machine:ident),+ $(,)?) => {$(
        impl Registered for turnstile_services::$name::$machine {
            operations!($name: $machine);
            outcomes!($name);

            type Opened = ();
        }
    )+};
}

turnstile_services::plain_services!(plain);

impl Registered for Rooms {
    operations!(rooms: Rooms);
    outcomes!(rooms);

    type Opened = Reference;
    const TABLE: Option<Table> = Some(Table {
        name: "holds",
        most: turnstile_rooms::limits::HOLDS_PER_PRINCIPAL_MAX as usize,
        per_connection: HOLDS_PER_CONNECTION,
    });

    fn taken(backend: &Embedded) -> usize {
        usize::try_from(backend.machine::<Self>().totals().holds).unwrap_or(usize::MAX)
    }

    fn opened(outcome: &Self::Outcome) -> Option<Reference> {
        match outcome {
            Outcome::Done(turnstile_rooms::Done::Held { reference, .. }) => Some(*reference),
            _ => None,
        }
    }

    fn is_open(backend: &Embedded, now: Timestamp, reference: Reference) -> bool {
        let query = turnstile_rooms::Query::LookUp { reference };
        match backend.query::<Self>(now, &Principal::local(), &query) {
            turnstile_rooms::Answer::Entry(entry) => {
                matches!(entry.state, EntryState::Held { .. })
            }
            _ => false,
        }
    }
}

/// Open orders are bounded for each account.
impl Registered for Exchange {
    operations!(exchange: Exchange);
    outcomes!(exchange);

    const IS_KEPT_WHILE_FOLLOWED: bool = true;

    type Opened = ();

    fn take_events(
        backend: &mut Embedded,
        is_wanted: bool,
        events: &mut Vec<Self::Event>,
    ) -> Option<Position> {
        let mut unwanted = None;
        backend.drain_events::<Self>(&mut |event| {
            if is_wanted {
                events.push(event);
            } else {
                unwanted = Some(event.position);
            }
        });
        unwanted
    }

    /// Each symbol has a channel.
    fn channel(event: &Self::Event) -> Cow<'static, str> {
        Cow::Owned(turnstile_resp::exchange::channel(event.symbol))
    }
}

pub(crate) const TRANSACTIONS: Table = Table {
    name: "transactions",
    most: turnstile_travel::limits::TRANSACTIONS_MAX,
    per_connection: TRANSACTIONS_PER_CONNECTION,
};

impl Registered for Travel {
    operations!(travel: Travel);

    const ANSWERS_LATE: bool = true;

    const OUTCOMES: &'static [&'static str] = {
        use turnstile_travel::Refusal;
        const ALL: [&str; 2 + Refusal::WORDS.len()] =
            joined("", &[&["done", "waiting"], Refusal::WORDS]);
        &ALL
    };

    type Opened = Xid;
    const TABLE: Option<Table> = Some(TRANSACTIONS);

    fn outcome_place(outcome: &turnstile_travel::Outcome) -> usize {
        match outcome {
            turnstile_travel::Outcome::Done(_) => 0,
            turnstile_travel::Outcome::Waiting { .. } => 1,
            turnstile_travel::Outcome::Refused(refusal) => 2 + refusal.place(),
        }
    }

    fn late_ticket(outcome: &turnstile_travel::Outcome) -> Option<Position> {
        match outcome {
            turnstile_travel::Outcome::Waiting { ticket } => Some(*ticket),
            turnstile_travel::Outcome::Done(_) | turnstile_travel::Outcome::Refused(_) => None,
        }
    }

    /// A late answer may be long, and is for the one who asked.
    fn is_told(event: &Self::Event) -> bool {
        !matches!(event.kind, turnstile_travel::EventKind::Answered { .. })
    }

    fn commits(outcome: &turnstile_travel::Outcome) -> bool {
        matches!(
            outcome,
            turnstile_travel::Outcome::Done(turnstile_travel::Done::Committed)
        )
    }

    fn taken(backend: &Embedded) -> usize {
        backend.machine::<Self>().open_transactions()
    }

    fn opened(outcome: &Self::Outcome) -> Option<Xid> {
        match outcome {
            turnstile_travel::Outcome::Done(turnstile_travel::Done::Started { xid }) => Some(*xid),
            _ => None,
        }
    }

    fn is_open(backend: &Embedded, _now: Timestamp, xid: Xid) -> bool {
        backend.machine::<Self>().is_open(xid)
    }
}

impl Registered for Games {
    operations!(games: Games);
    outcomes!(games);

    const IS_KEPT_WHILE_FOLLOWED: bool = true;

    type Opened = MatchId;
    const TABLE: Option<Table> = Some(Table {
        name: "matches",
        most: turnstile_games::limits::OPEN_MATCHES_MAX as usize,
        per_connection: MATCHES_PER_CONNECTION,
    });

    /// What nobody wants is not even noted, from the next record on.
    fn take_events(
        backend: &mut Embedded,
        is_wanted: bool,
        events: &mut Vec<Self::Event>,
    ) -> Option<Position> {
        let unwanted = backend.drain_games_events(&mut |event| events.push(event));
        backend.want_games_events(is_wanted);
        unwanted
    }

    fn taken(backend: &Embedded) -> usize {
        backend.machine::<Self>().totals().open as usize
    }

    fn opened(outcome: &Self::Outcome) -> Option<MatchId> {
        match outcome {
            Outcome::Done(turnstile_games::Done::Begun(begun)) => Some(begun.id),
            _ => None,
        }
    }

    fn is_open(backend: &Embedded, now: Timestamp, match_id: MatchId) -> bool {
        let query = turnstile_games::Query::Match { match_id };
        match backend.query::<Self>(now, &Principal::local(), &query) {
            turnstile_games::Answer::Match(view) => view.ending.is_none(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use turnstile_chassis::Operations;
    use turnstile_games::{Illegal, PlayerId, Refusal};
    use turnstile_resp::catalogue;
    use turnstile_types::Machine;

    use super::*;

    fn is_counted_under<M: Registered>(outcome: &M::Outcome, word: &str) {
        let place = M::outcome_place(outcome);
        assert_eq!(M::OUTCOMES.get(place).copied(), Some(word));
    }

    #[test]
    fn what_is_counted_has_its_own_word() {
        let player = PlayerId::parse(b"ada").unwrap();
        let resign = turnstile_games::Command::Act {
            match_id: MatchId(1),
            player,
            deed: turnstile_games::Deed::Resign,
        };
        let totals = turnstile_games::Query::Totals;
        let places = [Games::command_place(&resign), Games::query_place(&totals)];
        assert_eq!(
            places.map(|place| Games::OPERATIONS[place]),
            ["resign", "get_totals"]
        );
        let taken = Refusal::IllegalMove(Illegal::Taken);
        is_counted_under::<Games>(&Outcome::Refused(taken), "taken");
        let busy = turnstile_travel::Refusal::Busy;
        is_counted_under::<Travel>(&turnstile_travel::Outcome::Refused(busy), "busy");
        let full = turnstile_exchange::Refusal::Full { limit: 1 };
        is_counted_under::<Exchange>(&Outcome::Refused(full), "full");
        let made = turnstile_rooms::Done::PropertyAdded;
        is_counted_under::<Rooms>(&Outcome::Done(made), "done");
    }

    #[test]
    fn no_word_of_a_service_is_counted_twice() {
        fn check<M: Registered>() {
            for words in [M::OPERATIONS, M::OUTCOMES] {
                let mut sorted = words.to_vec();
                sorted.sort_unstable();
                sorted.dedup();
                assert_eq!(sorted.len(), words.len(), "{words:?}");
            }
        }

        macro_rules! check_all {
            ($($name:ident: $machine:ident),+ $(,)?) => {
                $(check::<turnstile_services::$name::$machine>();)+
            };
        }
        turnstile_services::services!(check_all);
    }

    /// The words of a service's operations. Each is that of a counter.
    fn words<'a, M: Registered, C: Operations<'a>, Q: Operations<'a>>() -> Vec<&'static str> {
        let all = C::operations().into_iter().chain(Q::operations());
        let words: Vec<_> = all.map(|operation| operation.word).collect();
        for word in &words {
            assert!(M::OPERATIONS.contains(word), "nothing counts {word}");
        }
        words
    }

    #[test]
    fn an_operation_has_one_name_on_every_door() {
        macro_rules! words_of_all {
            ($($name:ident: $machine:ident),+ $(,)?) => {
                [$((
                    turnstile_services::$name::$machine::NAME,
                    words::<
                        turnstile_services::$name::$machine,
                        <turnstile_services::$name::$machine as Machine>::Command<'_>,
                        <turnstile_services::$name::$machine as Machine>::Query,
                    >(),
                )),+]
            };
        }
        let services = turnstile_services::services!(words_of_all);
        let mut expected = Vec::new();
        for (service, words) in services {
            expected.extend(words.into_iter().map(|word| {
                let by_call = format!("{service}.{word}");
                let by_resp = by_call.replace('_', "-");
                (by_call, by_resp)
            }));
        }
        let found = catalogue::operations();
        let mut found: Vec<_> = found
            .map(|syntax| (syntax.operation(), syntax.name.to_owned()))
            .collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
        for (by_call, _) in expected {
            let id = camel_case(&by_call);
            let mut operations = turnstile_http::operations().iter();
            assert!(operations.any(|one| one.id == id), "HTTP has no {id}");
        }
    }

    /// `exchangePlaceOrder` of `exchange.place_order`.
    fn camel_case(name: &str) -> String {
        let mut parts = name.split(['.', '_']);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (first, rest) = part.split_at(1);
            text.push_str(&first.to_ascii_uppercase());
            text.push_str(rest);
        }
        text
    }
}
