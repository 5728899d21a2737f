//! One operation: its command or query, carried to the loop, and the answer.

mod exchange;
mod games;
mod rooms;
mod travel;

use std::{pin::Pin, sync::Arc};

use axum::{
    body::Body,
    extract::{Path, State, rejection::PathRejection},
    http::{Request, Response, header},
    response::IntoResponse,
    routing::{MethodFilter, MethodRouter},
};
use hyper::body::Incoming;
use turnstile_http::{Matches, Problem, Told, matches_any};
use turnstile_types::{Machine, Position};

use super::{
    Door,
    call::{Call, broken_path},
    reply::{Shown, Trouble, at, link_next, not_modified, outcome_response, told_response},
};

pub(super) type Answered = Result<Response<Body>, Trouble>;
pub(super) type OnePath = Result<Path<String>, PathRejection>;
type TwoPath = Result<Path<(String, String)>, PathRejection>;
type TheDoor = State<Arc<Door>>;

/// The function of an operation of one of the services.
pub(super) fn function(filter: MethodFilter, id: &str) -> Option<MethodRouter<Arc<Door>>> {
    rooms::function(filter, id)
        .or_else(|| exchange::function(filter, id))
        .or_else(|| games::function(filter, id))
        .or_else(|| travel::function(filter, id))
}

/// A response in the making.
pub(super) type Answering = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// The function of an operation that is called without the router.
pub(super) type Direct = fn(Arc<Door>, Request<Incoming>) -> Answering;

/// The direct function of a command that comes so often that the router's price counts: on the way
/// through it, a request allocates some ten times. Its path MUST have no parameters.
pub(super) fn direct(id: &str) -> Option<Direct> {
    Some(match id {
        "book" => |door, request| answer(door, request, rooms::book),
        "hold" => |door, request| answer(door, request, rooms::hold),
        "placeOrder" => |door, request| answer(door, request, exchange::place_order),
        _ => return None,
    })
}

fn answer<F>(
    door: Arc<Door>,
    request: Request<Incoming>,
    function: impl FnOnce(TheDoor, Call) -> F + Send + 'static,
) -> Answering
where
    F: Future<Output = Answered> + Send + 'static,
{
    Box::pin(async move {
        let answered = match Call::read(request).await {
            Ok(call) => function(State(door), call).await,
            Err(trouble) => Err(trouble),
        };
        answered.into_response()
    })
}

/// Asserts that the request is all in its path.
fn bare(call: &Call) -> Result<(), Trouble> {
    call.no_body()?;
    call.parameters(&[]).one("")?;
    Ok(())
}

/// A command as the loop takes it. Requests are made into orders before anything is awaited, so
/// that what waits for an answer is small.
struct Order {
    key: Option<Box<str>>,
    command: Vec<u8>,
}

impl Order {
    fn new<M: Machine>(call: &Call, command: &M::Command<'_>) -> Result<Self, Trouble> {
        let key = call.key()?;
        let mut bytes = Vec::with_capacity(256);
        M::encode_command(command, &mut bytes);
        Ok(Self {
            key,
            command: bytes,
        })
    }
}

async fn execute<M: Shown>(door: &Door, order: Order) -> Answered {
    let reply = door.courier.command::<M>(order.key, order.command).await?;
    outcome_response::<M>(&reply)
}

/// The path's one parameter.
pub(super) fn part<T>(
    path: OnePath,
    read: impl FnOnce(&str) -> Result<T, Problem>,
) -> Result<T, Trouble> {
    let Path(text) = path.map_err(|_rejected| broken_path())?;
    Ok(read(&text)?)
}

async fn read<M: Shown>(door: &Door, call: &Call, query: M::Query) -> Answered {
    let (position, answer) = door.courier.query::<M>(query).await?;
    show(call, position, M::tell_answer(&answer))
}

/// Answers a read: with a link to the next page, or only that nothing has changed since the client
/// looked.
fn show(call: &Call, position: Position, told: Result<Told, Problem>) -> Answered {
    let mut told = at(position, told)?;
    let next = told.next.take();
    let is_known = told.etag.as_deref().is_some_and(|etag| {
        let known = call.header(header::IF_NONE_MATCH);
        known.is_some_and(|known| matches_any(known, etag, true) == Matches::Yes)
    });
    let mut response = told_response(told, position);
    if let Some(next) = next {
        link_next(&mut response, call.parts.uri.path(), call.query(), &next);
    }
    Ok(if is_known {
        not_modified(response)
    } else {
        response
    })
}
