//! A feed as server-sent events.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Response, header},
};
use bytes::Bytes;
use hyper::body::Frame;
use tokio::{
    sync::{Notify, futures::OwnedNotified},
    time::{Instant, Sleep, sleep},
};
use turnstile_chassis::{Right, Subject};
use turnstile_exchange::Exchange;
use turnstile_http::{
    Code, EventId, FeedEvent, FieldError, Given, Place as FieldPlace, Problem, Service,
    exchange::Interest, put_event, put_lagged, put_reset, read_since,
};
use turnstile_types::{Machine, Name};

use super::{
    Door,
    access::{StreamPass, problem_of_denied},
    call::Call,
    documents::content,
    metered::StreamPace,
    operations::{Answered, Answering},
    reply::Trouble,
};
use crate::{
    core::{
        caller::{Caller, NotPermitted},
        feed::{Feed, FeedStart, Feeds, Place, Reading},
        quotas::{CountedConnection, Meter},
        remote::{Housed, silence_of},
    },
    counters::ErrorCode,
};

pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A comment: a stream on which nothing happens stays known to proxies.
pub(super) const HEARTBEAT: &[u8] = b":\n\n";

/// Marks an answer that goes on for as long as its client listens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endless;

/// An answer that goes on for as long as its client listens.
pub(super) fn endless(body: Body, content_type: &'static str) -> Response<Body> {
    let mut response = content(body, content_type);
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response.extensions_mut().insert(Endless);
    response
}

/// A feed, and the bell of this thread for it.
#[derive(Debug)]
pub(super) struct Source<M: Machine> {
    pub(super) feed: Arc<Feed<M>>,
    /// Rings when the feed has something new.
    pub(super) news: Arc<Notify>,
}

impl<M: Machine> Source<M> {
    pub(super) fn new(feed: Arc<Feed<M>>) -> Self {
        Self {
            feed,
            news: Arc::new(Notify::new()),
        }
    }

    /// Passes the feed's bell on to the followers on this thread.
    pub(super) async fn tell_news(&self) {
        loop {
            self.next_news().await;
        }
    }

    /// The same, once.
    pub(super) async fn next_news(&self) {
        self.feed.rung().await;
        self.news.notify_waiters();
    }

    pub(super) fn follow(&self) -> Follower<M> {
        self.feed.follow();
        Follower(Arc::clone(&self.feed))
    }
}

/// While it lives, its feed is kept.
#[derive(Debug)]
pub(super) struct Follower<M: Machine>(Arc<Feed<M>>);

impl<M: Machine> Drop for Follower<M> {
    fn drop(&mut self) {
        self.0.unfollow();
    }
}

/// One of the streams and sockets that may be open at a time.
#[derive(Debug)]
pub(super) struct Seat {
    door: Arc<Door>,
    of_player: bool,
    /// It counts among the connections of its principal.
    connection: CountedConnection,
}

impl Seat {
    /// For whoever may follow everything.
    pub(super) fn take(door: &Arc<Door>, caller: &Caller) -> Result<Self, Trouble> {
        Self::take_one(door, caller, (false, door.limits.streams))
    }

    /// For a player.
    pub(super) fn take_for_player(door: &Arc<Door>, caller: &Caller) -> Result<Self, Trouble> {
        Self::take_one(door, caller, (true, door.limits.players))
    }

    fn take_one(
        door: &Arc<Door>,
        caller: &Caller,
        (of_player, most): (bool, u64),
    ) -> Result<Self, Trouble> {
        let connection = door.gate.meters.of(&caller.principal).connect();
        let connection = connection.map_err(|exceeded| {
            door.counters.error(ErrorCode::QuotaExceeded);
            problem_of_denied(NotPermitted::Quota(exceeded))
        })?;
        let seat = Self {
            door: Arc::clone(door),
            of_player,
            connection,
        };
        if seat.taken().fetch_add(1, Ordering::Relaxed) >= most {
            return Err(Trouble::from(Code::TooManyStreams));
        }
        Ok(seat)
    }

    /// What is counted for its principal.
    pub(super) const fn meter(&self) -> &Arc<Meter> {
        self.connection.meter()
    }

    fn taken(&self) -> &AtomicU64 {
        if self.of_player {
            &self.door.players
        } else {
            &self.door.streams
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.taken().fetch_sub(1, Ordering::Relaxed);
    }
}

/// A machine with a feed here.
trait Sourced: Machine<Event: FeedEvent> {
    fn source(door: &Door) -> &Source<Self>;
}

/// A machine whose events can be told as a stream.
trait Streamed: Sourced + Housed {
    /// Which of them are wanted.
    type Filter: fmt::Debug + Send + Unpin + 'static;

    /// What a request asks for: events after this one, and which.
    fn read<'a>(given: &'a Given<'a>) -> Result<(Option<EventId>, Self::Filter), Problem>;

    fn is_wanted(_filter: &Self::Filter, _event: &Self::Event) -> bool {
        true
    }

    /// What these events are about.
    fn subject(_filter: &Self::Filter) -> Subject {
        Subject::All
    }
}

impl Streamed for Exchange {
    type Filter = Interest;

    fn read<'a>(given: &'a Given<'a>) -> Result<(Option<EventId>, Interest), Problem> {
        Interest::read(given)
    }

    fn is_wanted(filter: &Interest, event: &Self::Event) -> bool {
        filter.is_in(event)
    }

    fn subject(filter: &Interest) -> Subject {
        let account = filter.account();
        let name = account.and_then(|account| Name::parse(account.as_bytes()).ok());
        name.map_or(Subject::All, Subject::of)
    }
}

/// Services whose streams tell everything.
macro_rules! unfiltered {
    ($($name:ident: $machine:ident),+ $(,)?) => {$(
        impl Streamed for turnstile_services::$name::$machine {
            type Filter = ();

            fn read<'a>(given: &'a Given<'a>) -> Result<(Option<EventId>, ()), Problem> {
                Ok((read_since(given)?, ()))
            }
        }
    )+};
}

unfiltered! { rooms: Rooms, games: Games, travel: Travel }

turnstile_services::plain_services!(unfiltered);

macro_rules! sources {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// The feeds of the services, as this thread follows them.
        #[derive(Debug)]
        pub(super) struct Sources {
            $(pub(super) $name: Source<turnstile_services::$name::$machine>,)+
        }

        impl Sources {
            pub(super) fn new(feeds: Feeds) -> Self {
                Self {
                    $($name: Source::new(feeds.$name),)+
                }
            }

            /// Passes the bells of the feeds on, but that of games, which has players to wake.
            pub(super) async fn tell_news(&self) {
                tokio::join!($(self.$name.tell_news()),+);
            }

            /// Wakes all who wait for something new.
            pub(super) fn notify_all(&self) {
                $(self.$name.news.notify_waiters();)+
            }
        }

        $(
            impl Sourced for turnstile_services::$name::$machine {
                fn source(door: &Door) -> &Source<Self> {
                    &door.sources.$name
                }
            }
        )+

        /// Follows a service.
        pub(super) fn stream(service: Service, door: Arc<Door>, call: Call) -> Answering {
            match service {
                $(Service::$machine => {
                    Box::pin(follow::<turnstile_services::$name::$machine>(door, call))
                })+
            }
        }
    };
}

turnstile_services::services!(sources);

/// One follower of a feed.
///
/// It keeps nothing but its place: frames are made when the connection can take one, so a slow
/// consumer costs one frame, is overtaken by the ring, and is told so.
struct Stream<M: Streamed> {
    door: Arc<Door>,
    place: Place,
    filter: M::Filter,
    news: Pin<Box<OwnedNotified>>,
    heartbeat: Pin<Box<Sleep>>,
    /// What to say before anything else.
    first: Option<Bytes>,
    /// Ends with the caller's leave to follow.
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    pace: StreamPace,
    _seat: Seat,
    _follower: Follower<M>,
}

/// A stream of what happens in a service.
async fn follow<M: Streamed>(door: Arc<Door>, call: Call) -> Answered
where
    Stream<M>: hyper::body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let (last, filter, pass, seat) = {
        let (since, filter) = M::read(&call.given()?)?;
        let wanted = (M::SERVICE, Right::Read, M::subject(&filter));
        let pass = StreamPass::take(&door, &call.visitor, wanted)?;
        if door.gate.in_databases.has::<M>() {
            return Err(Trouble::from(untold::<M>()));
        }
        let seat = Seat::take(&door, &call.visitor.caller)?;
        (last_event(&call, since)?, filter, pass, seat)
    };
    let follower = M::source(&door).follow();
    if M::IS_KEPT_WHILE_FOLLOWED {
        // Once the loop has answered anything, it knows that the feed is to be kept.
        door.courier.status().await?;
    }
    let start = start_of::<M>(&door, last).await?;
    Ok(Stream::open(door, start, filter, (pass, seat, follower)))
}

/// What is answered to whoever wants to follow a service that a database decides.
pub(super) fn untold<M: Housed>() -> Problem {
    Problem::with(Code::Unsupported, silence_of::<M>())
}

/// The event that the client saw last: a browser that comes back says it in a header.
pub(super) fn last_event(call: &Call, since: Option<EventId>) -> Result<Option<EventId>, Trouble> {
    let Some(last) = call.header(LAST_EVENT_ID) else {
        return Ok(since);
    };
    let last = EventId::parse(last).map_err(|invalid| {
        Problem::invalid(vec![FieldError {
            place: FieldPlace::Header,
            field: "Last-Event-ID".to_owned(),
            message: invalid.to_string(),
        }])
    });
    Ok(Some(last?))
}

/// Where the stream of a client begins that saw `last`.
async fn start_of<M: Streamed>(door: &Door, last: Option<EventId>) -> Result<FeedStart, Trouble> {
    let feed = &M::source(door).feed;
    let (place, next) = feed.next();
    let Some(last) = last else {
        return Ok(FeedStart::At(place));
    };
    // Most often it is the position of an answer that had no event.
    if feed.is_beyond(last) && last.position > door.courier.status().await?.backend.position {
        return Ok(FeedStart::Elsewhere { first: next, place });
    }
    Ok(feed.after(last))
}

impl<M: Streamed> Stream<M>
where
    Self: hyper::body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    /// The response whose body is a new stream.
    fn open(
        door: Arc<Door>,
        start: FeedStart,
        filter: M::Filter,
        (pass, seat, follower): (StreamPass, Seat, Follower<M>),
    ) -> Response<Body> {
        let source = M::source(&door);
        let mut first = Vec::from(HEARTBEAT);
        let place = match start {
            FeedStart::At(place) => place,
            FeedStart::Elsewhere {
                first: event,
                place,
            } => {
                put_reset(event, &mut first);
                place
            }
        };
        let stream = Self {
            place,
            filter,
            news: Box::pin(Arc::clone(&source.news).notified_owned()),
            heartbeat: Box::pin(sleep(door.limits.heartbeat)),
            first: Some(Bytes::from(first)),
            over: Box::pin(pass.over()),
            pace: StreamPace::new(Arc::clone(seat.meter())),
            _seat: seat,
            _follower: follower,
            door,
        };
        endless(Body::new(stream), "text/event-stream")
    }
}

impl<M: Streamed> Stream<M> {
    /// What the feed has for this follower now. `news` listens before the feed is read, so that
    /// nothing is missed between the two.
    fn next(&mut self) -> Option<Bytes> {
        let source = M::source(&self.door);
        self.news.set(Arc::clone(&source.news).notified_owned());
        self.news.as_mut().enable();
        let mut frame = Vec::new();
        // A frame without bytes would end the body.
        while frame.is_empty() {
            let is_wanted = |event: &M::Event| M::is_wanted(&self.filter, event);
            match source.feed.read(self.place, is_wanted) {
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
        }
        Some(Bytes::from(frame))
    }
}

impl<M: Streamed> hyper::body::Body for Stream<M> {
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
            if self.door.is_stopping() || self.over.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            ready!(self.pace.poll_paid(cx));
            if let Some(frame) = self.next() {
                self.pace.charge(frame.len());
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

impl<M: Streamed> fmt::Debug for Stream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
