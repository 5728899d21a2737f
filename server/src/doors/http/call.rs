//! One request, read whole.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{FromRequest, Path, rejection::PathRejection},
    http::{HeaderName, Request, header, request::Parts},
};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use serde::Deserialize;
use turnstile_http::{
    Code, FieldError, Parameters, Place, Problem, Sealing, parse_body, parse_key, property_and_room,
};
use turnstile_rooms::Reference;
use turnstile_types::Name;

use super::{Door, reply::Trouble};

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A request with its whole body; the framing has limited it to 64 KiB.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) parts: Parts,
    body: Bytes,
}

impl FromRequest<Arc<Door>> for Call {
    type Rejection = Trouble;

    async fn from_request(
        request: Request<Body>,
        _door: &Arc<Door>,
    ) -> Result<Self, Self::Rejection> {
        Self::read(request).await
    }
}

impl Call {
    /// Reads the body of a request to its end.
    ///
    /// # Errors
    /// The client ended it before.
    pub(super) async fn read<B>(request: Request<B>) -> Result<Self, Trouble>
    where
        B: hyper::body::Body<Data = Bytes>,
    {
        let (parts, body) = request.into_parts();
        // Reading requests have none.
        let body = if body.is_end_stream() {
            Bytes::new()
        } else {
            let broken = |_broken| Problem::with(Code::RequestTimeout, "the body broke off");
            body.collect().await.map_err(broken)?.to_bytes()
        };
        Ok(Self { parts, body })
    }

    /// The body, as JSON of one shape. An operation with a body takes no parameters.
    pub(super) fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Trouble> {
        self.parameters(&[]).one("")?;
        let media = self.parts.headers.get(header::CONTENT_TYPE);
        let media = media.map_or(&b""[..], |value| value.as_bytes());
        let media = media.split(|&byte| byte == b';').next().unwrap_or_default();
        if !media.trim_ascii().eq_ignore_ascii_case(b"application/json") {
            return Err(Trouble::from(Code::UnsupportedMediaType));
        }
        if let Some(coding) = self.header(header::CONTENT_ENCODING)
            && !coding.eq_ignore_ascii_case("identity")
        {
            let detail = format!("the body is encoded ({coding:?}); send it as it is");
            return Err(Trouble::from(Problem::with(
                Code::UnsupportedMediaType,
                detail,
            )));
        }
        Ok(parse_body(&self.body)?)
    }

    /// Asserts that the request has no body, for operations that take none.
    pub(super) fn no_body(&self) -> Result<(), Trouble> {
        if self.body.is_empty() {
            return Ok(());
        }
        let problem = Problem::with(Code::InvalidRequest, "this operation takes no body");
        Err(Trouble::from(problem))
    }

    pub(super) fn parameters(&self, known: &[&str]) -> Parameters<'_> {
        Parameters::parse(self.query(), known)
    }

    pub(super) fn query(&self) -> &str {
        self.parts.uri.query().unwrap_or_default()
    }

    /// The idempotency key, where there is one.
    pub(super) fn key(&self) -> Result<Option<Box<str>>, Trouble> {
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
            return Err(Trouble::from(wrong("given twice".to_owned())));
        }
        let key = parse_key(value.as_bytes());
        Ok(Some(key.map_err(|invalid| wrong(invalid.to_string()))?))
    }

    /// One header's text.
    pub(super) fn header(&self, name: HeaderName) -> Option<&str> {
        self.parts.headers.get(name)?.to_str().ok()
    }
}

impl Door {
    /// How id numbers are read and sealed.
    pub(super) fn sealing(&self) -> Sealing<'_> {
        Sealing {
            key: self.gate.id_key(),
            verhoeff: self.gate.verhoeff(),
        }
    }
}

/// A path's one parameter, as a reference.
pub(super) fn reference_in(
    path: Result<Path<String>, PathRejection>,
) -> Result<Reference, Trouble> {
    let Path(text) = path.map_err(|_rejected| broken_path())?;
    Reference::parse(text.as_bytes()).map_err(|invalid| {
        Trouble::from(Problem::invalid(vec![FieldError {
            place: Place::Path,
            field: "reference".to_owned(),
            message: invalid.to_string(),
        }]))
    })
}

/// A path's one parameter, as a property.
pub(super) fn property_in(path: Result<Path<String>, PathRejection>) -> Result<Name, Trouble> {
    let Path(property) = path.map_err(|_rejected| broken_path())?;
    let (property, _) = property_and_room(&property, None)?;
    Ok(property)
}

/// A path's two parameters, as a property and a room.
pub(super) fn room_in(
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<(Name, Name), Trouble> {
    let Path((property, room)) = path.map_err(|_rejected| broken_path())?;
    let (property, room) = property_and_room(&property, Some(&room))?;
    Ok((property, room.expect("a room was given")))
}

/// The only way in which a path of our own routes is rejected.
pub(super) fn broken_path() -> Problem {
    Problem::with(
        Code::InvalidRequest,
        "the path is not percent-encoded UTF-8",
    )
}
