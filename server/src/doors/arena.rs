//! One player at the arena's door: it greets, and then it plays with whom it named.

pub(crate) mod hall;

use turnstile_duel::{Entry, Player, Refusal};
use turnstile_games::{Command, Done, Games};

use crate::{
    core::{
        conversation::{ClientProof, Continuation, Conversation, FastDoor, Progress, Surroundings},
        remote::Landed,
    },
    counters::{DoorName, ErrorCode},
    doors::duel::{DuelRefusal, decided, name, order},
};

use self::hall::{
    Hall,
    ordered::{PlayerAsks, PlayerStep},
};

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
#[derive(Debug)]
pub(crate) struct PlayerSession {
    id: u64,
    entry: Entry,
    own: Option<Player>,
    ordered: PlayerWait,
}

/// What the order of a shared log is asked for this player. It is not heard before that is decided.
#[derive(Debug, Default)]
enum PlayerWait {
    #[default]
    Nothing,
    Asked(PlayerStep),
    Decided(PlayerStep, Result<Done, DuelRefusal>),
}

impl PlayerSession {
    pub(crate) fn new(id: u64) -> Self {
        Self {
            id,
            entry: Entry::default(),
            own: None,
            ordered: PlayerWait::Nothing,
        }
    }

    /// Who it is, once it has said so and was let in.
    pub(crate) const fn own(&self) -> Option<Player> {
        self.own
    }

    fn hear(
        &mut self,
        hall: &mut Hall,
        around: &mut Surroundings<'_>,
        (bytes, is_owed): (&[u8], bool),
    ) -> Result<Option<usize>, DuelRefusal> {
        let is_ordered = around.engine.is_away::<Games>();
        if is_ordered {
            self.go_on(hall, around)?;
            if self.waits() {
                return Ok(Some(0));
            }
        }
        // What it says proves that it has read what was sent before: nobody speaks while more is
        // on its way to him.
        if let (true, Some(&byte)) = (is_owed, bytes.first()) {
            return Err(Refusal::OutOfTurn { byte }.into());
        }
        let seat = self.own.and_then(|own| hall.seat_of(own));
        if let Some(seat) = seat {
            if !is_ordered {
                return hall.hear(around.engine, seat, bytes);
            }
            let heard = hall.listen(around.engine, seat, bytes)?;
            return heard
                .map(|(length, asks)| self.ask(around, asks).map(|()| length))
                .transpose();
        }
        let Some((greeting, length)) = self.entry.hear(bytes)? else {
            return Ok(None);
        };
        if is_ordered {
            let challenge = hall.admit(around.place, greeting)?;
            self.own = Some(greeting.own);
            self.ask(around, Some((challenge, PlayerStep::Challenge)))?;
            return Ok(Some(length));
        }
        hall.greet(around.engine, around.place, greeting)?;
        self.own = Some(greeting.own);
        Ok(Some(length))
    }

    fn ask(&mut self, around: &mut Surroundings<'_>, asks: PlayerAsks) -> Result<(), DuelRefusal> {
        if let Some((command, step)) = asks {
            order(around.engine, (around.place, self.id), &command)?;
            self.ordered = PlayerWait::Asked(step);
        }
        Ok(())
    }

    /// Goes on with what the order has decided, if it has.
    fn go_on(&mut self, hall: &mut Hall, around: &mut Surroundings<'_>) -> Result<(), DuelRefusal> {
        let (step, done) = match std::mem::take(&mut self.ordered) {
            PlayerWait::Decided(step, done) => (step, done),
            other => {
                self.ordered = other;
                return Ok(());
            }
        };
        let Some(own) = self.own else { return Ok(()) };
        let next = match step {
            PlayerStep::Challenge => {
                // It sits when what an earlier connection of this player asked for has begun the match:
                // then it plays that one.
                if hall.seat_of(own).is_none() {
                    if let Err(DuelRefusal::Machine(_)) = &done {
                        hall.forget(own);
                    }
                    done?;
                }
                let player = name(own);
                Some((Command::Connect { player }, PlayerStep::Connect))
            }
            PlayerStep::Connect => done.map(|_| None)?,
            PlayerStep::Begin(play) => match done {
                Ok(Done::Begun(state)) => hall.has_begun(own, Some(&state), play),
                Ok(_) => None,
                Err(why) => {
                    if let DuelRefusal::Machine(_) = &why {
                        hall.has_begun(own, None, play);
                    }
                    return Err(why);
                }
            },
            PlayerStep::Move => {
                done?;
                hall.catch_up(around.engine, own)?;
                None
            }
        };
        self.ask(around, next)
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
                next: Continuation::More,
            },
            Ok(None) => Progress {
                length: 0,
                requests: 0,
                next: Continuation::Incomplete,
            },
            Err(why) => {
                around.engine.counters.error(ErrorCode::Protocol);
                let player = self.own.map(|player| player.0);
                tracing::info!(player, %why, "a player is disconnected");
                Progress {
                    length: 0,
                    requests: 1,
                    next: Continuation::Drop,
                }
            }
        }
    }

    fn waits(&self) -> bool {
        matches!(self.ordered, PlayerWait::Asked(_))
    }

    fn put_landed(&mut self, client: u64, landed: Landed, _out: &mut Vec<u8>) {
        if let (true, PlayerWait::Asked(step), Landed::Games(landing)) =
            (client == self.id, &self.ordered, landed)
        {
            self.ordered = PlayerWait::Decided(*step, decided(landing));
        }
    }
}
