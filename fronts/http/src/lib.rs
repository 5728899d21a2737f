//! The HTTP door without its sockets: strict framing, JSON shapes, problem details and OpenAPI.
//!
//! Everything that knows how the services look in HTTP is here, and nothing that reads or writes a
//! socket. Invariant: the machines' types name their fields and no encoding; what they look like in JSON
//! follows here, and each class of refusals has one status, in [`Refusal`].

#![forbid(unsafe_code)]

mod accept;
mod answer;
mod body;
mod conditional;
mod cursor;
mod event;
pub mod exchange;
mod framing;
pub mod games;
mod glossary;
mod key;
pub mod message;
mod openapi;
mod operation;
mod page;
mod problem;
mod query;
mod refusal;
mod request;
mod rooms;
mod schema;
pub mod travel;

pub use accept::acceptance;
pub use answer::Told;
pub use body::parse_body;
pub use conditional::{ETag, Matches, etag_of, matches_any};
pub use cursor::{InvalidCursor, cursor_text, parse_cursor};
pub use event::{EventId, InvalidEventId, put_event, put_lagged, put_reset};
pub use framing::{Framing, Scanner, Violation};
pub use key::{InvalidKeyHeader, parse_key};
pub use openapi::openapi;
pub use operation::{Method, Operation, Success, operation_at, operations};
pub use page::{PAGE_STYLE, docs_page};
pub use problem::{Code, FieldError, Place, Problem};
pub use query::Parameters;
pub use refusal::Refusal;
pub use request::{
    Cancellation, Confirmation, Extension, GuestSearch, NewBooking, NewHold, NewProperty, NewRoom,
    Sealing, property_and_room,
};
pub use rooms::{tell_answer, tell_outcome};
