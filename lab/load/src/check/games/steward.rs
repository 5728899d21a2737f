//! A steward, who acts for any player as others do, too, and notes all that it hears.

use std::{sync::Arc, time::Instant};

use turnstile_check::{
    Seen, Witness,
    games::{Answer, Ask as Question, Deed, Operation},
};

use super::{
    answer::{self, Names, Told},
    plan::Plan,
    words,
};
use crate::{
    check::again::{self, Ask, Insistent, Unanswered},
    pace::{self, Garbled, Heard, User},
    reply,
    seed::Dice,
};

/// Words that are a key.
const KEY_WORDS: usize = 2;

/// One steward. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub(super) struct Steward {
    plan: Plan,
    witness: Witness<Operation>,
    names: Arc<Names>,
    unanswered: Unanswered<What>,
}

/// What a steward asked; the key is nothing to a reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct What {
    ask: Question,
    key: u64,
}

impl Steward {
    /// In a run that begins at this position, behind the match of this number.
    pub(super) fn new(
        pace: &pace::Pace,
        (position, before): (u64, u64),
        (names, players): (Arc<Names>, u16),
        witness: Witness<Operation>,
    ) -> Self {
        let user = u64::try_from(witness.user()).expect("users are bounded");
        Self {
            plan: Plan::new(Dice::of_user(pace.seed, user), players, before),
            unanswered: Unanswered::new(position, witness.user(), pace.pipeline),
            witness,
            names,
        }
    }
}

impl Insistent for Steward {
    type What = What;

    fn unanswered(&mut self) -> &mut Unanswered<What> {
        &mut self.unanswered
    }

    fn choose(&mut self) -> What {
        self.witness.asks();
        let ask = self.plan.next();
        let key = self.unanswered.next_key();
        What { ask, key }
    }

    fn put(&mut self, out: &mut Vec<u8>, what: &What) {
        if what.ask.is_reading() {
            return words::put(out, &what.ask, 0, &self.names);
        }
        words::put(out, &what.ask, KEY_WORDS, &self.names);
        self.unanswered.put_key(out, what.key);
    }

    fn gives_up(&mut self, what: &What) {
        if what.ask.is_reading() {
            self.witness.hears_nothing();
        } else {
            let (ask, answer) = (what.ask, Answer::Unknown);
            self.witness.hears(Seen::Unknown, Operation { ask, answer });
        }
    }
}

impl User for Steward {
    type Ask = Ask<What>;

    const OPERATIONS: &'static [&'static str] = &[
        "challenge",
        "seek",
        "withdraw",
        "begin",
        "move",
        "resign",
        "abort",
        "draw",
        "look",
    ];

    const REQUEST_BYTES_MAX: usize = 512;

    fn at(&mut self, now: Instant) {
        self.witness.at(now);
    }

    fn connected(&mut self) {
        self.unanswered.connected();
    }

    fn goes_on(&self) -> bool {
        !self.unanswered.is_empty()
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask<What>> {
        Some(again::ask(self, out))
    }

    fn operation(ask: &Ask<What>) -> usize {
        match ask.what.ask {
            Question::Challenge { .. } => 0,
            Question::Seek { .. } => 1,
            Question::Withdraw { .. } => 2,
            Question::Begin { .. } => 3,
            Question::Act { deed, .. } => match deed {
                Deed::Move { .. } => 4,
                Deed::Resign => 5,
                Deed::Abort => 6,
                Deed::Offer | Deed::Accept | Deed::Decline => 7,
            },
            Question::Match { .. }
            | Question::Player { .. }
            | Question::Standing { .. }
            | Question::Against { .. } => 8,
        }
    }

    fn hear<'a>(&mut self, ask: &Ask<What>, bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
        let Some(whole) = reply::whole(bytes, ask.greets)? else {
            return Ok(None);
        };
        let length = whole.end;
        let what = &ask.what;
        let answer = match answer::told(&bytes[whole], &what.ask, &self.names)? {
            Told::Error(code) => {
                if reply::is_unknown(code) {
                    self.gives_up(what);
                } else {
                    self.witness.hears_nothing();
                }
                pace::Answer::Error(code)
            }
            Told::Answered {
                position,
                answer,
                refused,
            } => {
                self.plan.learn(&what.ask, &answer);
                let ask = what.ask;
                let seen = position.map_or(Seen::Reading, Seen::At);
                self.witness.hears(seen, Operation { ask, answer });
                refused.map_or(pace::Answer::Done, pace::Answer::Refused)
            }
        };
        Ok(Some(Heard { length, answer }))
    }

    fn lost(&mut self, ask: &Ask<What>) {
        self.unanswered.lose(ask.what);
    }
}
