//! Answers as HTTP responses.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};
use bytes::Bytes;
use turnstile_embedded::Reply;
use turnstile_http::{Code, Problem, Told};
use turnstile_types::{Machine, Position};

use super::metered::put_used_up;

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub(super) const POSITION: HeaderName = HeaderName::from_static("turnstile-position");
pub(super) const ENTRY_AGE: HeaderName = HeaderName::from_static("turnstile-entry-age-ms");
pub(super) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
/// How a caller shows who it is (RFC 6750).
const KEY_NEEDED: HeaderValue = HeaderValue::from_static("Bearer realm=\"turnstile\"");
const INVALID_KEY: HeaderValue =
    HeaderValue::from_static("Bearer realm=\"turnstile\", error=\"invalid_token\"");

const TRUE: HeaderValue = HeaderValue::from_static("true");

/// A problem on its way to the one place that writes it, where the request's path and id are known.
#[derive(Clone, Debug)]
pub(super) struct RaisedProblem(pub(super) Box<Problem>);

impl<T: Into<Problem>> From<T> for RaisedProblem {
    fn from(problem: T) -> Self {
        Self(Box::new(problem.into()))
    }
}

impl IntoResponse for RaisedProblem {
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        response.extensions_mut().insert(self);
        response
    }
}

/// Makes `response` tell the problem; headers that are there stay.
pub(super) fn problem_response(
    response: &mut Response<Body>,
    problem: &Problem,
    instance: &str,
    id: &HeaderValue,
) {
    let id = id.to_str().unwrap_or_default();
    *response.status_mut() =
        StatusCode::from_u16(problem.code.status()).expect("a code has a status of HTTP");
    let body = Bytes::from(problem.json(instance, id));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, PROBLEM);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    if let Some(after) = problem.code.retry_after() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(after));
    }
    if problem.code.status() == 401 {
        let challenge = match problem.code {
            Code::WrongKey => INVALID_KEY,
            _ => KEY_NEEDED,
        };
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    if let Code::QuotaExceeded {
        policy,
        most,
        retry_after_s,
    } = &problem.code
    {
        put_used_up(headers, (policy, *most), *retry_after_s);
    }
    if let Some(position) = problem.position {
        headers.insert(POSITION, HeaderValue::from(position.0));
    }
    if problem.replayed {
        headers.insert(REPLAYED, TRUE);
    }
    *response.body_mut() = Body::from(body);
}

/// The response to a command that was done.
pub(super) fn done_response<M: Machine>(told: Told, reply: &Reply<M>) -> Response<Body> {
    let mut response = told_response(told, reply.position);
    if reply.replayed {
        response.headers_mut().insert(REPLAYED, TRUE);
    }
    response
}

pub(super) fn told_response(told: Told, position: Position) -> Response<Body> {
    let mut response = Response::new(Body::from(told.json));
    *response.status_mut() =
        StatusCode::from_u16(told.status).expect("an answer has a status of HTTP");
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.insert(POSITION, HeaderValue::from(position.0));
    let text = |text: String| {
        HeaderValue::try_from(text).expect("references, positions and cursors are visible ASCII")
    };
    if let Some(location) = told.location {
        headers.insert(header::LOCATION, text(location));
    }
    if let Some(etag) = told.etag {
        headers.insert(header::ETAG, text(etag));
    }
    response
}

/// Says where the next page is, by the request's own URL with another cursor.
pub(super) fn link_next(response: &mut Response<Body>, path: &str, query: &str, cursor: &str) {
    let mut link = format!("<{path}?");
    let others = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.starts_with("cursor="));
    for pair in others {
        link.push_str(pair);
        link.push('&');
    }
    link.push_str("cursor=");
    link.push_str(cursor);
    link.push_str(">; rel=\"next\"");
    // A query that is no header text cannot be repeated; the cursor stands in the body too.
    if let Ok(link) = HeaderValue::try_from(link) {
        response.headers_mut().insert(header::LINK, link);
    }
}

/// A response whose thing has not changed since the client saw it.
pub(super) fn not_modified(mut response: Response<Body>) -> Response<Body> {
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response.headers_mut().remove(header::CONTENT_TYPE);
    *response.body_mut() = Body::empty();
    response
}
