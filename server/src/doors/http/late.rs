//! Answers of travel that come later.

use std::pin::pin;

use tokio::{sync::oneshot, time};
use turnstile_embedded::Reply;
use turnstile_http::{Code, Problem};
use turnstile_travel::{Outcome, Travel};
use turnstile_types::Position;

use super::{Door, limits::LATE_AGAIN};
use crate::core::{caller::Caller, gate::Ask, quotas::Meter};

/// The reply to a command, when it has come: one that waits for a lock is answered by whoever frees
/// the lock, or by the machine's patience.
///
/// It is asked for past the courier, whose answers come in the order of their requests. A client
/// that goes away is not noticed before there is an answer for it; the machine's patience bounds
/// that too.
///
/// # Errors
/// The answer was given so long ago that it is forgotten, or the server stops.
pub(super) async fn settled(
    door: &Door,
    caller: &Caller,
    reply: Reply<Travel>,
) -> Result<Reply<Travel>, Problem> {
    let Outcome::Waiting { ticket } = reply.outcome else {
        return Ok(reply);
    };
    // It goes on waiting.
    let _pending = caller.meter().map(Meter::go_on);
    let placed = |problem| Problem {
        position: Some(reply.position),
        replayed: reply.replayed,
        ..problem
    };
    let outcome = late_outcome(door, ticket).await.map_err(placed)?;
    Ok(Reply::<Travel> { outcome, ..reply })
}

async fn late_outcome(door: &Door, ticket: Position) -> Result<Outcome, Problem> {
    let mut ending = pin!(door.ending.notified());
    ending.as_mut().enable();
    while !door.is_stopping() {
        let (reply, mut answer) = oneshot::channel();
        if door.gate.ask(Ask::Late { ticket, reply }).is_err() {
            time::sleep(LATE_AGAIN).await;
            continue;
        }
        return tokio::select! {
            biased;
            answer = &mut answer => match answer {
                Ok(Some(outcome)) => Ok(outcome),
                Ok(None) => Err(Problem::from(Code::AnswerForgotten)),
                Err(_stopped) => Err(Problem::from(Code::Unavailable)),
            },
            () = ending => break,
        };
    }
    let detail = "the server stops, and whatever is open will be aborted";
    Err(Problem::with(Code::Unavailable, detail))
}
