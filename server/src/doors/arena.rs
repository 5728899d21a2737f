//! One player at the arena's door: it greets, and then it plays with whom it named.

pub(crate) mod hall;

use turnstile_duel::{Entry, Player, Refusal};

use crate::{
    core::conversation::{ClientProof, Conversation, FastDoor, Next, Progress, Surroundings},
    counters::{DoorName, ErrorCode},
    doors::duel::Refused,
};

use self::hall::Hall;

/// The door where two play on the ancestor's wire, which has no word for a refusal and no requests that
/// come in parts.
pub(crate) static ARENA: FastDoor = FastDoor {
    name: DoorName::Arena,
    refusal: |_why| Vec::new(),
    most: None,
    serves_early: false,
    has_frames: false,
    proof: ClientProof::Certificate,
};

/// The player's side of the conversation. What it hears, the [`Hall`] sends.
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

    fn hear(
        &mut self,
        hall: &mut Hall,
        around: &mut Surroundings<'_>,
        (bytes, is_owed): (&[u8], bool),
    ) -> Result<Option<usize>, Refused> {
        // What it says proves that it has read what was sent before: nobody speaks while more is
        // on its way to him.
        if let (true, Some(&byte)) = (is_owed, bytes.first()) {
            return Err(Refusal::OutOfTurn { byte }.into());
        }
        let seat = self.own.and_then(|own| hall.seat_of(own));
        if let Some(seat) = seat {
            return hall.hear(around.engine, seat, bytes);
        }
        let Some((greeting, length)) = self.entry.hear(bytes)? else {
            return Ok(None);
        };
        hall.greet(around.engine, around.place, greeting)?;
        self.own = Some(greeting.own);
        Ok(Some(length))
    }
}

impl Conversation for PlayerSession {
    type Shared = Hall;

    fn door(&self) -> &'static FastDoor {
        &ARENA
    }

    /// Takes what is said at the start of the input. Who has not been sent all that it is to hear must
    /// not speak.
    fn run(
        &mut self,
        hall: &mut Hall,
        around: &mut Surroundings<'_>,
        (bytes, _budget): (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        match self.hear(hall, around, (bytes, !out.is_empty())) {
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
                tracing::info!(player, %why, "a player is disconnected");
                Progress {
                    length: 0,
                    requests: 1,
                    next: Next::Drop,
                }
            }
        }
    }
}
