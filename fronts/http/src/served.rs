//! What HTTP asks of a service: commands and queries from what a request gives, answers for what came
//! of them.

use turnstile_chassis::Fields;
use turnstile_json::found_text;
use turnstile_rooms::Door;
use turnstile_types::{Machine, Position};

use crate::{
    answer::Told,
    conditional::{etag_of_bytes, etag_of_number},
    given::Given,
    operation::{Operation, Success},
    problem::Problem,
};

/// A machine that HTTP serves.
pub trait Served: Machine<Query: Copy> {
    /// What must be known of a command when it is answered, because its outcome does not say so again.
    type About: Copy + Send + 'static;
    /// What was done.
    type Done: Fields;

    /// The command at this place of its declaration.
    ///
    /// # Errors
    /// Everything that is wrong with the values.
    fn read_command<'a>(
        place: usize,
        given: &'a Given<'a>,
        door: Door<'_>,
    ) -> Result<Self::Command<'a>, Problem>;

    /// The query at this place of its declaration.
    ///
    /// # Errors
    /// Everything that is wrong with the values.
    fn read_query<'a>(
        place: usize,
        given: &'a Given<'a>,
        door: Door<'_>,
    ) -> Result<Self::Query, Problem>;

    fn about(command: &Self::Command<'_>) -> Self::About;

    /// Tells a command's outcome.
    ///
    /// # Errors
    /// The problem of a refusal.
    fn tell_outcome(
        about: Self::About,
        position: Position,
        replayed: bool,
        outcome: &Self::Outcome,
    ) -> Result<Told, Problem>;

    /// Tells the answer to a query.
    ///
    /// # Errors
    /// The problem of a refusal, or that what was asked for is not there.
    fn tell_answer(query: &Self::Query, answer: &Self::Answer) -> Result<Told, Problem>;

    /// The version of what was asked for, where its changes are counted.
    fn version(_answer: &Self::Answer) -> Option<u64> {
        None
    }

    fn done(outcome: &Self::Outcome) -> Option<&Self::Done>;

    /// Whether what an operation makes was made now.
    fn is_new(_done: &Self::Done) -> bool {
        true
    }
}

/// Tells a command's outcome as its operation does: with the path of what was made.
///
/// # Errors
/// The problem of a refusal.
pub fn tell_outcome<M: Served>(
    operation: &Operation,
    about: M::About,
    (position, replayed): (Position, bool),
    outcome: &M::Outcome,
) -> Result<Told, Problem> {
    let mut told = M::tell_outcome(about, position, replayed, outcome)?;
    if let (Success::Made { at, .. }, Some(done)) = (operation.success, M::done(outcome)) {
        if !replayed && M::is_new(done) {
            told.status = 201;
        }
        told.location = location(operation, at, done);
    }
    Ok(told)
}

/// Tells the answer to a query as its operation does: with an entity tag where it has one.
///
/// # Errors
/// The problem of a refusal, or that what was asked for is not there.
pub fn tell_answer<M: Served>(
    operation: &Operation,
    query: &M::Query,
    answer: &M::Answer,
) -> Result<Told, Problem> {
    let mut told = M::tell_answer(query, answer)?;
    if operation.is_versioned {
        let counted = M::version(answer).map(etag_of_number);
        told.etag = Some(counted.unwrap_or_else(|| etag_of_bytes(&told.json)));
    }
    Ok(told)
}

/// Serves a machine by what it declares. What its door needs of ours stands behind its name, then which
/// answers to queries are problems, then what is special to it.
macro_rules! serve {
    (
        $types:ident::$machine:ident, |$door:pat_param| $needed:expr,
        { $($absent:pat => $code:expr),+ $(,)? }
        $($own:tt)*
    ) => {
        pub(crate) fn schemas(schemas: $crate::schema::Schemas) -> $crate::schema::Schemas {
            schemas
                .done::<$types::Done>()
                .answers::<$types::Answer>()
                .event::<$types::Event>()
        }

        impl $crate::Served for $types::$machine {
            type About = ();
            type Done = $types::Done;

            $crate::served::reads!($types, |$door| $needed);

            fn about(_command: &Self::Command<'_>) {}

            fn tell_outcome(
                (): (),
                position: turnstile_types::Position,
                replayed: bool,
                outcome: &Self::Outcome,
            ) -> Result<$crate::Told, $crate::Problem> {
                let (done, receipt) = $crate::answer::decided(position, replayed, outcome)?;
                Ok($crate::Told::done(done, receipt))
            }

            fn tell_answer(
                _query: &Self::Query,
                answer: &Self::Answer,
            ) -> Result<$crate::Told, $crate::Problem> {
                match answer {
                    $($absent => Err($crate::Problem::from($code)),)+
                    answer => Ok($crate::Told::answer(answer)),
                }
            }

            fn done(outcome: &Self::Outcome) -> Option<&Self::Done> {
                outcome.done()
            }

            $($own)*
        }
    };
}

/// How the requests to a machine are read.
macro_rules! reads {
    ($types:ident, |$door:pat_param| $needed:expr) => {
        fn read_command<'a>(
            place: usize,
            given: &'a $crate::Given<'a>,
            $door: turnstile_rooms::Door<'_>,
        ) -> Result<Self::Command<'a>, $crate::Problem> {
            given.read(place, $needed)
        }

        fn read_query<'a>(
            place: usize,
            given: &'a $crate::Given<'a>,
            $door: turnstile_rooms::Door<'_>,
        ) -> Result<Self::Query, $crate::Problem> {
            given.read(place, $needed)
        }
    };
}

pub(crate) use {reads, serve};

/// The answer to a command that was sent to this path: status, location and JSON, or a problem.
#[cfg(test)]
pub(crate) fn answer_of<M: Served>(
    path: &str,
    about: M::About,
    replayed: bool,
    outcome: &M::Outcome,
) -> Result<(u16, Option<String>, String), Problem> {
    let operation = crate::operation_at("POST", path).expect(path);
    let told = tell_outcome::<M>(operation, about, (Position(9), replayed), outcome)?;
    let json = String::from_utf8(told.json).expect("JSON is UTF-8");
    Ok((told.status, told.location, json))
}

/// The first of some paths whose names an answer has.
fn location(operation: &Operation, paths: &[&'static str], done: &impl Fields) -> Option<String> {
    let service = operation.service()?.name();
    paths.iter().find_map(|path| {
        let (before, rest) = path.split_once('{')?;
        let (name, _) = rest.split_once('}')?;
        let value = found_text(done, name)?;
        Some(format!("/v1/{service}{before}{value}"))
    })
}
