//! The operations of travel.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    routing::{MethodFilter, MethodRouter, on},
};
use turnstile_http::{
    Problem,
    travel::{
        self, About, NewCustomer, NewItinerary, NewReservation, NewStock, Resolution, customer_in,
        item_in, locator_in, tell_answer, tell_outcome, xid_in,
    },
};
use turnstile_travel::{Command, Query, Step, Travel, Xid};

use super::{Answered, OnePath, Order, TheDoor, TwoPath, bare, part, show};
use crate::doors::http::{
    Door,
    call::{Call, broken_path},
    late::settled,
    reply::{Trouble, done_response},
};

pub(super) fn function(filter: MethodFilter, id: &str) -> Option<MethodRouter<Arc<Door>>> {
    Some(match id {
        "startTransaction" => on(filter, start),
        "listTransactions" => on(filter, list),
        "getTransaction" => on(filter, get),
        "resolveTransaction" => on(filter, resolve),
        "addStock" => on(filter, add_stock),
        "readStock" => on(filter, read_stock),
        "deleteItem" => on(filter, delete_item),
        "addCustomer" => on(filter, add_customer),
        "readSummary" => on(filter, read_summary),
        "readBill" => on(filter, read_bill),
        "deleteCustomer" => on(filter, delete_customer),
        "reserve" => on(filter, reserve),
        "commitTransaction" => on(filter, commit),
        "abortTransaction" => on(filter, abort),
        "bookItinerary" => on(filter, book),
        "getItinerary" => on(filter, get_itinerary),
        "confirmItinerary" => on(filter, confirm),
        "cancelItinerary" => on(filter, cancel),
        "listItems" => on(filter, list_items),
        "getBill" => on(filter, get_bill),
        "travelTotals" => on(filter, totals),
        _ => return None,
    })
}

/// A path's two parameters: a transaction, and what is asked of it.
fn parts<T>(
    path: TwoPath,
    read: impl FnOnce(&str) -> Result<T, Problem>,
) -> Result<(Xid, T), Trouble> {
    let Path((xid, text)) = path.map_err(|_rejected| broken_path())?;
    Ok((xid_in(&xid)?, read(&text)?))
}

/// A command whose request was read, until there is an answer, however late. It needs no more of
/// the request than its key, and that while the command is kept only in bytes.
async fn execute(door: &Door, order: Order, about: About) -> Answered {
    let reply = door.courier.command::<Travel>(order.key, order.command);
    let reply = settled(door, reply.await?).await?;
    let told = tell_outcome(about, reply.position, reply.replayed, &reply.outcome)?;
    Ok(done_response::<Travel>(told, &reply))
}

fn command(call: &Call, command: &Command) -> Result<(Order, About), Trouble> {
    Ok((Order::new::<Travel>(call, command)?, About::of(command)))
}

fn step(call: &Call, xid: Xid, step: Step) -> Result<(Order, About), Trouble> {
    command(call, &Command::Within { xid, step })
}

async fn read(door: &Door, call: &Call, query: Query) -> Answered {
    let (position, answer) = door.courier.query::<Travel>(query).await?;
    show(call, position, tell_answer(&query, &answer))
}

async fn start(State(door): TheDoor, call: Call) -> Answered {
    bare(&call)?;
    let (order, about) = command(&call, &Command::Start)?;
    execute(&door, order, about).await
}

async fn list(State(door): TheDoor, call: Call) -> Answered {
    let query = travel::transactions(call.parameters(&["state", "limit", "cursor"]))?;
    read(&door, &call, query).await
}

async fn get(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let xid = part(path, xid_in)?;
    call.parameters(&[]).one("")?;
    read(&door, &call, Query::Transaction { xid }).await
}

async fn resolve(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let xid = part(path, xid_in)?;
    let (order, about) = command(&call, &call.json::<Resolution<'_>>()?.command(xid)?)?;
    execute(&door, order, about).await
}

async fn add_stock(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let xid = part(path, xid_in)?;
    let (order, about) = step(&call, xid, call.json::<NewStock<'_>>()?.step()?)?;
    execute(&door, order, about).await
}

async fn read_stock(State(door): TheDoor, path: TwoPath, call: Call) -> Answered {
    let (xid, item) = parts(path, item_in)?;
    bare(&call)?;
    let (order, about) = step(&call, xid, Step::Query { item })?;
    execute(&door, order, about).await
}

async fn delete_item(State(door): TheDoor, path: TwoPath, call: Call) -> Answered {
    let (xid, item) = parts(path, item_in)?;
    bare(&call)?;
    let (order, about) = step(&call, xid, Step::Delete { item })?;
    execute(&door, order, about).await
}

async fn add_customer(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let xid = part(path, xid_in)?;
    let (order, about) = step(&call, xid, call.json::<NewCustomer>()?.step())?;
    execute(&door, order, about).await
}

async fn read_summary(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let xid = part(path, xid_in)?;
    bare(&call)?;
    let (order, about) = step(&call, xid, Step::Summary)?;
    execute(&door, order, about).await
}

async fn read_bill(State(door): TheDoor, path: TwoPath, call: Call) -> Answered {
    let (xid, customer) = parts(path, customer_in)?;
    bare(&call)?;
    let (order, about) = step(&call, xid, Step::QueryCustomer { customer })?;
    execute(&door, order, about).await
}

async fn delete_customer(State(door): TheDoor, path: TwoPath, call: Call) -> Answered {
    let (xid, customer) = parts(path, customer_in)?;
    bare(&call)?;
    let (order, about) = step(&call, xid, Step::DeleteCustomer { customer })?;
    execute(&door, order, about).await
}

async fn reserve(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let xid = part(path, xid_in)?;
    let (order, about) = step(&call, xid, call.json::<NewReservation<'_>>()?.step()?)?;
    execute(&door, order, about).await
}

async fn commit(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let xid = part(path, xid_in)?;
    bare(&call)?;
    let (order, about) = step(&call, xid, Step::Commit)?;
    execute(&door, order, about).await
}

async fn abort(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let xid = part(path, xid_in)?;
    bare(&call)?;
    let (order, about) = command(&call, &Command::Abort { xid })?;
    execute(&door, order, about).await
}

async fn book(State(door): TheDoor, call: Call) -> Answered {
    let (order, about) = command(&call, &call.json::<NewItinerary<'_>>()?.command()?)?;
    execute(&door, order, about).await
}

async fn get_itinerary(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let locator = part(path, locator_in)?;
    call.parameters(&[]).one("")?;
    read(&door, &call, Query::Itinerary { locator }).await
}

async fn confirm(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let locator = part(path, locator_in)?;
    bare(&call)?;
    let (order, about) = command(&call, &Command::Confirm { locator })?;
    execute(&door, order, about).await
}

async fn cancel(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let locator = part(path, locator_in)?;
    bare(&call)?;
    let (order, about) = command(&call, &Command::Cancel { locator })?;
    execute(&door, order, about).await
}

async fn list_items(State(door): TheDoor, call: Call) -> Answered {
    let query = travel::items(call.parameters(&["desk", "limit", "cursor"]))?;
    read(&door, &call, query).await
}

async fn get_bill(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let customer = part(path, customer_in)?;
    call.parameters(&[]).one("")?;
    read(&door, &call, Query::Customer { customer }).await
}

async fn totals(State(door): TheDoor, call: Call) -> Answered {
    call.parameters(&[]).one("")?;
    read(&door, &call, Query::Totals).await
}
