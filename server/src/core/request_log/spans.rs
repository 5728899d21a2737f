//! Spans of requests for an OpenTelemetry collector, by
//! [OTLP over HTTP](https://opentelemetry.io/docs/specs/otlp/#otlphttp) in JSON.

use std::{
    fmt,
    io::{self, Read as _},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::http::Uri;
use serde_json::{Value, json};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{RequestLine, TraceParent, queue::LineSink};
use crate::{
    core::entropy::random_bytes,
    limits::{COLLECTOR_ANSWER_BYTES, COLLECTOR_TIMEOUT},
};

/// Kinds of spans by their numbers in OTLP: a part of another, and what a server does for a client.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;

/// The status of a span whose request has failed by the server's fault.
const ERROR: u8 = 2;

/// Which requests a collector is told of, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    pub collector: CollectorUrl,
    /// Requests without a trace for each one that is traced; zero: none is.
    pub one_in: u64,
}

/// Where a collector takes spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectorUrl(String);

/// Why a text is no URL of a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidCollectorUrl;

impl fmt::Display for InvalidCollectorUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the URL of a collector is http or https with a host, such as http://127.0.0.1:4318",
        )
    }
}

impl std::error::Error for InvalidCollectorUrl {}

impl CollectorUrl {
    /// Parses a base URL; spans go to `v1/traces` below it.
    ///
    /// # Errors
    /// It is not `http` or `https`, has no host, or has a query.
    pub fn parse(text: &str) -> Result<Self, InvalidCollectorUrl> {
        let uri: Uri = text.parse().map_err(|_invalid| InvalidCollectorUrl)?;
        let is_known = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        if !is_known || !has_host || uri.query().is_some() {
            return Err(InvalidCollectorUrl);
        }
        Ok(Self(format!("{}/v1/traces", text.trim_end_matches('/'))))
    }

    fn is_encrypted(&self) -> bool {
        self.0.starts_with("https:")
    }
}

/// Chooses the requests that a collector is told of.
#[derive(Debug)]
pub(super) struct TraceSampler {
    one_in: u64,
    /// Requests without a trace until now.
    untraced: AtomicU64,
}

impl TraceSampler {
    pub(super) const fn new(one_in: u64) -> Self {
        Self {
            one_in,
            untraced: AtomicU64::new(0),
        }
    }

    /// A client that names a trace has decided already.
    pub(super) fn takes(&self, trace: Option<&TraceParent>) -> bool {
        match trace {
            Some(trace) => trace.is_sampled(),
            None if self.one_in == 0 => false,
            None => {
                let number = self.untraced.fetch_add(1, Ordering::Relaxed);
                number.is_multiple_of(self.one_in)
            }
        }
    }
}

/// Sends spans to a collector, which has to answer before the next are sent.
#[derive(Debug)]
pub(super) struct SpanSender {
    agent: ureq::Agent,
    collector: CollectorUrl,
    resource: Value,
    ids: SpanIds,
}

impl SpanSender {
    /// Spans of the run of this name. Nothing is sent yet.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(super) fn new(collector: CollectorUrl, run: &str) -> io::Result<Self> {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(COLLECTOR_TIMEOUT))
            .proxy(None)
            .user_agent(concat!("turnstile/", env!("CARGO_PKG_VERSION")));
        let config = if collector.is_encrypted() {
            config.tls_config(tls())
        } else {
            config
        };
        let resource = attributes([
            ("service.name", json!({"stringValue": "turnstile"})),
            (
                "service.version",
                json!({"stringValue": env!("CARGO_PKG_VERSION")}),
            ),
            ("service.instance.id", json!({"stringValue": run})),
        ]);
        Ok(Self {
            agent: config.build().new_agent(),
            collector,
            resource,
            ids: SpanIds::seeded()?,
        })
    }

    fn request(&mut self, lines: &[RequestLine]) -> Value {
        let ids = &mut self.ids;
        let spans: Vec<Value> = lines.iter().flat_map(|line| spans(line, ids)).collect();
        json!({"resourceSpans": [{
            "resource": {"attributes": self.resource},
            "scopeSpans": [{"scope": {"name": "turnstile"}, "spans": spans}],
        }]})
    }
}

impl LineSink for SpanSender {
    fn take(&mut self, lines: &[RequestLine]) -> io::Result<()> {
        let body = self.request(lines).to_string();
        let request = self.agent.post(&self.collector.0);
        let answer = request.content_type("application/json").send(body);
        let mut answer = answer.map_err(io::Error::other)?;
        // What was read to its end leaves the connection for the next spans.
        let body = answer.body_mut().as_reader();
        io::copy(&mut body.take(COLLECTOR_ANSWER_BYTES), &mut io::sink())?;
        Ok(())
    }
}

/// Trusts whom the system trusts.
fn tls() -> TlsConfig {
    let trusted = rustls_native_certs::load_native_certs().certs;
    let trusted = trusted
        .iter()
        .map(|one| Certificate::from_der(one).to_owned());
    let trusted: Vec<Certificate<'static>> = trusted.collect();
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&trusted))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

/// Ids that no other process makes.
#[derive(Debug)]
struct SpanIds {
    seed: u64,
    made: u64,
}

impl SpanIds {
    fn seeded() -> io::Result<Self> {
        let seed = u64::from_le_bytes(random_bytes()?);
        Ok(Self { seed, made: 0 })
    }

    /// Of a trace.
    fn trace(&mut self) -> String {
        self.made += 1;
        let id = xxh3_128_with_seed(&self.made.to_le_bytes(), self.seed);
        format!("{:032x}", id.max(1))
    }

    /// Of a span.
    fn span(&mut self) -> String {
        self.trace().split_off(16)
    }
}

/// The span of a request, and those of the parts of its time.
fn spans(line: &RequestLine, ids: &mut SpanIds) -> Vec<Value> {
    let trace = match &line.trace {
        Some(trace) => trace.trace_id().to_owned(),
        None => ids.trace(),
    };
    let root = ids.span();
    let parts = &line.parts;
    let end = Duration::from_millis(line.at.0);
    let mut at = end.saturating_sub(parts.total());
    let mut all = vec![json!({
        "traceId": trace,
        "spanId": root,
        "name": line.operation,
        "kind": SERVER,
        "startTimeUnixNano": nanos(at),
        "endTimeUnixNano": nanos(end),
        "attributes": told(line),
    })];
    if let Some(caller) = &line.trace {
        all[0]["parentSpanId"] = caller.parent_id().into();
    }
    if line.status.is_some_and(|status| status >= 500) {
        all[0]["status"] = json!({"code": ERROR});
    }
    let named = [
        ("queue", parts.queue),
        ("decide", parts.decide),
        ("sync", parts.sync),
        ("send", parts.send),
    ];
    for (name, part) in named {
        let begun = at;
        at += part;
        if !part.is_zero() {
            all.push(json!({
                "traceId": trace,
                "spanId": ids.span(),
                "parentSpanId": root,
                "name": name,
                "kind": INTERNAL,
                "startTimeUnixNano": nanos(begun),
                "endTimeUnixNano": nanos(at),
            }));
        }
    }
    all
}

/// 64-bit numbers are text in OTLP.
fn nanos(since_epoch: Duration) -> String {
    since_epoch.as_nanos().to_string()
}

/// What the span of a request says of it, named as the conventions of OpenTelemetry do where they have a name.
fn told(line: &RequestLine) -> Value {
    let text = |text: &str| json!({"stringValue": text});
    let number = |number: u64| json!({"intValue": number.to_string()});
    let mut all = vec![
        ("turnstile.door", text(line.door_name())),
        ("turnstile.outcome", text(&line.outcome)),
        ("turnstile.request_id", text(&line.request_id)),
    ];
    if let Some(peer) = line.peer {
        all.push(("client.address", text(&peer.ip().to_string())));
        all.push(("client.port", number(peer.port().into())));
    }
    if let Some(principal) = &line.principal {
        all.push(("user.name", text(&principal.to_string())));
    }
    if let Some(status) = line.status {
        all.push(("http.response.status_code", number(status.into())));
    }
    if let Some(position) = line.position {
        all.push(("turnstile.position", number(position.0)));
    }
    attributes(all)
}

fn attributes(all: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let all = all.into_iter();
    all.map(|(key, value)| json!({"key": key, "value": value}))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{super::line::tests::line, *};

    const SAMPLED: &[u8] = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const NOT_SAMPLED: &[u8] = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

    #[test]
    fn a_client_decides_of_its_trace_and_of_others_one_in_so_many_is_taken() {
        let [sampled, not] = [SAMPLED, NOT_SAMPLED].map(|text| TraceParent::parse(text).unwrap());
        let sampler = TraceSampler::new(3);
        assert!(sampler.takes(Some(&sampled)) && !sampler.takes(Some(&not)));
        let taken = (0..9).filter(|_| sampler.takes(None)).count();
        assert_eq!(taken, 3);
        assert!(!TraceSampler::new(0).takes(None));
    }

    #[test]
    fn the_parts_follow_each_other_within_the_request() {
        let line = RequestLine {
            trace: TraceParent::parse(SAMPLED).ok(),
            status: Some(503),
            ..line("r-1")
        };
        let all = spans(&line, &mut SpanIds { seed: 1, made: 0 });
        let root = &all[0];
        assert_eq!(root["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(root["parentSpanId"], "00f067aa0ba902b7");
        assert_eq!(root["endTimeUnixNano"], "1809172800001000000");
        assert_eq!(root["startTimeUnixNano"], "1809172800000693000");
        assert_eq!(root["status"]["code"], 2);
        let mut at = root["startTimeUnixNano"].clone();
        for (part, name) in all[1..].iter().zip(["queue", "decide", "sync", "send"]) {
            assert_eq!(
                (&part["name"], &part["parentSpanId"]),
                (&name.into(), &root["spanId"])
            );
            assert_eq!(part["startTimeUnixNano"], at);
            at = part["endTimeUnixNano"].clone();
        }
        assert_eq!((all.len(), at), (5, root["endTimeUnixNano"].clone()));
    }

    #[test]
    fn a_request_without_a_trace_begins_one() {
        let mut ids = SpanIds::seeded().unwrap();
        let [one, other] = [(), ()].map(|()| spans(&line("r"), &mut ids));
        assert_eq!(one[0].get("parentSpanId"), None);
        assert_ne!(one[0]["traceId"], other[0]["traceId"]);
        let lengths = ["traceId", "spanId"].map(|id| one[0][id].as_str().unwrap().len());
        assert_eq!(lengths, [32, 16]);
    }

    #[test]
    fn a_collector_is_named_by_its_base() {
        for (text, whole) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            (
                "https://o.example/otlp/",
                "https://o.example/otlp/v1/traces",
            ),
        ] {
            assert_eq!(CollectorUrl::parse(text).unwrap().0, whole);
        }
        for wrong in [
            "",
            "127.0.0.1:4318",
            "grpc://a:4317",
            "http://",
            "http://a/?b",
            "/v1",
        ] {
            assert_eq!(
                CollectorUrl::parse(wrong),
                Err(InvalidCollectorUrl),
                "{wrong}"
            );
        }
    }
}
