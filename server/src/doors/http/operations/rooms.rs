//! The operations of rooms.

use std::sync::Arc;

use axum::{
    extract::State,
    http::header,
    routing::{MethodFilter, MethodRouter, on},
};
use turnstile_http::{
    Cancellation, Code, Confirmation, Extension, GuestSearch, Matches, NewBooking, NewHold,
    NewProperty, NewRoom, Problem, etag_of, matches_any,
};
use turnstile_rooms::{Answer, Command, EntryState, Query, Refusal, Rooms};

use super::{Answered, OnePath, Order, TheDoor, TwoPath, execute, read};
use crate::doors::http::{
    Door,
    call::{Call, property_in, reference_in, room_in},
    reply::{Trouble, answer_told, told_response},
};

const STAY: &[&str] = &["arrival", "departure"];

pub(super) fn function(filter: MethodFilter, id: &str) -> Option<MethodRouter<Arc<Door>>> {
    Some(match id {
        "book" => on(filter, book),
        "lookUp" => on(filter, look_up),
        "cancel" => on(filter, cancel),
        "hold" => on(filter, hold),
        "listHolds" => on(filter, list_holds),
        "extend" => on(filter, extend),
        "confirm" => on(filter, confirm),
        "release" => on(filter, release),
        "searchGuest" => on(filter, search_guest),
        "addProperty" => on(filter, add_property),
        "listProperties" => on(filter, list_properties),
        "addRoom" => on(filter, add_room),
        "withdrawRoom" => on(filter, withdraw_room),
        "stopSell" => on(filter, stop_sell),
        "resumeSell" => on(filter, resume_sell),
        "listBookings" => on(filter, list_bookings),
        "availability" => on(filter, availability),
        "explain" => on(filter, explain),
        _ => return None,
    })
}

pub(super) async fn book(State(door): TheDoor, call: Call) -> Answered {
    let order = {
        let booking: NewBooking<'_> = call.json()?;
        Order::new::<Rooms>(&call, &booking.command(door.sealing())?)?
    };
    execute::<Rooms>(&door, order).await
}

async fn look_up(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let reference = reference_in(path)?;
    call.parameters(&[]).one("")?;
    read::<Rooms>(&door, &call, Query::LookUp { reference }).await
}

/// Cancels a booking; with `If-Match`, only the version that the client saw.
///
/// The version is compared by a look-up before the command, and the two are not one step. That
/// can do no wrong: a booking changes only once, by being cancelled, so between the two it can
/// only end, and then the command itself is refused as `ended`. A hold could become a booking
/// between the two; so when the look-up shows a hold, the command is not sent at all.
async fn cancel(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let booking = reference_in(path)?;
    let order = {
        let cancellation: Cancellation<'_> = call.json()?;
        Order::new::<Rooms>(&call, &cancellation.command(booking, door.sealing())?)?
    };
    if let Some(wanted) = call.header(header::IF_MATCH) {
        let query = Query::LookUp { reference: booking };
        let (_, answer) = door.courier.query::<Rooms>(query).await?;
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
                return Err(Trouble::from(Code::from(Refusal::NotConfirmed)));
            }
        }
        // A booking that is gone may have been cancelled by this very key: the command knows.
    }
    execute::<Rooms>(&door, order).await
}

pub(super) async fn hold(State(door): TheDoor, call: Call) -> Answered {
    let order = {
        let hold: NewHold<'_> = call.json()?;
        Order::new::<Rooms>(&call, &hold.command()?)?
    };
    execute::<Rooms>(&door, order).await
}

async fn list_holds(State(door): TheDoor, call: Call) -> Answered {
    let query = call.parameters(&["limit", "cursor"]).holds()?;
    read::<Rooms>(&door, &call, query).await
}

async fn extend(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let hold = reference_in(path)?;
    let order = {
        let extension: Extension = call.json()?;
        Order::new::<Rooms>(&call, &extension.command(hold)?)?
    };
    execute::<Rooms>(&door, order).await
}

async fn confirm(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let hold = reference_in(path)?;
    let order = {
        let confirmation: Confirmation<'_> = call.json()?;
        Order::new::<Rooms>(&call, &confirmation.command(hold, door.sealing())?)?
    };
    execute::<Rooms>(&door, order).await
}

async fn release(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let hold = reference_in(path)?;
    call.no_body()?;
    call.parameters(&[]).one("")?;
    let order = Order::new::<Rooms>(&call, &Command::Release { hold })?;
    execute::<Rooms>(&door, order).await
}

/// The search of a guest's bookings: its cursor is in the body, so it has no link to the next.
async fn search_guest(State(door): TheDoor, call: Call) -> Answered {
    let search: GuestSearch<'_> = call.json()?;
    let query = search.query(door.sealing())?;
    let (position, answer) = door.courier.query::<Rooms>(query).await?;
    Ok(told_response(
        answer_told::<Rooms>(position, &answer)?,
        position,
    ))
}

async fn add_property(State(door): TheDoor, call: Call) -> Answered {
    let order = {
        let property: NewProperty<'_> = call.json()?;
        Order::new::<Rooms>(&call, &property.command()?)?
    };
    execute::<Rooms>(&door, order).await
}

async fn list_properties(State(door): TheDoor, call: Call) -> Answered {
    let query = call.parameters(&["limit", "cursor"]).properties()?;
    read::<Rooms>(&door, &call, query).await
}

async fn add_room(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let property = property_in(path)?;
    let order = {
        let room: NewRoom<'_> = call.json()?;
        Order::new::<Rooms>(&call, &room.command(property)?)?
    };
    execute::<Rooms>(&door, order).await
}

async fn withdraw_room(State(door): TheDoor, path: TwoPath, call: Call) -> Answered {
    let (property, room) = room_in(path)?;
    call.no_body()?;
    call.parameters(&[]).one("")?;
    let order = Order::new::<Rooms>(&call, &Command::WithdrawRoom { property, room })?;
    execute::<Rooms>(&door, order).await
}

async fn stop_sell(door: TheDoor, path: TwoPath, call: Call) -> Answered {
    set_sale(door, path, call, true).await
}

async fn resume_sell(door: TheDoor, path: TwoPath, call: Call) -> Answered {
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
        Order::new::<Rooms>(&call, &command)?
    };
    execute::<Rooms>(&door, order).await
}

async fn list_bookings(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let property = property_in(path)?;
    let known = ["from", "to", "room", "limit", "cursor"];
    let query = call.parameters(&known).list(property)?;
    read::<Rooms>(&door, &call, query).await
}

async fn availability(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let property = property_in(path)?;
    let known = ["arrival", "departure", "type"];
    let query = call.parameters(&known).availability(property)?;
    read::<Rooms>(&door, &call, query).await
}

async fn explain(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let property = property_in(path)?;
    let known = ["arrival", "departure", "room", "room_type"];
    let query = call.parameters(&known).explain(property)?;
    read::<Rooms>(&door, &call, query).await
}
