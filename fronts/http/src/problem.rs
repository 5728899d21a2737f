//! Problem details (RFC 9457): the one form of every answer that is not a success.

use std::{borrow::Cow, fmt};

use serde::{Serialize, Serializer, ser::SerializeMap};
use turnstile_types::Position;
use utoipa::ToSchema;

use crate::{code::Code, framing::FramingViolation, glossary};

/// Where a wrong field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Body,
    Query,
    Path,
    Header,
}

/// Wrong fields that are told at once: the answer to a small request stays small.
pub(crate) const FAULTS_MAX: usize = 32;

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

    /// A request with wrong fields. The first [`FAULTS_MAX`] are told.
    #[must_use]
    pub fn invalid(mut errors: Vec<FieldError>) -> Self {
        let has_more = errors.len() > FAULTS_MAX;
        errors.truncate(FAULTS_MAX);
        let all = || {
            let fields: Vec<&str> = errors.iter().map(|error| &*error.field).collect();
            fields.join(", ")
        };
        let detail = match errors.as_slice() {
            [only] => format!("{}: {}", only.field, only.message),
            several if several.iter().all(|error| error.message == "missing") => {
                format!("missing: {}", all())
            }
            several => {
                let more_than = if has_more { "more than " } else { "" };
                format!("{more_than}{} fields are wrong: {}", several.len(), all())
            }
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

impl From<FramingViolation> for Problem {
    fn from(violation: FramingViolation) -> Self {
        let code = match violation {
            FramingViolation::LineEnd
            | FramingViolation::FoldedField
            | FramingViolation::FieldName
            | FramingViolation::Length
            | FramingViolation::TwoFramings
            | FramingViolation::TransferCoding
            | FramingViolation::Chunk
            | FramingViolation::RequestLine => Code::MalformedHead,
            FramingViolation::HeadTooLarge => Code::HeadTooLarge,
            FramingViolation::BodyTooLarge => Code::BodyTooLarge,
        };
        Self::with(code, violation_detail(violation))
    }
}

const fn violation_detail(violation: FramingViolation) -> &'static str {
    match violation {
        FramingViolation::LineEnd => {
            "a header line ends in CR LF, and holds no other CR and no NUL"
        }
        FramingViolation::FoldedField => "a header line does not begin with space",
        FramingViolation::FieldName => {
            "a header line is a name, a colon right after it, and a value"
        }
        FramingViolation::Length => "a request has one Content-Length, of plain digits",
        FramingViolation::TwoFramings => {
            "a request has no Content-Length and Transfer-Encoding at once"
        }
        FramingViolation::TransferCoding => "the transfer coding is not known",
        FramingViolation::Chunk => {
            "a chunk is its length in 1 to 8 hexadecimal digits alone, its bytes, and no trailers"
        }
        FramingViolation::RequestLine => "a request line is METHOD target HTTP/1.1",
        FramingViolation::HeadTooLarge => "a head has at most 16 KiB and 100 fields",
        FramingViolation::BodyTooLarge => "a body has at most 64 KiB",
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

/// The members that every problem has, also where there is no request.
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
        if let Code::InLine {
            place: Some((place, seconds)),
            ..
        } = self.code
        {
            map.serialize_entry("place", &place)?;
            map.serialize_entry("wait_seconds", &seconds)?;
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
