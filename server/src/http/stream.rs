//! The feed as server-sent events.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderName, HeaderValue, header},
};
use bytes::Bytes;
use hyper::body::Frame;
use tokio::{
    sync::futures::OwnedNotified,
    time::{Instant, Sleep, sleep},
};
use turnstile_http::{
    Code, EventId, FieldError, Place as FieldPlace, Problem, put_event, put_lagged, put_reset,
};

use super::{Door, call::Call, documents::content, operations::Answered, reply::Trouble};
use crate::feed::{Place, Reading, Start};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A comment: a stream on which nothing happens stays known to proxies.
const HEARTBEAT: &[u8] = b":\n\n";

/// One follower of the feed.
///
/// It keeps nothing but its place: frames are made when the connection can take one, so a slow
/// consumer costs one frame, is overtaken by the ring, and is told so.
struct Stream {
    door: Arc<Door>,
    place: Place,
    news: Pin<Box<OwnedNotified>>,
    heartbeat: Pin<Box<Sleep>>,
    /// What to say before anything else.
    first: Option<Bytes>,
}

pub(super) async fn events(State(door): State<Arc<Door>>, call: Call) -> Answered {
    let since = call.parameters(&["since"]).one("since")?;
    let last = match call.header(LAST_EVENT_ID) {
        Some(last) => Some((FieldPlace::Header, "Last-Event-ID", last.to_owned())),
        None => since.map(|since| (FieldPlace::Query, "since", since)),
    };
    let last = last.map(|(place, field, text)| {
        EventId::parse(&text).map_err(|invalid| {
            Problem::invalid(vec![FieldError {
                place,
                field: field.to_owned(),
                message: invalid.to_string(),
            }])
        })
    });
    let stream = Stream::open(door, last.transpose()?)?;
    let mut response = content(Body::new(stream), "text/event-stream");
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    Ok(response)
}

impl Stream {
    fn open(door: Arc<Door>, last: Option<EventId>) -> Result<Self, Trouble> {
        if door.streams.fetch_add(1, Ordering::Relaxed) >= door.limits.streams {
            door.streams.fetch_sub(1, Ordering::Relaxed);
            return Err(Trouble::from(Code::TooManyStreams));
        }
        let mut first = Vec::from(HEARTBEAT);
        let place = match last.map(|last| door.feed.after(last)) {
            None => door.feed.end(),
            Some(Start::At(place)) => place,
            Some(Start::TooOld {
                first: event,
                place,
            }) => {
                put_reset(event, &mut first);
                place
            }
        };
        Ok(Self {
            place,
            news: Box::pin(Arc::clone(&door.news).notified_owned()),
            heartbeat: Box::pin(sleep(door.limits.heartbeat)),
            first: Some(Bytes::from(first)),
            door,
        })
    }

    /// What the feed has for this follower now. `news` listens before the feed is read, so that
    /// nothing is missed between the two.
    fn next(&mut self) -> Option<Bytes> {
        self.news.set(Arc::clone(&self.door.news).notified_owned());
        self.news.as_mut().enable();
        let mut frame = Vec::new();
        match self.door.feed.read(self.place) {
            Reading::Nothing => return None,
            Reading::Events(events, place) => {
                self.place = place;
                for event in &events {
                    put_event(event, &mut frame);
                }
            }
            Reading::Missed {
                events,
                first,
                place,
            } => {
                self.place = place;
                put_lagged(events, first, &mut frame);
            }
        }
        Some(Bytes::from(frame))
    }
}

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        loop {
            if self.door.is_stopping() {
                return Poll::Ready(None);
            }
            if let Some(frame) = self.next() {
                let next = Instant::now() + self.door.limits.heartbeat;
                self.heartbeat.as_mut().reset(next);
                return Poll::Ready(Some(Ok(Frame::data(frame))));
            }
            if self.heartbeat.as_mut().poll(cx).is_ready() {
                let next = Instant::now() + self.door.limits.heartbeat;
                self.heartbeat.as_mut().reset(next);
                return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(HEARTBEAT)))));
            }
            if self.news.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.door.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
