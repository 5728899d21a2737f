//! A feed as server-sent events.

mod beginning;
mod seat;

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Response, header},
};
use bytes::Bytes;
use hyper::body::Frame;
use tokio::{
    sync::Notify,
    time::{Instant, Sleep, sleep},
};
use turnstile_chassis::{Right, Routed, Subject};
use turnstile_exchange::Exchange;
use turnstile_http::{
    Code, EventId, EventIds, FeedEvent, FieldError, Given, InvalidEventId, Place as FieldPlace,
    Problem, STOPPING, Service, exchange::Interest, put_event, put_event_in, put_lagged,
    put_lagged_in, put_reset, put_reset_in, read_since, read_since_in_partition,
};
use turnstile_types::{Machine, Name};

use self::beginning::{BegunPart, StreamPart, StreamSource, begin_parts, sources_in};
pub(super) use self::seat::StreamPermit;

use super::{
    Door,
    access::StreamPass,
    call::HttpCall,
    documents::content,
    metered::StreamPace,
    operations::{AnswerFuture, Answered},
    reply::RaisedProblem,
};
use crate::core::{
    feed::{Feed, FeedStart, Feeds, Reading},
    remote::{Housed, silence_of},
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

impl<M: Machine> Clone for Source<M> {
    fn clone(&self) -> Self {
        Self {
            feed: Arc::clone(&self.feed),
            news: Arc::clone(&self.news),
        }
    }
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

/// A machine with a feed here.
trait Sourced: Machine<Event: FeedEvent> {
    fn source(sources: &Sources) -> &Source<Self>;
}

/// A machine whose events can be told as a stream.
trait Streamed: Sourced + Housed {
    /// Which of them are wanted.
    type Filter: fmt::Debug + Send + Unpin + 'static;

    /// What a request asks for: events after these, and which.
    fn read<'a>(given: &'a Given<'a>) -> Result<(Option<EventIds>, Self::Filter), Problem>;

    fn is_wanted(_filter: &Self::Filter, _event: &Self::Event) -> bool {
        true
    }

    /// What these events are about.
    fn subject(_filter: &Self::Filter) -> Subject {
        Subject::All
    }

    /// The partition that is followed, if one is named.
    fn partition(_filter: &Self::Filter) -> Option<Name> {
        None
    }
}

impl Streamed for Exchange {
    type Filter = Interest;

    fn read<'a>(given: &'a Given<'a>) -> Result<(Option<EventIds>, Interest), Problem> {
        let (since, interest) = Interest::read(given)?;
        Ok((since.map(only), interest))
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

/// The place in the only feed.
fn only(id: EventId) -> EventIds {
    EventIds(vec![id])
}

/// Services whose streams tell everything, also of one partition alone where there are several.
macro_rules! unfiltered {
    ($($name:ident: $machine:ident),+ $(,)?) => {$(
        impl Streamed for turnstile_services::$name::$machine {
            type Filter = Option<Name>;

            fn read<'a>(given: &'a Given<'a>) -> Result<(Option<EventIds>, Option<Name>), Problem> {
                if <turnstile_services::$name::Query as Routed>::IS_SPREAD {
                    read_since_in_partition(given)
                } else {
                    Ok((read_since(given)?.map(only), None))
                }
            }

            fn partition(filter: &Option<Name>) -> Option<Name> {
                *filter
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
                fn source(sources: &Sources) -> &Source<Self> {
                    &sources.$name
                }
            }
        )+

        /// Follows a service.
        pub(super) fn stream(service: Service, door: Arc<Door>, call: HttpCall) -> AnswerFuture {
            match service {
                $(Service::$machine => {
                    Box::pin(follow::<turnstile_services::$name::$machine>(door, call))
                })+
            }
        }
    };
}

turnstile_services::services!(sources);

/// One follower of a feed, or of those of all partitions.
///
/// It keeps nothing but its places: frames are made when the connection can take one, so a slow
/// consumer costs one frame, is overtaken by the ring, and is told so.
struct Stream<M: Streamed> {
    door: Arc<Door>,
    parts: Vec<StreamPart<M>>,
    /// What was told of each part.
    told: EventIds,
    filter: M::Filter,
    heartbeat: Pin<Box<Sleep>>,
    /// What to say before anything else.
    first: Option<Bytes>,
    /// Whether the follower knows that the server stops.
    is_told: bool,
    /// Ends with the caller's leave to follow.
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    pace: StreamPace,
    _seat: StreamPermit,
}

/// A stream of what happens in a service.
async fn follow<M: Streamed>(door: Arc<Door>, call: HttpCall) -> Answered
where
    Stream<M>: hyper::body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let (last, filter, sources, pass, seat) = {
        let (since, filter) = M::read(&call.given()?)?;
        let wanted = (M::SERVICE, Right::Read, M::subject(&filter));
        let pass = StreamPass::take(&door, &call.visitor, wanted)?;
        if door.gate.in_databases.has::<M>() {
            return Err(RaisedProblem::from(untold::<M>()));
        }
        let sources = sources_in::<M>(&door, M::partition(&filter))?;
        let seat = StreamPermit::take(&door, &call.visitor.caller)?;
        let last = last_seen(&call, since, EventIds::parse)?;
        (last, filter, sources, pass, seat)
    };
    let followers = sources.iter().map(|part| part.source.follow());
    let followers: Vec<_> = followers.collect();
    if M::IS_KEPT_WHILE_FOLLOWED {
        // Once the loop has answered anything, it knows that the feed is to be kept.
        door.courier.status().await?;
    }
    let begun = begin_parts::<M>(&door, sources, last).await?;
    let parts = begun.into_iter().zip(followers).collect();
    Ok(Stream::open(door, parts, filter, (pass, seat)))
}

/// What is answered to whoever wants to follow a service that a database decides.
pub(super) fn untold<M: Housed>() -> Problem {
    Problem::with(Code::Unsupported, silence_of::<M>())
}

/// The event that the client saw last: a browser that comes back says it in a header.
pub(super) fn last_event(
    call: &HttpCall,
    since: Option<EventId>,
) -> Result<Option<EventId>, RaisedProblem> {
    last_seen(call, since, EventId::parse)
}

fn last_seen<T>(
    call: &HttpCall,
    since: Option<T>,
    parse: fn(&str) -> Result<T, InvalidEventId>,
) -> Result<Option<T>, RaisedProblem> {
    let Some(last) = call.header(LAST_EVENT_ID) else {
        return Ok(since);
    };
    let last = parse(&last).map_err(|invalid| {
        Problem::invalid(vec![FieldError {
            place: FieldPlace::Header,
            field: "Last-Event-ID".to_owned(),
            message: invalid.to_string(),
        }])
    });
    Ok(Some(last?))
}

impl<M: Streamed> Stream<M>
where
    Self: hyper::body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    /// The response whose body is a new stream.
    fn open(
        door: Arc<Door>,
        begun: Vec<(BegunPart<M>, Follower<M>)>,
        filter: M::Filter,
        (pass, seat): (StreamPass, StreamPermit),
    ) -> Response<Body> {
        let mut first = Vec::from(HEARTBEAT);
        let mut told = EventIds(Vec::with_capacity(begun.len()));
        let mut parts = Vec::with_capacity(begun.len());
        for (begun, follower) in begun {
            let StreamSource { partition, source } = begun.from;
            let place = match (begun.start, &partition) {
                (FeedStart::At(place), _) => place,
                (
                    FeedStart::Elsewhere {
                        first: event,
                        place,
                    },
                    None,
                ) => {
                    put_reset(event, &mut first);
                    place
                }
                (
                    FeedStart::Elsewhere {
                        first: event,
                        place,
                    },
                    Some(partition),
                ) => {
                    put_reset_in(partition, event, &mut first);
                    place
                }
            };
            told.0.push(begun.told);
            parts.push(StreamPart {
                partition,
                place,
                news: Box::pin(Arc::clone(&source.news).notified_owned()),
                source,
                _follower: follower,
            });
        }
        let stream = Self {
            parts,
            told,
            filter,
            heartbeat: Box::pin(sleep(door.limits.heartbeat)),
            first: Some(Bytes::from(first)),
            is_told: false,
            over: Box::pin(pass.over()),
            pace: StreamPace::new(Arc::clone(seat.meter())),
            _seat: seat,
            door,
        };
        endless(Body::new(stream), "text/event-stream")
    }
}

impl<M: Streamed> Stream<M> {
    /// What the feeds have for this follower now. A frame has some of each, so that none waits for another.
    fn next(&mut self) -> Option<Bytes> {
        let mut frame = Vec::new();
        for number in 0..self.parts.len() {
            self.read_part(number, &mut frame);
        }
        // A frame without bytes would end the body.
        (!frame.is_empty()).then(|| Bytes::from(frame))
    }

    /// Adds what a feed has now. `news` listens before the feed is read, so that nothing is missed between
    /// the two.
    fn read_part(&mut self, number: usize, frame: &mut Vec<u8>) {
        let Self {
            parts,
            told,
            filter,
            ..
        } = self;
        let Some(part) = parts.get_mut(number) else {
            return;
        };
        part.news
            .set(Arc::clone(&part.source.news).notified_owned());
        part.news.as_mut().enable();
        let before = frame.len();
        while frame.len() == before {
            let is_wanted = |event: &M::Event| M::is_wanted(filter, event);
            match part.source.feed.read(part.place, is_wanted) {
                Reading::Nothing => return,
                Reading::Events(events, place) => {
                    part.place = place;
                    for event in &events {
                        let Some(partition) = &part.partition else {
                            put_event(event, frame);
                            continue;
                        };
                        if let Some(last) = told.0.get_mut(number) {
                            *last = event.id();
                        }
                        put_event_in(partition, told, event, frame);
                    }
                }
                Reading::Missed {
                    events,
                    first,
                    place,
                } => {
                    part.place = place;
                    match &part.partition {
                        None => put_lagged(events, first, frame),
                        Some(partition) => put_lagged_in(partition, events, first, frame),
                    }
                }
            }
        }
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
            if self.is_told || self.over.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            if self.door.is_stopping() {
                self.is_told = true;
                return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(STOPPING)))));
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
            let mut has_news = false;
            for part in &mut self.parts {
                has_news |= part.news.as_mut().poll(cx).is_ready();
            }
            if !has_news {
                return Poll::Pending;
            }
        }
    }
}

impl<M: Streamed> fmt::Debug for Stream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("told", &self.told)
            .finish_non_exhaustive()
    }
}
