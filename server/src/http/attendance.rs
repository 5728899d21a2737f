//! Which players have a socket, and the arena's knowing it.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::time;
use turnstile_embedded::Reply;
use turnstile_games::{Command, Games, PlayerId};
use turnstile_http::Problem;
use turnstile_types::Machine;

use super::{Door, limits::CANCEL_AGAIN};

/// How many sockets each player has.
///
/// The arena is told that a player has gone when the last socket has. What it is told goes into the
/// loop's queue under the lock, so that the queue has comings and goings in their order.
#[derive(Debug, Default)]
pub(super) struct Attendance(Mutex<HashMap<PlayerId, u32>>);

impl Attendance {
    fn sockets(&self) -> MutexGuard<'_, HashMap<PlayerId, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell(
    door: &Door,
    command: &Command,
) -> impl Future<Output = Result<Reply<Games>, Problem>> + use<> {
    let mut bytes = Vec::with_capacity(64);
    Games::encode_command(command, &mut bytes);
    door.courier.command::<Games>(None, bytes)
}

/// Counts one more socket of a player, and says that the player is there. Each MUST be followed by
/// [`leave`].
pub(super) fn come(
    door: &Door,
    player: PlayerId,
) -> impl Future<Output = Result<Reply<Games>, Problem>> + use<> {
    let mut sockets = door.attendance.sockets();
    *sockets.entry(player).or_default() += 1;
    tell(door, &Command::Connect { player })
}

/// A socket of a player has ended; comes back when the arena knows it, where it was the last. What
/// the loop does not take now is tried again, unless the player is back.
///
/// A server that stops tells nobody's going: it is not the players' fault, and when it begins anew
/// all of them have just gone.
pub(super) async fn leave(door: &Door, player: PlayerId) {
    {
        let mut sockets = door.attendance.sockets();
        if let Some(count) = sockets.get_mut(&player) {
            *count -= 1;
            if *count > 0 {
                return;
            }
        }
        sockets.remove(&player);
    }
    while !door.is_stopping() {
        let told = {
            let sockets = door.attendance.sockets();
            if sockets.contains_key(&player) {
                return;
            }
            tell(door, &Command::Disconnect { player })
        };
        match told.await {
            Ok(_told) => return,
            Err(problem) if problem.code.retryable() => time::sleep(CANCEL_AGAIN).await,
            Err(problem) => {
                tracing::error!(%problem, %player, "a player's going was not told");
                return;
            }
        }
    }
}
