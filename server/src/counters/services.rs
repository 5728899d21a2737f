//! How requests to each service are counted: under the words of its commands, queries and refusals.

use turnstile_chassis::joined;
use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_rooms::Rooms;
use turnstile_travel::{Done, Travel};
use turnstile_types::{Outcome, Position};

use super::{Counted, Counters, MachineCounters};

/// What all services have in common: operations are commands and queries in the order of their
/// declaration, those of each service behind those of the one before.
macro_rules! operations {
    ($types:ident, $counters:ident, $first:expr) => {
        const OPERATIONS: &'static [&'static str] = {
            use $types::{Command, Query};
            const ALL: [&str; Command::WORDS.len() + Query::WORDS.len()] =
                joined(&[Command::WORDS, Query::WORDS]);
            &ALL
        };
        const FIRST_OPERATION: usize = $first;

        fn command_place(command: &Self::Command<'_>) -> usize {
            command.place()
        }

        fn query_place(query: &Self::Query) -> usize {
            $types::Command::WORDS.len() + query.place()
        }

        fn counters(all: &Counters) -> &MachineCounters {
            &all.$counters
        }
    };
}

/// Done, and each refusal by its word.
macro_rules! outcomes {
    ($types:ident) => {
        const OUTCOMES: &'static [&'static str] = {
            use $types::Refusal;
            const ALL: [&str; 1 + Refusal::WORDS.len()] = joined(&[&["done"], Refusal::WORDS]);
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

impl Counted for Rooms {
    operations!(turnstile_rooms, rooms, 0);
    outcomes!(turnstile_rooms);
}

impl Counted for Exchange {
    operations!(
        turnstile_exchange,
        exchange,
        Rooms::FIRST_OPERATION + Rooms::OPERATIONS.len()
    );
    outcomes!(turnstile_exchange);
}

impl Counted for Travel {
    operations!(
        turnstile_travel,
        travel,
        Exchange::FIRST_OPERATION + Exchange::OPERATIONS.len()
    );

    /// What was told to wait is counted again when it is answered.
    const OUTCOMES: &'static [&'static str] = {
        use turnstile_travel::Refusal;
        const ALL: [&str; 2 + Refusal::WORDS.len()] =
            joined(&[&["done", "waiting"], Refusal::WORDS]);
        &ALL
    };

    fn outcome_place(outcome: &turnstile_travel::Outcome) -> usize {
        use turnstile_travel::Outcome;
        match outcome {
            Outcome::Done(_) => 0,
            Outcome::Waiting { .. } => 1,
            Outcome::Refused(refusal) => 2 + refusal.place(),
        }
    }

    fn late_ticket(outcome: &turnstile_travel::Outcome) -> Option<Position> {
        use turnstile_travel::Outcome;
        match outcome {
            Outcome::Waiting { ticket } => Some(*ticket),
            Outcome::Done(_) | Outcome::Refused(_) => None,
        }
    }

    fn commits(outcome: &turnstile_travel::Outcome) -> bool {
        matches!(outcome, turnstile_travel::Outcome::Done(Done::Committed))
    }
}

impl Counted for Games {
    operations!(
        turnstile_games,
        games,
        Travel::FIRST_OPERATION + Travel::OPERATIONS.len()
    );
    outcomes!(turnstile_games);
}

#[cfg(test)]
mod tests {
    use turnstile_chassis::Operations;
    use turnstile_games::{Illegal, PlayerId, Refusal};
    use turnstile_resp::catalogue;

    use super::*;

    fn is_counted_under<M: Counted>(outcome: &M::Outcome, word: &str) {
        let place = M::outcome_place(outcome);
        assert_eq!(M::OUTCOMES.get(place).copied(), Some(word));
    }

    #[test]
    fn what_is_counted_has_its_own_word() {
        let player = PlayerId::parse(b"ada").unwrap();
        let resign = turnstile_games::Command::Act {
            match_id: turnstile_games::MatchId(1),
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
        fn check<M: Counted>() {
            for words in [M::OPERATIONS, M::OUTCOMES] {
                let mut sorted = words.to_vec();
                sorted.sort_unstable();
                sorted.dedup();
                assert_eq!(sorted.len(), words.len(), "{words:?}");
            }
        }

        check::<Rooms>();
        check::<Exchange>();
        check::<Travel>();
        check::<Games>();
    }

    /// The words of a service's operations. Each is that of a counter.
    fn words<'a, M: Counted, C: Operations<'a>, Q: Operations<'a>>() -> Vec<&'static str> {
        let all = C::operations().into_iter().chain(Q::operations());
        let words: Vec<_> = all.map(|operation| operation.word).collect();
        for word in &words {
            assert!(M::OPERATIONS.contains(word), "nothing counts {word}");
        }
        words
    }

    #[test]
    fn an_operation_has_one_name_on_every_door() {
        let services = [
            (
                "rooms",
                words::<Rooms, turnstile_rooms::Command<'_>, turnstile_rooms::Query>(),
            ),
            (
                "exchange",
                words::<Exchange, turnstile_exchange::Command, turnstile_exchange::Query>(),
            ),
            (
                "games",
                words::<Games, turnstile_games::Command, turnstile_games::Query>(),
            ),
            (
                "travel",
                words::<Travel, turnstile_travel::Command, turnstile_travel::Query>(),
            ),
        ];
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
