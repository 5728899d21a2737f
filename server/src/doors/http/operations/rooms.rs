//! The operations of rooms that take `If-Match`.

use std::sync::Arc;

use axum::http::header;
use turnstile_http::{Code, Problem, Served as _, TagMatch, etag_of_number, matches_any};
use turnstile_rooms::{Answer, Command, EntryState, Query, Reference, Refusal, Rooms};

use super::{Answered, Order, execute};
use crate::doors::http::{Door, call::HttpCall, reply::RaisedProblem};

/// Cancels a booking; with `If-Match`, only the version that the client saw.
pub(super) async fn cancel(door: Arc<Door>, call: HttpCall, place: usize) -> Answered {
    let (order, booking) = {
        let given = call.given()?;
        let command = Rooms::read_command(place, &given, door.sealing())?;
        let order = Order::new::<Rooms>(&call, &command)?;
        let (Command::Cancel { booking, .. } | Command::CancelForGuest { booking, .. }) = command
        else {
            return execute::<Rooms>(&door, &call, order).await;
        };
        (order, booking)
    };
    if let Some(wanted) = call.header(header::IF_MATCH) {
        assert_version((&door, &call), booking, &wanted).await?;
    }
    execute::<Rooms>(&door, &call, order).await
}

/// The version is compared by a look-up before the command, and the two are not one step. If the booking
/// ends between the two, the command itself is refused as `ended`. If it moves between the two, it is
/// cancelled all the same, as if the move had come first and nobody had said a version. A hold could become a booking
/// between the two; so when the look-up shows a hold, the command is not sent at all.
async fn assert_version(
    (door, call): (&Door, &HttpCall),
    booking: Reference,
    wanted: &str,
) -> Result<(), RaisedProblem> {
    let query = Query::LookUp { reference: booking };
    let caller = call.visitor.caller.clone().uncounted();
    let found = door.courier.query::<Rooms>(&caller, query);
    let answer = match found.await {
        Ok((_, answer)) => answer,
        // Nobody has a right for a booking that is gone. Whether the caller had it, the command knows.
        Err(problem) if problem.code == Code::MissingRight => return Ok(()),
        Err(problem) => return Err(problem.into()),
    };
    let Answer::Entry(entry) = &answer else {
        // A booking that is gone may have been cancelled by this very key: the command knows.
        return Ok(());
    };
    let etag = etag_of_number(entry.position.0);
    if matches_any(wanted, &etag, false) != TagMatch::Yes {
        let detail = format!("it is {etag} now");
        return Err(RaisedProblem::from(Problem::with(
            Code::PreconditionFailed,
            detail,
        )));
    }
    if entry.state != EntryState::Booked {
        return Err(RaisedProblem::from(Code::from(Refusal::NotConfirmed)));
    }
    Ok(())
}
