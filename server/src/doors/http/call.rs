//! One request, read whole.

use std::{borrow::Cow, pin::pin};

use axum::http::{HeaderMap, HeaderName, Request, header, request::Parts};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use turnstile_http::{
    Answerer, Code, FieldError, Given, Method, Operation, Place, Problem, parse_key,
};
use turnstile_rooms as rooms;

use super::{Door, access::HttpRequester, reply::RaisedProblem};

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The values that stand in a path, by their names.
pub(super) type PathValues = Vec<(String, String)>;

/// A request with its whole body; the framing has limited it to 64 KiB.
#[derive(Debug)]
pub(super) struct HttpCall {
    pub(super) operation: &'static Operation,
    pub(super) parts: Parts,
    /// Who has sent it.
    pub(super) visitor: HttpRequester,
    path: PathValues,
    body: Bytes,
    /// The parameters of its operation, where the query string has another one.
    plain_query: Option<String>,
    /// Whether a node may answer from a state that others are ahead of.
    pub(super) may_be_stale: bool,
}

/// The parameter of all queries, and its values.
const CONSISTENCY: &str = "consistency=";
const STALE: &str = "stale";
const LINEARIZABLE: &str = "linearizable";

impl HttpCall {
    /// Reads the body of a request to its end.
    ///
    /// # Errors
    /// The client ended it before.
    pub(super) async fn read<B>(
        operation: &'static Operation,
        path: PathValues,
        (request, visitor): (Request<B>, HttpRequester),
    ) -> Result<Self, RaisedProblem>
    where
        B: hyper::body::Body<Data = Bytes>,
    {
        let (parts, body) = request.into_parts();
        // Reading requests have none.
        let body = if body.is_end_stream() {
            Bytes::new()
        } else {
            let broken = |_broken| Problem::with(Code::RequestTimeout, "the body broke off");
            whole(body).await.map_err(broken)?
        };
        let query = parts.uri.query().unwrap_or_default();
        let is_query = matches!(operation.answerer, Answerer::Query(..));
        let (mut plain_query, mut may_be_stale) = (None, false);
        if is_query && query.contains(CONSISTENCY) {
            let (plain, consistency) = without_consistency(query);
            may_be_stale = is_stale(&consistency)?;
            plain_query = Some(plain);
        }
        Ok(Self {
            operation,
            parts,
            visitor,
            path,
            body,
            plain_query,
            may_be_stale,
        })
    }

    /// What it gives to its operation.
    ///
    /// # Errors
    /// It has no body of JSON where the operation takes one, or a body or a condition where it takes none.
    pub(super) fn given(&self) -> Result<Given<'_>, RaisedProblem> {
        let operation = self.operation;
        self.assert_condition_is_read()?;
        let mut given = Given::new(&operation.parameters);
        for (name, value) in &self.path {
            given.add_path(name, value);
        }
        given.add_query(self.plain_query.as_deref().unwrap_or_else(|| self.query()));
        if operation.has(Place::Body) {
            if operation.needs_body() || !self.body.is_empty() {
                self.assert_json()?;
                given.add_body(&self.body)?;
            }
        } else if !self.body.is_empty() && operation.method != Method::Get {
            let none = "this operation takes no body";
            return Err(RaisedProblem::from(Problem::with(
                Code::InvalidRequest,
                none,
            )));
        }
        Ok(given)
    }

    /// A command whose condition nobody reads is refused: its client relies on the condition.
    fn assert_condition_is_read(&self) -> Result<(), Problem> {
        let operation = self.operation;
        let is_read = operation.has_precondition || operation.method == Method::Get;
        if is_read || !self.parts.headers.contains_key(header::IF_MATCH) {
            return Ok(());
        }
        Err(Problem::invalid(vec![FieldError {
            place: Place::Header,
            field: "If-Match".to_owned(),
            message: "this operation takes no condition".to_owned(),
        }]))
    }

    fn assert_json(&self) -> Result<(), Problem> {
        let media = self.parts.headers.get(header::CONTENT_TYPE);
        let media = media.map_or(&b""[..], |value| value.as_bytes());
        let media = media.split(|&byte| byte == b';').next().unwrap_or_default();
        if !media.trim_ascii().eq_ignore_ascii_case(b"application/json") {
            return Err(Problem::from(Code::UnsupportedMediaType));
        }
        if let Some(coding) = self.header(header::CONTENT_ENCODING)
            && !coding.eq_ignore_ascii_case("identity")
        {
            let detail = format!("the body is encoded ({coding:?}); send it as it is");
            return Err(Problem::with(Code::UnsupportedMediaType, detail));
        }
        Ok(())
    }

    pub(super) fn query(&self) -> &str {
        self.parts.uri.query().unwrap_or_default()
    }

    /// The idempotency key, where there is one.
    pub(super) fn key(&self) -> Result<Option<Box<str>>, RaisedProblem> {
        let mut values = self.parts.headers.get_all(IDEMPOTENCY_KEY).iter();
        let Some(value) = values.next() else {
            return Ok(None);
        };
        let wrong = |message: String| {
            let error = FieldError {
                place: Place::Header,
                field: "Idempotency-Key".to_owned(),
                message: message.clone(),
            };
            Problem {
                errors: [error].into(),
                ..Problem::with(Code::InvalidIdempotencyKey, message)
            }
        };
        if values.next().is_some() {
            return Err(RaisedProblem::from(wrong("given twice".to_owned())));
        }
        let key = parse_key(value.as_bytes());
        Ok(Some(key.map_err(|invalid| wrong(invalid.to_string()))?))
    }

    /// The text of a header, as [`joined`] makes it.
    pub(super) fn header(&self, name: HeaderName) -> Option<Cow<'_, str>> {
        joined(&self.parts.headers, name)
    }
}

/// The lines of a header as one list (RFC 9110, section 5.3). Bytes that are no text are replaced, not left
/// out: a condition that cannot be read is one that does not hold.
pub(super) fn joined(headers: &HeaderMap, name: HeaderName) -> Option<Cow<'_, str>> {
    let lines = headers.get_all(name).iter();
    let texts = lines.map(|line| String::from_utf8_lossy(line.as_bytes()));
    texts.reduce(|list, line| Cow::Owned(format!("{list}, {line}")))
}

/// Reads a body to its end. One that comes in one part, as almost all do, is not copied; many small parts
/// take no more room than their bytes.
async fn whole<B>(body: B) -> Result<Bytes, B::Error>
where
    B: hyper::body::Body<Data = Bytes>,
{
    let mut body = pin!(body);
    let (mut first, mut joined) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = body.frame().await {
        // What is no data is a trailer, of which nothing is made.
        let Ok(part) = frame?.into_data() else {
            continue;
        };
        if first.is_empty() {
            first = part;
            continue;
        }
        if joined.is_empty() {
            joined.extend_from_slice(&first);
        }
        joined.extend_from_slice(&part);
    }
    Ok(if joined.is_empty() {
        first
    } else {
        joined.freeze()
    })
}

/// The query string without the parameter of all queries, and the values of that.
fn without_consistency(query: &str) -> (String, Vec<&str>) {
    let (mut others, mut values) = (Vec::new(), Vec::new());
    for pair in query.split('&') {
        match pair.strip_prefix(CONSISTENCY) {
            Some(value) => values.push(value),
            None => others.push(pair),
        }
    }
    (others.join("&"), values)
}

fn is_stale(values: &[&str]) -> Result<bool, Problem> {
    match values {
        [] | [LINEARIZABLE] => Ok(false),
        [STALE] => Ok(true),
        _ => Err(Problem::invalid(vec![FieldError {
            place: Place::Query,
            field: "consistency".to_owned(),
            message: format!("one of {LINEARIZABLE}, {STALE}, and once"),
        }])),
    }
}

impl Door {
    /// What is needed to read id numbers.
    pub(super) fn sealing(&self) -> rooms::Door<'_> {
        rooms::Door {
            id_key: self.gate.id_key(),
            verhoeff: self.gate.verhoeff(),
        }
    }
}
