//! The operations of the rooms service: read, carried to the loop, answered.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State, rejection::PathRejection},
    http::{Response, header},
};
use turnstile_http::{
    Cancellation, Code, Confirmation, Extension, GuestSearch, Matches, NewBooking, NewHold,
    NewProperty, NewRoom, Problem, etag_of, matches_any,
};
use turnstile_rooms::{Answer, Command, EntryState, Query, Refusal, Rooms};
use turnstile_types::Machine;

use super::{
    Door,
    call::{Call, property_in, reference_in, room_in},
    reply::{Trouble, answer_response, link_next, not_modified, outcome_response},
};

pub(super) type Answered = Result<Response<Body>, Trouble>;
type OnePath = Result<Path<String>, PathRejection>;
type TwoPath = Result<Path<(String, String)>, PathRejection>;
type TheDoor = State<Arc<Door>>;

const STAY: &[&str] = &["arrival", "departure"];

/// A command as the loop takes it. Requests are made into orders before anything is awaited, so
/// that what waits for an answer is small.
struct Order {
    key: Option<Box<str>>,
    command: Vec<u8>,
}

impl Order {
    fn new(call: &Call, command: &Command<'_>) -> Result<Self, Trouble> {
        let key = call.key()?;
        let mut bytes = Vec::with_capacity(256);
        Rooms::encode_command(command, &mut bytes);
        Ok(Self {
            key,
            command: bytes,
        })
    }
}

async fn execute(door: &Door, order: Order) -> Answered {
    let reply = door.courier.command(order.key, order.command).await?;
    outcome_response(&reply)
}

async fn read(door: &Door, call: &Call, query: Query) -> Answered {
    let (position, answer) = door.courier.query(query).await?;
    let mut response = answer_response(position, &answer)?;
    let next = match &answer {
        Answer::Page(page) => page.next,
        Answer::Properties { next, .. } => *next,
        Answer::Entry(_)
        | Answer::Availability(_)
        | Answer::Explanation(_)
        | Answer::Totals(_)
        | Answer::Refused(_) => None,
    };
    if let Some(next) = next {
        let cursor = turnstile_http::cursor_text(next);
        link_next(&mut response, call.parts.uri.path(), call.query(), &cursor);
    }
    Ok(response)
}

pub(super) async fn book(State(door): TheDoor, call: Call) -> Answered {
    let order = {
        let booking: NewBooking<'_> = call.json()?;
        Order::new(&call, &booking.command(door.sealing())?)?
    };
    execute(&door, order).await
}

pub(super) async fn look_up(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let reference = reference_in(path)?;
    call.parameters(&[]).one("")?;
    let response = read(&door, &call, Query::LookUp { reference }).await?;
    let etag = response.headers().get(header::ETAG);
    let etag = etag.and_then(|etag| etag.to_str().ok()).unwrap_or_default();
    let unchanged = call
        .header(header::IF_NONE_MATCH)
        .is_some_and(|known| matches_any(known, etag, true) == Matches::Yes);
    Ok(if unchanged {
        not_modified(response)
    } else {
        response
    })
}

/// Cancels a booking; with `If-Match`, only the version that the client saw.
///
/// The version is compared by a look-up before the command, and the two are not one step. That
/// can do no wrong: a booking changes only once, by being cancelled, so between the two it can
/// only end, and then the command itself is refused as `ended`. A hold could become a booking
/// between the two; so when the look-up shows a hold, the command is not sent at all.
pub(super) async fn cancel(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let booking = reference_in(path)?;
    let order = {
        let cancellation: Cancellation<'_> = call.json()?;
        Order::new(&call, &cancellation.command(booking, door.sealing())?)?
    };
    if let Some(wanted) = call.header(header::IF_MATCH) {
        let query = Query::LookUp { reference: booking };
        let (_, answer) = door.courier.query(query).await?;
        if let Answer::Entry(entry) = answer {
            let etag = etag_of(entry.position);
            if matches_any(wanted, &etag, false) != Matches::Yes {
                let detail = format!("it is {etag} now");
                return Err(Trouble::from(Problem::with(
                    Code::PreconditionFailed,
                    detail,
                )));
            }
            if entry.state != EntryState::Booked {
                return Err(Trouble::from(Code::Refused(Refusal::NotConfirmed)));
            }
        }
        // A booking that is gone may have been cancelled by this very key: the command knows.
    }
    execute(&door, order).await
}

pub(super) async fn hold(State(door): TheDoor, call: Call) -> Answered {
    let order = {
        let hold: NewHold<'_> = call.json()?;
        Order::new(&call, &hold.command()?)?
    };
    execute(&door, order).await
}

pub(super) async fn list_holds(State(door): TheDoor, call: Call) -> Answered {
    let query = call.parameters(&["limit", "cursor"]).holds()?;
    read(&door, &call, query).await
}

pub(super) async fn extend(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let hold = reference_in(path)?;
    let order = {
        let extension: Extension = call.json()?;
        Order::new(&call, &extension.command(hold)?)?
    };
    execute(&door, order).await
}

pub(super) async fn confirm(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let hold = reference_in(path)?;
    let order = {
        let confirmation: Confirmation<'_> = call.json()?;
        Order::new(&call, &confirmation.command(hold, door.sealing())?)?
    };
    execute(&door, order).await
}

pub(super) async fn release(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let hold = reference_in(path)?;
    call.no_body()?;
    call.parameters(&[]).one("")?;
    let order = Order::new(&call, &Command::Release { hold })?;
    execute(&door, order).await
}

/// The search of a guest's bookings: its cursor is in the body, so it has no link to the next.
pub(super) async fn search_guest(State(door): TheDoor, call: Call) -> Answered {
    let search: GuestSearch<'_> = call.json()?;
    let query = search.query(door.sealing())?;
    let (position, answer) = door.courier.query(query).await?;
    answer_response(position, &answer)
}

pub(super) async fn add_property(State(door): TheDoor, call: Call) -> Answered {
    let order = {
        let property: NewProperty<'_> = call.json()?;
        Order::new(&call, &property.command()?)?
    };
    execute(&door, order).await
}

pub(super) async fn list_properties(State(door): TheDoor, call: Call) -> Answered {
    let query = call.parameters(&["limit", "cursor"]).properties()?;
    read(&door, &call, query).await
}

pub(super) async fn add_room(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let property = property_in(path)?;
    let order = {
        let room: NewRoom<'_> = call.json()?;
        Order::new(&call, &room.command(property)?)?
    };
    execute(&door, order).await
}

pub(super) async fn withdraw_room(State(door): TheDoor, path: TwoPath, call: Call) -> Answered {
    let (property, room) = room_in(path)?;
    call.no_body()?;
    call.parameters(&[]).one("")?;
    let order = Order::new(&call, &Command::WithdrawRoom { property, room })?;
    execute(&door, order).await
}

pub(super) async fn stop_sell(door: TheDoor, path: TwoPath, call: Call) -> Answered {
    set_sale(door, path, call, true).await
}

pub(super) async fn resume_sell(door: TheDoor, path: TwoPath, call: Call) -> Answered {
    set_sale(door, path, call, false).await
}

async fn set_sale(State(door): TheDoor, path: TwoPath, call: Call, stopped: bool) -> Answered {
    let (property, room) = room_in(path)?;
    call.no_body()?;
    let order = {
        let stay = call.parameters(STAY).stay()?;
        let command = Command::StopSell {
            property,
            room,
            stay,
            stopped,
        };
        Order::new(&call, &command)?
    };
    execute(&door, order).await
}

pub(super) async fn list_bookings(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let property = property_in(path)?;
    let known = ["from", "to", "room", "limit", "cursor"];
    let query = call.parameters(&known).list(property)?;
    read(&door, &call, query).await
}

pub(super) async fn availability(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let property = property_in(path)?;
    let known = ["arrival", "departure", "type"];
    let query = call.parameters(&known).availability(property)?;
    read(&door, &call, query).await
}

pub(super) async fn explain(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let property = property_in(path)?;
    let known = ["arrival", "departure", "room", "room_type"];
    let query = call.parameters(&known).explain(property)?;
    read(&door, &call, query).await
}
