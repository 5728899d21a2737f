//! What the door tells about itself: alive, ready, version, description.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{HeaderValue, Response, header},
};
use bytes::Bytes;
use turnstile_chassis::Fields;
use turnstile_http::{
    Code, PAGE_SCRIPT, PAGE_STYLE, Problem, docs_page, openapi as openapi_document,
};

use super::{Door, call::HttpCall, operations::Answered, reply::RaisedProblem};
use crate::core::transport::DoorTransport;

/// Nothing from elsewhere: our own script and style sheet only, and requests to ourselves.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// Texts that do not change while the process runs.
#[derive(Debug)]
pub(super) struct Documents {
    openapi: Bytes,
    docs: Bytes,
}

impl Documents {
    pub(super) fn new() -> Self {
        let document = serde_json::to_value(openapi_document())
            .expect("the document is maps, lists and texts");
        Self {
            docs: Bytes::from(docs_page(&document)),
            openapi: Bytes::from(document.to_string()),
        }
    }
}

pub(super) fn content(body: impl Into<Body>, content_type: &'static str) -> Response<Body> {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    response
}

/// The same, which caches must not keep.
pub(super) fn unstored(body: impl Into<Body>, content_type: &'static str) -> Response<Body> {
    let mut response = content(body, content_type);
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}

/// Fields as a JSON object, which caches must not keep.
pub(super) fn json(fields: &impl Fields) -> Response<Body> {
    unstored(turnstile_json::object(fields), "application/json")
}

/// Has browsers load for a page only what the policy names, and tell nobody that they came from it.
pub(super) fn confine(page: &mut Response<Body>, policy: HeaderValue) {
    let headers = page.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    let nobody = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, nobody);
}

pub(super) fn live() -> Response<Body> {
    content(r#"{"status":"live"}"#, "application/json")
}

/// Ready means that the loop answers, and that it can write.
pub(super) async fn ready(door: Arc<Door>) -> Answered {
    if door.is_stopping() || door.is_end_near() {
        let problem = Problem::with(Code::Unavailable, "the server is stopping");
        return Err(RaisedProblem::from(problem));
    }
    if door.is_draining() {
        let problem = Problem::with(Code::Unavailable, "an operator drains this node");
        return Err(RaisedProblem::from(problem));
    }
    let status = door.courier.status().await?;
    if status.read_only {
        return Err(RaisedProblem::from(Code::ReadOnly));
    }
    Ok(content(readiness(door.about.transport), "application/json"))
}

const fn readiness(transport: DoorTransport) -> &'static str {
    match transport {
        DoorTransport::Plain => {
            r#"{"status":"ready","warning":"clients reach this server without TLS"}"#
        }
        DoorTransport::Loopback | DoorTransport::Tls => r#"{"status":"ready"}"#,
    }
}

/// How this node of a cluster stands.
pub(super) async fn cluster(door: Arc<Door>, call: HttpCall) -> Answered {
    call.given()?.read_with(|_nothing| Some(()))?;
    let report = door.courier.cluster_report(door.is_draining()).await?;
    let alone = || Problem::with(Code::NoCluster, "its configuration has no [cluster]");
    let report = report.ok_or_else(alone)?;
    Ok(unstored(report.to_string(), "application/json"))
}

pub(super) fn version() -> Response<Body> {
    const VERSION: &str = concat!(
        r#"{"name":"turnstile","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""}"#
    );
    content(VERSION, "application/json")
}

pub(super) fn openapi(door: &Door) -> Response<Body> {
    content(door.documents.openapi.clone(), "application/json")
}

pub(super) fn docs(door: &Door) -> Response<Body> {
    let mut response = content(door.documents.docs.clone(), "text/html; charset=utf-8");
    confine(&mut response, POLICY);
    response
}

pub(super) fn style() -> Response<Body> {
    content(PAGE_STYLE, "text/css; charset=utf-8")
}

pub(super) fn script() -> Response<Body> {
    content(PAGE_SCRIPT, "text/javascript; charset=utf-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_reached_in_clear_says_so() {
        for transport in [
            DoorTransport::Loopback,
            DoorTransport::Tls,
            DoorTransport::Plain,
        ] {
            let told = readiness(transport).contains("without TLS");
            assert_eq!(told, transport == DoorTransport::Plain);
        }
    }
}
