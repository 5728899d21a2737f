//! Commands and queries, carried to the loop, and their answers.

mod rooms;

use std::{pin::Pin, sync::Arc};

use axum::{
    body::Body,
    http::{Response, header},
};
use turnstile_embedded::Reply;
use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_http::{
    Method, Problem, Served, Service, TagMatch, Told, matches_any, tell_answer, tell_outcome,
};
use turnstile_rooms::Rooms;
use turnstile_travel::Travel;
use turnstile_types::{Machine, Position, Timestamp};

use super::{
    Door,
    call::HttpCall,
    courier::Carried,
    late::settled,
    reply::{ENTRY_AGE, RaisedProblem, done_response, link_next, not_modified, told_response},
};
use crate::core::{caller::Caller, clock};

pub(super) type Answered = Result<Response<Body>, RaisedProblem>;

/// An answer in the making.
pub(super) type AnswerFuture = Pin<Box<dyn Future<Output = Answered> + Send>>;

/// A service whose operations this door answers.
trait Settles: Carried + Served + Machine<Query: Send, Outcome: Send, Answer: Send> {
    /// The reply to a command once it is final.
    fn settle(
        _door: &Door,
        _caller: &Caller,
        reply: Reply<Self>,
    ) -> impl Future<Output = Result<Reply<Self>, Problem>> + Send {
        async { Ok(reply) }
    }
}

impl Settles for Rooms {}

impl Settles for Exchange {}

impl Settles for Games {}

impl Settles for Travel {
    async fn settle(
        door: &Door,
        caller: &Caller,
        reply: Reply<Self>,
    ) -> Result<Reply<Self>, Problem> {
        settled(door, caller, reply).await
    }
}

macro_rules! plain {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        $(impl Settles for turnstile_services::$name::$machine {})+
    };
}

turnstile_services::plain_services!(plain);

macro_rules! answers {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// Answers the command of a service at this place.
        pub(super) fn answer_command(
            service: Service,
            place: usize,
            (door, call): (Arc<Door>, HttpCall),
        ) -> AnswerFuture {
            match service {
                Service::Rooms if call.operation.has_precondition => {
                    Box::pin(rooms::cancel(door, call, place))
                }
                $(Service::$machine => Box::pin(command::<turnstile_services::$name::$machine>(door, call, place)),)+
            }
        }

        /// Answers the query of a service at this place.
        pub(super) fn answer_query(
            service: Service,
            place: usize,
            (door, call): (Arc<Door>, HttpCall),
        ) -> AnswerFuture {
            match service {
                $(Service::$machine => Box::pin(query::<turnstile_services::$name::$machine>(door, call, place)),)+
            }
        }
    };
}

turnstile_services::services!(answers);

/// A command as the loop takes it. Requests are made into orders before anything is awaited, so
/// that what waits for an answer is small.
struct Order<A> {
    key: Option<Box<str>>,
    command: Vec<u8>,
    about: A,
}

impl<A> Order<A> {
    fn new<M: Served<About = A>>(
        call: &HttpCall,
        command: &M::Command<'_>,
    ) -> Result<Self, RaisedProblem> {
        let key = call.key()?;
        let mut bytes = Vec::with_capacity(256);
        M::encode_command(command, &mut bytes);
        Ok(Self {
            key,
            command: bytes,
            about: M::about(command),
        })
    }
}

async fn command<M: Settles>(door: Arc<Door>, call: HttpCall, place: usize) -> Answered {
    let order = {
        let given = call.given()?;
        let command = M::read_command(place, &given, door.sealing())?;
        Order::new::<M>(&call, &command)?
    };
    execute::<M>(&door, &call, order).await
}

async fn execute<M: Settles>(door: &Door, call: &HttpCall, order: Order<M::About>) -> Answered {
    let Order {
        key,
        command,
        about,
    } = order;
    let reply = door
        .courier
        .command::<M>(&call.visitor.caller, key, command)
        .await?;
    let reply = M::settle(door, &call.visitor.caller, reply).await?;
    let place = (reply.position, reply.replayed);
    let told = tell_outcome::<M>(call.operation, about, place, &reply.outcome)?;
    Ok(done_response::<M>(told, &reply))
}

async fn query<M: Settles>(door: Arc<Door>, call: HttpCall, place: usize) -> Answered {
    let query = {
        let given = call.given()?;
        M::read_query(place, &given, door.sealing())?
    };
    let (caller, may_be_stale) = (&call.visitor.caller, call.may_be_stale);
    let asked = door.courier.query_as::<M>(caller, query, may_be_stale);
    let (position, answer) = asked.await?;
    let told = tell_answer::<M>(call.operation, &query, &answer);
    let mut shown = show(&call, position, told)?;
    let entry_ms = door.counters.entry_ms.get();
    if may_be_stale && entry_ms > 0 {
        let age_ms = clock::system().wall.ms_since(Timestamp(entry_ms));
        shown.headers_mut().insert(ENTRY_AGE, age_ms.into());
    }
    Ok(shown)
}

/// Answers a read: with a link to the next page, or only that nothing has changed since the client
/// looked.
fn show(call: &HttpCall, position: Position, told: Result<Told, Problem>) -> Answered {
    let mut told = told.map_err(|refused| Problem {
        position: Some(position),
        ..refused
    })?;
    let next = told.next.take();
    let is_known = told.etag.as_deref().is_some_and(|etag| {
        let known = call.header(header::IF_NONE_MATCH);
        known
            .as_ref()
            .is_some_and(|known| matches_any(known, etag, true) == TagMatch::Yes)
    });
    let mut response = told_response(told, position);
    // A cursor in a body is in no link.
    if let Some(next) = next.filter(|_| call.operation.method == Method::Get) {
        link_next(&mut response, call.parts.uri.path(), call.query(), &next);
    }
    Ok(if is_known {
        not_modified(response)
    } else {
        response
    })
}
