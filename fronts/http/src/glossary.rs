//! What every word of a problem means, where the page of documentation explains it: a problem's `type`
//! leads there.

use turnstile_chassis::Refuse;

use crate::{problem::Code, refusal::status};

/// A word, the status that it comes with, and what it means.
type Meaning = (&'static str, u16, &'static str);

/// The codes that are no refusals of a service.
const PLAIN: [Code; 30] = [
    Code::InvalidRequest,
    Code::MalformedJson,
    Code::InvalidIdempotencyKey,
    Code::MalformedHead,
    Code::UnknownPath,
    Code::NoSuchPlayer,
    Code::MethodNotAllowed,
    Code::MisdirectedRequest,
    Code::RequestTimeout,
    Code::NotAcceptable,
    Code::PreconditionFailed,
    Code::ForeignOrigin,
    Code::UpgradeRequired,
    Code::SessionFull,
    Code::BodyTooLarge,
    Code::HeadTooLarge,
    Code::UnsupportedMediaType,
    Code::KeyReused,
    Code::AnswerForgotten,
    Code::Overloaded,
    Code::TooManyStreams,
    Code::TooManyConnections,
    Code::KeysFull { retry_after_s: 1 },
    Code::ReadOnly,
    Code::Recovering,
    Code::Unavailable,
    Code::CommandTooLarge,
    Code::Unsupported,
    Code::OutcomeUnknown,
    Code::BackendBroken,
];

/// What the refusals of a service mean, in the order of their words.
fn refusals<R: Refuse>() -> Vec<Meaning> {
    let meanings = R::meanings().into_iter();
    let mut meanings: Vec<Meaning> = meanings
        .map(|one| (one.code, status(one.class), one.sentence))
        .collect();
    meanings.sort_unstable();
    meanings
}

macro_rules! chapters {
    ($($name:ident: $types:ident::$machine:ident = $about:literal),+ $(,)?) => {
        /// Every word by the service that says it; the first ones are said by the door itself.
        pub(crate) fn chapters() -> Vec<(&'static str, Vec<Meaning>)> {
            vec![
                ("The door", PLAIN.iter().map(meaning).collect()),
                $((stringify!($machine), refusals::<$types::Refusal>())),+
            ]
        }
    };
}

crate::services!(chapters);

/// Whether the page explains this code.
pub(crate) fn explains(code: &Code) -> bool {
    let meaning = meaning(code);
    chapters().iter().any(|(_, words)| words.contains(&meaning))
}

fn meaning(code: &Code) -> Meaning {
    (code.word(), code.status(), code.title())
}
