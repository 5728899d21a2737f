//! Which players have a socket, the arena's knowing it, and what wakes them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::Notify, time};
use turnstile_embedded::Reply;
use turnstile_games::{Command, Games, PlayerId};
use turnstile_http::{Problem, games::concerned};

use super::{Door, limits::CANCEL_AGAIN};
use crate::core::{
    caller::Caller,
    feed::{Place, Reading},
};

/// The sockets of each player.
///
/// The arena is told that a player has gone when the last socket has. What it is told goes into the
/// loop's queue under the lock, so that the queue has comings and goings in their order.
///
/// One task reads the feed for all of them and rings for whom an event concerns. If each read it, ten
/// thousand who rest would be woken by every move of two.
#[derive(Debug, Default)]
pub(super) struct Attendance(Mutex<HashMap<PlayerId, Vec<Arc<Bell>>>>);

/// What wakes one socket.
#[derive(Debug, Default)]
pub(super) struct Bell {
    notify: Notify,
    /// Where the first event lies that it rang for and that was not asked for since.
    place: Mutex<Option<Place>>,
}

impl Attendance {
    fn sockets(&self) -> MutexGuard<'_, HashMap<PlayerId, Vec<Arc<Bell>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes every socket, that it looks whether the server stops.
    pub(super) fn wake_all(&self) {
        for bell in self.sockets().values().flatten() {
            bell.notify.notify_one();
        }
    }
}

impl Bell {
    fn ring(&self, place: Place) {
        let mut first = self.place();
        *first = Some(first.unwrap_or(place));
        self.notify.notify_one();
    }

    /// Returns when it has rung since this was awaited last.
    pub(super) async fn rung(&self) {
        self.notify.notified().await;
    }

    /// Where the first event lies that it rang for since this was asked last.
    pub(super) fn take(&self) -> Option<Place> {
        self.place().take()
    }

    fn place(&self) -> MutexGuard<'_, Option<Place>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads what has happened in games from this place on, and rings for whom it concerns; answers the
/// place after it.
pub(super) fn call(door: &Door, mut place: Place) -> Place {
    loop {
        match door.sources.games.feed.read(place, |_| true) {
            Reading::Nothing => return place,
            Reading::Events(events, next) => {
                let sockets = door.attendance.sockets();
                for event in &events {
                    let concerned = concerned(event).into_iter().flatten();
                    let bells = concerned.filter_map(|player| sockets.get(&player));
                    bells.flatten().for_each(|bell| bell.ring(place));
                }
                place = next;
            }
            // Nobody knows whom that concerned. Whoever is too late for it as well is told so.
            Reading::Missed { place: next, .. } => {
                let sockets = door.attendance.sockets();
                sockets.values().flatten().for_each(|bell| bell.ring(place));
                place = next;
            }
        }
    }
}

/// Notes one more socket of a player, and says that the player is there. Each MUST be followed by
/// [`leave`] with the same bell.
pub(super) fn come(
    (door, caller): (&Door, &Caller),
    player: PlayerId,
    bell: &Arc<Bell>,
) -> impl Future<Output = Result<Reply<Games>, Problem>> + use<> {
    let mut sockets = door.attendance.sockets();
    sockets.entry(player).or_default().push(Arc::clone(bell));
    door.courier
        .execute::<Games>(caller, None, &Command::Connect { player })
}

/// A socket of a player has ended; comes back when the arena knows it, where it was the last. What
/// the loop does not take now is tried again, unless the player is back.
///
/// A server that stops tells nobody's going: it is not the players' fault, and when it begins anew
/// all of them have just gone.
pub(super) async fn leave((door, caller): (&Door, &Caller), player: PlayerId, bell: &Arc<Bell>) {
    {
        let mut sockets = door.attendance.sockets();
        if let Some(bells) = sockets.get_mut(&player) {
            bells.retain(|other| !Arc::ptr_eq(other, bell));
            if !bells.is_empty() {
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
            let gone = Command::Disconnect { player };
            door.courier.execute::<Games>(caller, None, &gone)
        };
        match told.await {
            Ok(_told) => return,
            Err(problem) if problem.code.retryable() => time::sleep(CANCEL_AGAIN).await,
            Err(problem) => {
                tracing::error!(%problem, %player, "cannot report that a player disconnected");
                return;
            }
        }
    }
}
