//! What a principal with a quota is told of it, and how streams keep to it.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, Response, header::CONTENT_ENCODING},
};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::time::{Sleep, sleep};

use crate::core::quotas::{Meter, QuotaKind};

pub(super) const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub(super) const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Counts an answer for its principal, and says what is left of the quotas of so many a second.
pub(super) fn note_answer(response: &mut Response<Body>, meter: &Arc<Meter>) {
    match response.body().size_hint().exact() {
        Some(bytes) => meter.charge(bytes),
        // How long it is, nobody knows before it is made.
        None if response.headers().contains_key(CONTENT_ENCODING) => {
            let body = mem::take(response.body_mut());
            *response.body_mut() = counted(body, Arc::clone(meter));
        }
        // A stream counts what it tells itself.
        None => {}
    }
    if !response.headers().contains_key(RATE_LIMIT) {
        put_what_is_left(response.headers_mut(), meter);
    }
}

/// A body that is counted as it is sent.
fn counted(body: Body, meter: Arc<Meter>) -> Body {
    Body::new(body.map_frame(move |frame| {
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        meter.charge(u64::try_from(bytes).unwrap_or(u64::MAX));
        frame
    }))
}

fn put_what_is_left(headers: &mut HeaderMap, meter: &Meter) {
    let (mut policies, mut limits) = (Vec::new(), Vec::new());
    for kind in [QuotaKind::Requests, QuotaKind::BytesOut] {
        let Some((most, (left, wait))) = meter.most(kind).zip(meter.left(kind)) else {
            continue;
        };
        let seconds = wait.as_nanos().div_ceil(1_000_000_000);
        policies.push(policy(kind.word(), most));
        limits.push(format!("\"{}\";r={left};t={seconds}", kind.word()));
    }
    if !policies.is_empty() {
        put_limits(headers, (policies.join(", "), limits.join(", ")));
    }
}

/// Tells a quota that is used up.
pub(super) fn put_used_up(headers: &mut HeaderMap, (word, most): (&str, u32), retry_s: u32) {
    let limit = format!("\"{word}\";r=0;t={retry_s}");
    put_limits(headers, (policy(word, most), limit));
}

/// A quota in the words of the draft of the IETF on rate limits: its name, how many, and of what in which
/// time.
fn policy(word: &str, most: u32) -> String {
    let more = match word {
        "requests" => ";w=1",
        "bytes-out" => ";w=1;qu=\"content-bytes\"",
        "requests-under-way" => ";qu=\"concurrent-requests\"",
        _ => "",
    };
    format!("\"{word}\";q={most}{more}")
}

fn put_limits(headers: &mut HeaderMap, (policies, limits): (String, String)) {
    for (name, value) in [(RATE_LIMIT_POLICY, policies), (RATE_LIMIT, limits)] {
        let value = HeaderValue::try_from(value).expect("words and numbers are visible ASCII");
        headers.insert(name, value);
    }
}

/// A stream in debt looks so often whether that is paid for, since the quota may change meanwhile.
const LOOK_AT_DEBT: Duration = Duration::from_secs(1);

/// How long a stream waits before it looks again whether its principal has paid for what it was sent;
/// nothing when it has.
pub(super) fn wait_in_debt(meter: &Meter) -> Option<Duration> {
    meter.debt().map(|debt| debt.min(LOOK_AT_DEBT))
}

/// Has a stream tell no more a second than the quota of its principal allows.
#[derive(Debug)]
pub(super) struct StreamPace {
    meter: Arc<Meter>,
    /// Until it looks again whether what was told is paid for.
    wait: Option<Pin<Box<Sleep>>>,
}

impl StreamPace {
    pub(super) const fn new(meter: Arc<Meter>) -> Self {
        Self { meter, wait: None }
    }

    /// Counts what is told.
    pub(super) fn charge(&self, bytes: usize) {
        self.meter.charge(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// Returns when all that was told is paid for.
    pub(super) async fn paid(&mut self) {
        poll_fn(|cx| self.poll_paid(cx)).await;
    }

    /// The same, for a body.
    pub(super) fn poll_paid(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(wait) = &mut self.wait {
                ready!(wait.as_mut().poll(cx));
                self.wait = None;
            }
            match wait_in_debt(&self.meter) {
                None => return Poll::Ready(()),
                Some(wait) => self.wait = Some(Box::pin(sleep(wait))),
            }
        }
    }
}
