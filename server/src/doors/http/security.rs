//! The events of the server's security as a stream.

use std::{convert::Infallible, pin::Pin, sync::Arc};

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::time;
use turnstile_access::Access;
use turnstile_chassis::{Right, Subject};
use turnstile_http::{STOPPING, put_event, put_lagged, put_reset, read_since};
use turnstile_types::Machine as _;

use super::{
    Door,
    access::StreamPass,
    call::HttpCall,
    metered::StreamPace,
    operations::Answered,
    stream::{HEARTBEAT, StreamPermit, endless, last_event},
};

/// Somebody who follows these events.
struct SecurityFollower {
    door: Arc<Door>,
    /// The number of the last event that was told.
    seen: u32,
    /// What to say before anything else.
    first: Vec<u8>,
    /// Whether it knows that the server stops.
    is_told: bool,
    /// Ends with the caller's leave to follow.
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    pace: StreamPace,
    _seat: StreamPermit,
}

/// A stream of what happens to the security of the server.
pub(super) async fn follow(door: Arc<Door>, call: HttpCall) -> Answered {
    let last = last_event(&call, read_since(&call.given()?)?)?;
    let wanted = (Access::SERVICE, Right::Read, Subject::All);
    let pass = StreamPass::take(&door, &call.visitor, wanted)?;
    let seat = StreamPermit::take(&door, &call.visitor.caller)?;
    let log = &door.gate.security;
    let mut first = Vec::from(HEARTBEAT);
    let seen = match last.map(|last| log.after(last)) {
        None => log.last(),
        Some(place) => {
            if place.is_gap {
                put_reset(log.id_after(place.seen), &mut first);
            }
            place.seen
        }
    };
    let follower = SecurityFollower {
        seen,
        first,
        is_told: false,
        over: Box::pin(pass.over()),
        pace: StreamPace::new(Arc::clone(seat.meter())),
        _seat: seat,
        door,
    };
    let stream = unfold(follower, |mut follower| async {
        let frame = follower.next().await?;
        Some((Ok::<Bytes, Infallible>(frame), follower))
    });
    Ok(endless(Body::from_stream(stream), "text/event-stream"))
}

impl SecurityFollower {
    /// The next bytes; none when the caller may not follow any longer. It listens before it reads, so
    /// that nothing is missed between the two.
    async fn next(&mut self) -> Option<Bytes> {
        let mut frame = std::mem::take(&mut self.first);
        while frame.is_empty() {
            tokio::select! {
                biased;
                () = &mut self.over => return None,
                () = self.pace.paid() => {}
            }
            let door = Arc::clone(&self.door);
            let (news, ending) = (door.gate.security.news(), door.ending.notified());
            tokio::pin!(news, ending);
            news.as_mut().enable();
            ending.as_mut().enable();
            if self.is_told {
                return None;
            }
            self.is_told = door.is_stopping();
            if self.is_told {
                frame.extend_from_slice(STOPPING);
                break;
            }
            self.read(&mut frame);
            if frame.is_empty() {
                tokio::select! {
                    biased;
                    () = &mut self.over => return None,
                    () = news => {}
                    () = ending => {}
                    () = time::sleep(door.limits.heartbeat) => frame.extend(HEARTBEAT),
                }
            }
        }
        self.pace.charge(frame.len());
        Some(Bytes::from(frame))
    }

    fn read(&mut self, frame: &mut Vec<u8>) {
        let log = &self.door.gate.security;
        let (missed, events) = log.read(self.seen);
        if missed > 0 {
            put_lagged(missed.into(), log.id_after(self.seen + missed), frame);
        }
        for event in &events {
            self.seen = event.seq;
            put_event(event, frame);
        }
    }
}
