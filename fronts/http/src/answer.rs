//! What operations answer when they succeed: the JSON of outcomes and answers.

use std::fmt::Display;

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use turnstile_chassis::Fields;
use turnstile_json::{Object, put_fields, text_field};
use turnstile_types::{Outcome, Position};
use utoipa::ToSchema;

use crate::{code::Code, conditional::ETag, problem::Problem};

/// An answer, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// 201 for something new, else 200; a remembered answer is 200.
    pub status: u16,
    pub json: Vec<u8>,
    /// The path of what was made.
    pub location: Option<String>,
    /// The version of what was asked for.
    pub etag: Option<ETag>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// Any of the domain's words, as a JSON text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsText<T>(pub(crate) T);

impl<T: Display> Serialize for AsText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// What was done, where there is no more to tell.
#[derive(Clone, Copy, Debug, Serialize, ToSchema, Fields)]
pub(crate) struct Receipt {
    /// The position of the record in the journal.
    pub(crate) position: u64,
    /// Present and true when this is the remembered first answer to the idempotency key.
    #[serde(skip_serializing_if = "is_false")]
    #[field(with = when_true)]
    pub(crate) replayed: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes the field by reference"
)]
pub(crate) const fn is_false(value: &bool) -> bool {
    !*value
}

/// A mark is there or not.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "fields are handed over by reference"
)]
pub(crate) fn when_true(mark: &bool) -> Option<bool> {
    mark.then_some(true)
}

/// What was done, and its receipt.
struct WithReceipt<'a, D> {
    done: &'a D,
    receipt: Receipt,
}

impl<D: Fields> Serialize for WithReceipt<'_, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        put_fields(self.done, &mut map)?;
        put_fields(&self.receipt, &mut map)?;
        map.end()
    }
}

impl Told {
    pub(crate) fn of<T: Serialize>(status: u16, value: &T) -> Self {
        Self {
            status,
            json: serde_json::to_vec(value).expect("a view is maps, lists, texts and numbers"),
            location: None,
            etag: None,
            next: None,
        }
    }

    /// What a query found, with the cursor of the next page.
    pub(crate) fn answer(answer: &impl Fields) -> Self {
        Self {
            next: text_field(answer, "next"),
            ..Self::of(200, &Object(answer))
        }
    }

    pub(crate) fn done(done: &impl Fields, receipt: Receipt) -> Self {
        Self::of(200, &WithReceipt { done, receipt })
    }
}

/// What was done, with its receipt.
///
/// # Errors
/// The problem of a refusal.
pub(crate) fn decided<D, R: Clone>(
    position: Position,
    replayed: bool,
    outcome: &Outcome<D, R>,
) -> Result<(&D, Receipt), Problem>
where
    Code: From<R>,
{
    match outcome {
        Outcome::Done(done) => Ok((
            done,
            Receipt {
                position: position.0,
                replayed,
            },
        )),
        Outcome::Refused(refusal) => Err(Problem {
            position: Some(position),
            replayed,
            ..Problem::from(Code::from(refusal.clone()))
        }),
    }
}
