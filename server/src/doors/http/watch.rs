//! Spectators: one match as a stream, from its state on to its end.

use std::{convert::Infallible, pin::Pin, sync::Arc};

use axum::{body::Body, http::header};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::time;
use turnstile_chassis::{Right, Subject};
use turnstile_games::{Answer, Event, Games, MatchId, MatchView, Query};
use turnstile_http::{
    Problem, Served as _,
    games::{
        StreamForm, is_about, put_event, put_lagged, put_reset, put_state, put_stopping, watching,
    },
};
use turnstile_types::{Machine as _, Position};

use super::{
    Door,
    access::StreamPass,
    call::HttpCall,
    metered::StreamPace,
    operations::Answered,
    reply::RaisedProblem,
    stream::{Follower, StreamPermit, endless, last_event},
};
use crate::core::{
    caller::Caller,
    feed::{FeedStart, Place, Reading},
};

/// Somebody who watches a match.
///
/// Every event has the whole match in it and its `seq`, so all that is kept is a place in the feed
/// and how far the match had come when it was last told.
struct Watcher {
    door: Arc<Door>,
    match_id: MatchId,
    form: StreamForm,
    place: Place,
    /// The `seq` of the state that was told last.
    seen: Option<u32>,
    /// The end of the match was told.
    is_over: bool,
    /// What to say before anything else.
    first: Vec<u8>,
    /// Ends with the caller's leave to follow.
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    caller: Caller,
    pace: StreamPace,
    _seat: StreamPermit,
    _follower: Follower<Games>,
}

pub(super) async fn watch(door: Arc<Door>, call: HttpCall) -> Answered {
    let (match_id, last, form) = {
        let accepted = call.header(header::ACCEPT);
        let (match_id, since, form) = watching(&call.given()?, accepted.as_deref())?;
        (match_id, last_event(&call, since)?, form)
    };
    let pass = StreamPass::take(
        &door,
        &call.visitor,
        (Games::SERVICE, Right::Read, Subject::Public),
    )?;
    let seat = StreamPermit::take(&door, &call.visitor.caller)?;
    let follower = door.sources.games.follow();
    let place = door.sources.games.feed.end();
    let query = Query::Match { match_id };
    let caller = call.visitor.caller.clone();
    let (position, answer) = door.courier.query::<Games>(&caller, query).await?;
    let Answer::Match(state) = answer else {
        let absent = Games::tell_answer(&query, &answer).err();
        let absent = absent.expect("a match that is not there is a problem");
        return Err(RaisedProblem::from(Problem {
            position: Some(position),
            ..absent
        }));
    };
    // The loop has answered, so it knows that the feed is kept.
    let start = last.map(|last| door.sources.games.feed.after(last));
    let mut watcher = Watcher {
        door,
        match_id,
        form,
        place,
        seen: None,
        is_over: false,
        first: Vec::from(form.heartbeat()),
        over: Box::pin(pass.over()),
        caller,
        pace: StreamPace::new(Arc::clone(seat.meter())),
        _seat: seat,
        _follower: follower,
    };
    watcher.begin(start.as_ref(), (position, &state));
    let stream = unfold(watcher, |mut watcher| async {
        let frame = watcher.next().await?;
        Some((Ok::<Bytes, Infallible>(frame), watcher))
    });
    Ok(endless(Body::from_stream(stream), form.content_type()))
}

impl Watcher {
    /// Whoever comes back is told what it missed, as far as that is kept; others, and whoever
    /// missed the end, the state.
    fn begin(&mut self, start: Option<&FeedStart>, (position, state): (Position, &MatchView)) {
        let mut frame = std::mem::take(&mut self.first);
        match start {
            Some(FeedStart::At(place)) => {
                self.place = *place;
                while let Reading::Events(events, place) = self.read() {
                    self.place = place;
                    self.put(&events, &mut frame);
                }
                if state.ending.is_some() && !self.is_over {
                    self.show(position, state, &mut frame);
                }
            }
            Some(FeedStart::Elsewhere { first, .. }) => {
                put_reset(self.form, *first, &mut frame);
                self.show(position, state, &mut frame);
            }
            None => self.show(position, state, &mut frame),
        }
        self.first = frame;
    }

    fn show(&mut self, position: Position, state: &MatchView, frame: &mut Vec<u8>) {
        put_state(self.form, position, state, frame);
        self.seen = Some(state.seq);
        self.is_over = state.ending.is_some();
    }

    fn read(&self) -> Reading<Event> {
        let is_new = |event: &Event| {
            is_about(event, self.match_id)
                .is_some_and(|state| self.seen.is_none_or(|seen| state.seq > seen))
        };
        self.door.sources.games.feed.read(self.place, is_new)
    }

    fn put(&mut self, events: &[Event], frame: &mut Vec<u8>) {
        for event in events {
            put_event(self.form, event, frame);
            if let Some(state) = is_about(event, self.match_id) {
                self.seen = Some(state.seq);
                self.is_over = state.ending.is_some();
            }
        }
    }

    /// The next bytes; none when the match is over. It listens before the feed is read, so that
    /// nothing is missed between the two.
    async fn next(&mut self) -> Option<Bytes> {
        let mut frame = std::mem::take(&mut self.first);
        // A frame without bytes says nothing.
        while frame.is_empty() {
            if self.is_over {
                return None;
            }
            if self.door.is_stopping() {
                self.is_over = true;
                put_stopping(self.form, &mut frame);
                break;
            }
            tokio::select! {
                biased;
                () = &mut self.over => return None,
                () = self.pace.paid() => {}
            }
            let news = Arc::clone(&self.door.sources.games.news).notified_owned();
            tokio::pin!(news);
            news.as_mut().enable();
            match self.read() {
                Reading::Events(events, place) => {
                    self.place = place;
                    self.put(&events, &mut frame);
                }
                Reading::Missed { events, first, .. } => {
                    self.place = self.door.sources.games.feed.end();
                    put_lagged(self.form, events, first, &mut frame);
                    self.show_now(&mut frame).await;
                }
                Reading::Nothing => {
                    let heartbeat = self.door.limits.heartbeat;
                    tokio::select! {
                        biased;
                        () = &mut self.over => return None,
                        () = news => {}
                        () = time::sleep(heartbeat) => {
                            frame.extend_from_slice(self.form.heartbeat());
                        }
                    }
                }
            }
        }
        self.pace.charge(frame.len());
        Some(Bytes::from(frame))
    }

    /// Tells the state as it is now. When it cannot be had the stream ends, and whoever comes back
    /// is told more.
    async fn show_now(&mut self, frame: &mut Vec<u8>) {
        let match_id = self.match_id;
        let query = Query::Match { match_id };
        match self.door.courier.query::<Games>(&self.caller, query).await {
            Ok((position, Answer::Match(state))) => self.show(position, &state, frame),
            _ => self.is_over = true,
        }
    }
}
