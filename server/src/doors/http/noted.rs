//! What is said about requests over HTTP, and the trace that one belongs to.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, Request, Response},
};
use hyper::body::Body as _;
use turnstile_http::operation_at;
use turnstile_types::{Position, Principal};

use super::{Door, console, reply::POSITION};
use crate::{
    core::request_log::{AskTimes, RequestLine, RequestLogs, TraceParent},
    counters::DoorName,
};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The trace of a request. The standard says that a malformed header, or two of them, count as none.
pub(super) fn trace_of(headers: &HeaderMap) -> Option<TraceParent> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let (first, second) = (values.next()?, values.next());
    let is_one = second.is_none();
    TraceParent::parse(first.as_bytes()).ok().filter(|_| is_one)
}

/// What is known of a request before it is answered.
#[derive(Debug)]
pub(super) struct RequestBegun {
    log: Arc<RequestLogs>,
    times: Arc<AskTimes>,
    peer: Option<SocketAddr>,
    pub(super) principal: Option<Principal>,
    operation: String,
    trace: Option<TraceParent>,
}

impl RequestBegun {
    /// Begins to note a request, if anybody wants to hear of it.
    pub(super) fn note<B>(
        door: &Door,
        request: &Request<B>,
        (peer, trace): (Option<SocketAddr>, Option<TraceParent>),
    ) -> Option<Box<Self>> {
        let log = door.about.requests.as_ref().filter(|log| log.is_on())?;
        Some(Box::new(Self {
            log: Arc::clone(log),
            times: Arc::new(AskTimes::begin()),
            peer,
            principal: None,
            operation: called(request.method().as_str(), request.uri().path()),
            trace,
        }))
    }

    pub(super) fn times(&self) -> Arc<AskTimes> {
        Arc::clone(&self.times)
    }

    /// The head of the answer leaves, and with it a body that is there.
    pub(super) fn end(
        self,
        response: &Response<Body>,
        problem: Option<&'static str>,
        id: &HeaderValue,
    ) {
        let position = response.headers().get(POSITION);
        let position = position.and_then(|value| value.to_str().ok()?.parse().ok());
        let line = RequestLine {
            at: crate::core::clock::system().wall,
            door: DoorName::Http,
            peer: self.peer,
            principal: self.principal,
            operation: self.operation.into(),
            outcome: problem.unwrap_or("ok").into(),
            status: Some(response.status().as_u16()),
            position: position.map(Position),
            bytes: response.body().size_hint().exact(),
            request_id: id.to_str().unwrap_or_default().into(),
            trace: self.trace,
            parts: self.times.end(),
        };
        self.log.note([line].into_iter());
    }
}

/// The operation, by the template of its path: values in paths and queries may be about people.
fn called(method: &str, path: &str) -> String {
    match operation_at(method, path) {
        Some(operation) => format!("{method} {}", operation.path),
        None if console::has(path) => format!("{method} {}", console::PLACE),
        None => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_named_by_its_template_only() {
        let rows = [
            (
                "GET",
                "/v1/rooms/properties/hotel/availability",
                "GET /v1/rooms/properties/{property}/availability",
            ),
            ("GET", "/readyz", "GET /readyz"),
            ("GET", "/234123412346", "unknown"),
            ("BREW", "/readyz", "unknown"),
        ];
        for (method, path, name) in rows {
            assert_eq!(called(method, path), name);
        }
    }

    #[test]
    fn two_headers_are_as_none() {
        let value =
            HeaderValue::from_static("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        let mut headers = HeaderMap::new();
        assert_eq!(trace_of(&headers), None);
        headers.append(TRACEPARENT, value.clone());
        let trace = trace_of(&headers).unwrap();
        assert_eq!(trace.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        headers.append(TRACEPARENT, value);
        assert_eq!(trace_of(&headers), None);
    }
}
