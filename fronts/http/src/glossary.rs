//! What every word of a problem means, where the page of documentation explains it: a problem's `type`
//! leads there.

use turnstile_chassis::Refuse;

use crate::{code::Code, refusal::status};

/// A word, the status that it comes with, and what it means.
type WordMeaning = (&'static str, u16, &'static str);

/// What the refusals of a service mean, in the order of their words.
fn refusals<R: Refuse>() -> Vec<WordMeaning> {
    let meanings = R::meanings().into_iter();
    let mut meanings: Vec<WordMeaning> = meanings
        .map(|one| (one.code, status(one.class), one.sentence))
        .collect();
    meanings.sort_unstable();
    meanings
}

macro_rules! chapters {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// Every word by the service that says it; the first ones are said by the door itself.
        pub(crate) fn chapters() -> Vec<(&'static str, Vec<WordMeaning>)> {
            vec![
                ("The door", Code::PLAIN.iter().map(meaning).collect()),
                $((stringify!($machine), refusals::<turnstile_services::$name::Refusal>())),+
            ]
        }
    };
}

turnstile_services::services!(chapters);

/// Whether the page explains this code.
pub(crate) fn explains(code: &Code) -> bool {
    let meaning = meaning(code);
    chapters().iter().any(|(_, words)| words.contains(&meaning))
}

fn meaning(code: &Code) -> WordMeaning {
    (code.word(), code.status(), code.title())
}
