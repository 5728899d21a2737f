//! The HTTP door without its sockets: strict framing, JSON shapes, problem details and OpenAPI.
//!
//! Everything that knows how the services look in HTTP is here, and nothing that reads or writes a
//! socket. Invariant: the machines' types name their fields and no encoding; what they look like in JSON
//! follows here, and each class of refusals has one status, in [`Refusal`].

#![forbid(unsafe_code)]

mod accept;
mod access;
mod answer;
mod audit;
mod backup;
mod cluster;
mod code;
mod conditional;
mod cursor;
mod event;
pub mod exchange;
mod framing;
pub mod games;
mod given;
mod glossary;
mod key;
mod lab;
pub mod message;
mod openapi;
mod operation;
mod page;
mod problem;
mod recount;
mod refusal;
mod reload;
#[cfg(test)]
mod rights_page;
mod rooms;
mod schema;
mod seats;
mod security;
mod served;
mod sessions;
mod table;
pub mod travel;

pub use accept::acceptance;
pub use answer::Told;
pub use audit::{AuditRequest, read_audit};
pub use backup::{PiecesRequest, SnapshotRequest, read_pieces, read_snapshot};
pub use code::Code;
pub use conditional::{ETag, TagMatch, etag_of_number, matches_any};
pub use event::{
    EventId, EventIds, FeedEvent, InvalidEventId, STOPPING, put_event, put_event_in, put_lagged,
    put_lagged_in, put_reset, put_reset_in, read_since, read_since_in_partition,
};
pub use framing::{Framing, FramingViolation, Scanner};
pub use given::{Given, Reader};
pub use key::{InvalidKeyHeader, parse_key};
pub use lab::{
    LabKind, LabOffer, LabOrder, LabRunList, LabRunView, LabSecond, LabSeconds, LabState,
    read_lab_order, read_lab_progress, read_lab_run,
};
pub use openapi::openapi;
pub use operation::{Answerer, Audience, Method, Operation, PlacedParameter, Service, Success};
pub use page::{PAGE_SCRIPT, PAGE_STYLE, docs_page};
pub use problem::{FieldError, Place, Problem};
pub use recount::{CountedResult, PlayerRecount, PlayerResult, read_recount};
pub use refusal::Refusal;
pub use reload::ReloadDone;
pub use security::{SecurityEvent, SecurityEventKind};
pub use served::{Served, tell_answer, tell_outcome};
pub use sessions::{NewTicket, OwnSession, SESSION_COOKIE, SessionList, SessionOver, SessionView};
pub use table::{operation_at, operations};
