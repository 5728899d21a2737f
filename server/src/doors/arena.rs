//! One player at the arena's door: it greets, and then it plays with whom it named.

pub(crate) mod hall;

use turnstile_duel::{Entry, Player, Refusal};

use crate::{
    core::conversation::{Next, Progress},
    counters::ErrorCode,
    doors::{arena::hall::Refused, resp::Surroundings},
};

/// The player's side of the conversation. What it hears, the [`Hall`](crate::doors::arena::hall::Hall) sends.
#[derive(Debug, Default)]
pub(crate) struct PlayerSession {
    entry: Entry,
    own: Option<Player>,
}

impl PlayerSession {
    /// Who it is, once it has said so and was let in.
    pub(crate) const fn own(&self) -> Option<Player> {
        self.own
    }

    /// Takes what is said at the start of `bytes`. `is_owed`: it has not been sent all that it is to
    /// hear.
    pub(crate) fn run(
        &mut self,
        around: &mut Surroundings<'_>,
        bytes: &[u8],
        is_owed: bool,
    ) -> Progress {
        match self.hear(around, bytes, is_owed) {
            Ok(Some(length)) => Progress {
                length,
                requests: 1,
                next: Next::More,
            },
            Ok(None) => Progress {
                length: 0,
                requests: 0,
                next: Next::Incomplete,
            },
            Err(why) => {
                around.engine.counters.error(ErrorCode::Protocol);
                let player = self.own.map(|player| player.0);
                tracing::info!(player, %why, "a player is not served any more");
                Progress {
                    length: 0,
                    requests: 1,
                    next: Next::Drop,
                }
            }
        }
    }

    fn hear(
        &mut self,
        around: &mut Surroundings<'_>,
        bytes: &[u8],
        is_owed: bool,
    ) -> Result<Option<usize>, Refused> {
        // What it says proves that it has read what was sent before: nobody speaks while more is
        // on its way to him.
        if let (true, Some(&byte)) = (is_owed, bytes.first()) {
            return Err(Refusal::OutOfTurn { byte }.into());
        }
        let seat = self.own.and_then(|own| around.hall.seat_of(own));
        if let Some(seat) = seat {
            return around.hall.hear(around.engine, seat, bytes);
        }
        let Some((greeting, length)) = self.entry.hear(bytes)? else {
            return Ok(None);
        };
        around.hall.greet(around.engine, around.place, greeting)?;
        self.own = Some(greeting.own);
        Ok(Some(length))
    }
}
