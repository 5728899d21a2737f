//! Problem details (RFC 9457): the one form of every answer that is not a success.

use std::{borrow::Cow, fmt};

use serde::{Serialize, Serializer, ser::SerializeMap};
use turnstile_types::Position;
use utoipa::ToSchema;

use crate::{framing::Violation, glossary, refusal::Refusal};

/// Why a request was not done: each has one status, one word and one title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// A service's "no", durable and repeatable, with its data.
    Refused(Box<Refusal>),
    /// Fields of the body or parameters of the URL are wrong.
    InvalidRequest,
    /// The body is no JSON of the operation's shape.
    MalformedJson,
    InvalidIdempotencyKey,
    /// The bytes are no request that can be read in one way only.
    MalformedHead,
    UnknownPath,
    /// Nothing is known of the player.
    NoSuchPlayer,
    MethodNotAllowed,
    /// The `Host` is not a name of this server.
    MisdirectedRequest,
    RequestTimeout,
    /// The client accepts no form in which this is answered.
    NotAcceptable,
    PreconditionFailed,
    /// A page of another origin asked for a change, a stream or a socket.
    ForeignOrigin,
    /// The path speaks WebSocket only.
    UpgradeRequired,
    /// The session has as many open orders as it can cancel when it ends.
    SessionFull,
    BodyTooLarge,
    HeadTooLarge,
    UnsupportedMediaType,
    /// The idempotency key came before, with other content.
    KeyReused,
    /// The command with this idempotency key had to wait, and what was answered later is not kept
    /// any more.
    AnswerForgotten,
    /// More work waits than the server takes on.
    Overloaded,
    TooManyStreams,
    TooManyConnections,
    /// There is no room for another idempotency key until the oldest is forgotten, in so many seconds.
    KeysFull {
        retry_after_s: u32,
    },
    /// The disk is full: reads work.
    ReadOnly,
    /// The journal is being recovered: nothing is known yet.
    Recovering,
    /// A write failed, or the server is stopping.
    Unavailable,
    /// The command does not fit a record.
    CommandTooLarge,
    /// The database behind this service does not offer it.
    Unsupported,
    /// The database behind this service was lost on the way: the command was done or not.
    OutcomeUnknown,
    /// The database behind this service answered what it never should.
    BackendBroken,
}

impl Code {
    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Refused(refusal) => refusal.status(),
            Self::InvalidRequest
            | Self::MalformedJson
            | Self::InvalidIdempotencyKey
            | Self::MalformedHead => 400,
            Self::ForeignOrigin => 403,
            Self::UnknownPath | Self::NoSuchPlayer => 404,
            Self::MethodNotAllowed => 405,
            Self::RequestTimeout => 408,
            Self::SessionFull => 409,
            Self::NotAcceptable => 406,
            Self::AnswerForgotten => 410,
            Self::PreconditionFailed => 412,
            Self::BodyTooLarge | Self::CommandTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::MisdirectedRequest => 421,
            Self::KeyReused => 422,
            Self::UpgradeRequired => 426,
            Self::HeadTooLarge => 431,
            Self::Overloaded
            | Self::TooManyStreams
            | Self::TooManyConnections
            | Self::KeysFull { .. }
            | Self::ReadOnly
            | Self::Recovering
            | Self::Unavailable => 503,
            Self::Unsupported => 501,
            Self::BackendBroken => 502,
            Self::OutcomeUnknown => 504,
        }
    }

    /// The stable word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.word(),
            Self::InvalidRequest => "invalid_request",
            Self::MalformedJson => "malformed_json",
            Self::InvalidIdempotencyKey => "invalid_idempotency_key",
            Self::MalformedHead => "malformed_head",
            Self::UnknownPath => "unknown_path",
            Self::NoSuchPlayer => "no_such_player",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::MisdirectedRequest => "misdirected_request",
            Self::RequestTimeout => "request_timeout",
            Self::NotAcceptable => "not_acceptable",
            Self::PreconditionFailed => "precondition_failed",
            Self::ForeignOrigin => "foreign_origin",
            Self::UpgradeRequired => "upgrade_required",
            Self::SessionFull => "session_full",
            Self::BodyTooLarge => "body_too_large",
            Self::HeadTooLarge => "head_too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::KeyReused => "idempotency_key_reused",
            Self::AnswerForgotten => "answer_forgotten",
            Self::Overloaded => "overloaded",
            Self::TooManyStreams => "too_many_streams",
            Self::TooManyConnections => "too_many_connections",
            Self::KeysFull { .. } => "keys_full",
            Self::ReadOnly => "read_only",
            Self::Recovering => "recovering",
            Self::Unavailable => "unavailable",
            Self::CommandTooLarge => "command_too_large",
            Self::Unsupported => "unsupported",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::BackendBroken => "backend_broken",
        }
    }

    /// One short sentence without data, the same for every occurrence.
    #[must_use]
    pub fn title(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.title(),
            Self::InvalidRequest => "Fields of the request are wrong",
            Self::MalformedJson => "The body is not the JSON that this operation takes",
            Self::InvalidIdempotencyKey => "The Idempotency-Key is none",
            Self::MalformedHead => "The request cannot be read in one way only",
            Self::UnknownPath => "There is nothing at this path",
            Self::NoSuchPlayer => "Nothing is known of the player",
            Self::MethodNotAllowed => "This path does not take this method",
            Self::MisdirectedRequest => "The Host is not this server",
            Self::RequestTimeout => "The request did not arrive in time",
            Self::NotAcceptable => "The Accept header names nothing that this path answers",
            Self::PreconditionFailed => "The thing has changed",
            Self::ForeignOrigin => "Pages of other origins are not served",
            Self::UpgradeRequired => "This path speaks WebSocket, version 13",
            Self::SessionFull => "The session has as many open orders as it can cancel at its end",
            Self::BodyTooLarge => "The body is too large",
            Self::HeadTooLarge => "The head of the request is too large",
            Self::UnsupportedMediaType => "The body must be application/json",
            Self::KeyReused => "The Idempotency-Key came before with other content",
            Self::AnswerForgotten => {
                "What was answered to this Idempotency-Key is not kept any more"
            }
            Self::Overloaded => "More work waits than the server takes on",
            Self::TooManyStreams => "Too many event streams are open",
            Self::TooManyConnections => "Too many connections are open",
            Self::KeysFull { .. } => "The memory for idempotency keys is full",
            Self::ReadOnly => "The disk is full: reads are answered, changes are not",
            Self::Recovering => "The server recovers its journal",
            Self::Unavailable => "The server cannot answer now",
            Self::CommandTooLarge => "The command does not fit a record",
            Self::Unsupported => "The database behind this service does not offer it",
            Self::OutcomeUnknown => {
                "The command was done or not: ask again under its Idempotency-Key"
            }
            Self::BackendBroken => "The database behind this service answered what it never should",
        }
    }

    /// Whether the same request, sent again later, may be answered otherwise. A refusal is final
    /// for its idempotency key; without one it may of course be tried again. A transaction of travel
    /// that was aborted for no fault of its own may be begun anew.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.is_passing(),
            _ => matches!(
                self,
                Self::Overloaded
                    | Self::TooManyStreams
                    | Self::TooManyConnections
                    | Self::KeysFull { .. }
                    | Self::ReadOnly
                    | Self::Recovering
                    | Self::Unavailable
                    | Self::RequestTimeout
            ),
        }
    }

    /// Seconds for `Retry-After`, where waiting helps.
    #[must_use]
    pub fn retry_after(&self) -> Option<u32> {
        match self.status() {
            503 => Some(match self {
                Self::KeysFull { retry_after_s } => *retry_after_s,
                Self::ReadOnly | Self::Unavailable => 10,
                _ => 1,
            }),
            _ => None,
        }
    }
}

/// Where a wrong field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Body,
    Query,
    Path,
    Header,
}

/// One wrong field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    #[serde(rename = "in")]
    pub place: Place,
    pub field: String,
    pub message: String,
}

/// One answer that is not a success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub code: Code,
    /// What happened this time; empty where the title says it all.
    pub detail: Cow<'static, str>,
    pub errors: Box<[FieldError]>,
    /// The position of a refusal, which is a record like any other.
    pub position: Option<Position>,
    /// Whether this is the remembered first answer to an idempotency key.
    pub replayed: bool,
}

impl From<Code> for Problem {
    fn from(code: Code) -> Self {
        Self {
            code,
            detail: Cow::Borrowed(""),
            errors: Box::default(),
            position: None,
            replayed: false,
        }
    }
}

impl Problem {
    /// A problem with a sentence about this occurrence.
    #[must_use]
    pub fn with(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            detail: detail.into(),
            ..Self::from(code)
        }
    }

    /// A request with wrong fields.
    #[must_use]
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let all = || {
            let fields: Vec<&str> = errors.iter().map(|error| &*error.field).collect();
            fields.join(", ")
        };
        let detail = match errors.as_slice() {
            [only] => format!("{}: {}", only.field, only.message),
            several if several.iter().all(|error| error.message == "missing") => {
                format!("missing: {}", all())
            }
            _ => format!("{} fields are wrong: {}", errors.len(), all()),
        };
        Self {
            errors: errors.into(),
            ..Self::with(Code::InvalidRequest, detail)
        }
    }

    /// The `application/problem+json` bytes; `instance` is the path that was asked, or empty where none
    /// was read: then the whole server stands for it, as `/`.
    #[must_use]
    pub fn json(&self, instance: &str, request_id: &str) -> Vec<u8> {
        // In tests only: a server also answers what its page forgot.
        debug_assert!(
            glossary::explains(&self.code),
            "the glossary has no {:?}",
            self.code
        );
        let document = Document {
            problem: self,
            instance: if instance.is_empty() { "/" } else { instance },
            request_id,
        };
        serde_json::to_vec(&document).expect("a problem is maps, lists, texts and numbers")
    }
}

impl From<Violation> for Problem {
    fn from(violation: Violation) -> Self {
        let code = match violation {
            Violation::LineEnd
            | Violation::FoldedField
            | Violation::FieldName
            | Violation::Length
            | Violation::TwoFramings
            | Violation::TransferCoding
            | Violation::Chunk
            | Violation::RequestLine => Code::MalformedHead,
            Violation::HeadTooLarge => Code::HeadTooLarge,
            Violation::BodyTooLarge => Code::BodyTooLarge,
        };
        Self::with(code, violation_detail(violation))
    }
}

const fn violation_detail(violation: Violation) -> &'static str {
    match violation {
        Violation::LineEnd => "a header line ends in CR LF, and holds no other CR and no NUL",
        Violation::FoldedField => "a header line does not begin with space",
        Violation::FieldName => "a header line is a name, a colon right after it, and a value",
        Violation::Length => "a request has one Content-Length, of plain digits",
        Violation::TwoFramings => "a request has no Content-Length and Transfer-Encoding at once",
        Violation::TransferCoding => "the transfer coding is not known",
        Violation::Chunk => {
            "a chunk is its length in 1 to 8 hexadecimal digits alone, its bytes, and no trailers"
        }
        Violation::RequestLine => "a request line is METHOD target HTTP/1.1",
        Violation::HeadTooLarge => "a head has at most 16 KiB and 100 fields",
        Violation::BodyTooLarge => "a body has at most 64 KiB",
    }
}

struct Document<'a> {
    problem: &'a Problem,
    instance: &'a str,
    request_id: &'a str,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let problem = self.problem;
        let mut map = serializer.serialize_map(None)?;
        problem.put_kind(&mut map)?;
        map.serialize_entry("instance", self.instance)?;
        problem.put_code(&mut map)?;
        map.serialize_entry("request_id", self.request_id)?;
        problem.put_data(&mut map)?;
        map.end()
    }
}

/// The members that a problem has wherever it is told, also where there is no request.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.put_kind(&mut map)?;
        self.put_code(&mut map)?;
        self.put_data(&mut map)?;
        map.end()
    }
}

impl Problem {
    fn put_kind<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let code = &self.code;
        map.serialize_entry("type", &format_args!("/docs#{}", code.word()))?;
        map.serialize_entry("title", code.title())?;
        map.serialize_entry("status", &code.status())?;
        if !self.detail.is_empty() {
            map.serialize_entry("detail", &self.detail)?;
        }
        Ok(())
    }

    fn put_code<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("code", self.code.word())?;
        map.serialize_entry("retryable", &self.code.retryable())
    }

    fn put_data<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if !self.errors.is_empty() {
            map.serialize_entry("errors", &self.errors)?;
        }
        if let Code::Refused(refusal) = &self.code {
            refusal.put_data(map)?;
        }
        if let Some(position) = self.position {
            map.serialize_entry("position", &position.0)?;
        }
        if self.replayed {
            map.serialize_entry("replayed", &true)?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.title(), self.detail)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use turnstile_rooms::{Nights, Refusal as Refused};
    use turnstile_types::Night;

    use super::*;

    fn json_of(problem: &Problem) -> String {
        String::from_utf8(problem.json("/v1/rooms/x", "r-1")).unwrap()
    }

    #[test]
    fn a_problem_has_every_member_and_the_refusals_data() {
        let nights = Nights {
            first: Night::parse(b"2027-01-01").unwrap(),
            bits: 0b101,
        };
        let problem = Problem {
            position: Some(Position(9)),
            replayed: true,
            ..Problem::from(Code::from(Refused::SoldOut { nights }))
        };
        assert_eq!(
            json_of(&problem),
            r#"{"type":"/docs#sold_out","title":"No room is free for all of these nights","status":409,"instance":"/v1/rooms/x","code":"sold_out","retryable":false,"request_id":"r-1","nights":["2027-01-01","2027-01-03"],"position":9,"replayed":true}"#
        );
        let problem = Problem::invalid(vec![FieldError {
            place: Place::Body,
            field: "arrival".into(),
            message: "a date".into(),
        }]);
        assert_eq!(
            json_of(&problem),
            r#"{"type":"/docs#invalid_request","title":"Fields of the request are wrong","status":400,"detail":"arrival: a date","instance":"/v1/rooms/x","code":"invalid_request","retryable":false,"request_id":"r-1","errors":[{"in":"body","field":"arrival","message":"a date"}]}"#
        );
    }
}
