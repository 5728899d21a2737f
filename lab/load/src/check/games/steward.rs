//! A steward, who acts for any player as others do, too, and notes all that it hears.

use std::{sync::Arc, time::Instant};

use turnstile_check::{
    Seen, Witness,
    games::{ClubAnswer, ClubOperation, ClubRequest, MatchDeed},
};

use super::{
    answer::{self, GamesReply, PlayerNames},
    plan::StewardPlan,
    words,
};
use crate::{
    again::{self, Ask, Insistent, KEY_WORDS, Unanswered},
    pace::{self, Garbled, Heard, User},
    reply,
    seed::Dice,
};

/// One steward. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub(super) struct Steward {
    plan: StewardPlan,
    witness: Witness<ClubOperation>,
    names: Arc<PlayerNames>,
    unanswered: Unanswered<StewardRequest>,
}

/// What a steward asked; the key is nothing to a reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct StewardRequest {
    ask: ClubRequest,
    key: u64,
}

impl Steward {
    /// In a run that begins at this position, behind the match of this number.
    pub(super) fn new(
        pace: &pace::Pace,
        (position, before): (u64, u64),
        (names, players): (Arc<PlayerNames>, u16),
        witness: Witness<ClubOperation>,
    ) -> Self {
        let user = u64::try_from(witness.user()).expect("users are bounded");
        Self {
            plan: StewardPlan::new(Dice::of_user(pace.seed, user), players, before),
            unanswered: Unanswered::new(position, witness.user(), pace.pipeline),
            witness,
            names,
        }
    }
}

impl Insistent for Steward {
    type What = StewardRequest;

    fn unanswered(&mut self) -> &mut Unanswered<StewardRequest> {
        &mut self.unanswered
    }

    fn choose(&mut self) -> StewardRequest {
        self.witness.asks();
        let ask = self.plan.next();
        let key = self.unanswered.next_key();
        StewardRequest { ask, key }
    }

    fn put(&mut self, out: &mut Vec<u8>, what: &StewardRequest) {
        if what.ask.is_reading() {
            return words::put(out, &what.ask, 0, &self.names);
        }
        words::put(out, &what.ask, KEY_WORDS, &self.names);
        self.unanswered.put_key(out, what.key);
    }

    fn gives_up(&mut self, what: &StewardRequest) {
        if what.ask.is_reading() {
            self.witness.hears_nothing();
        } else {
            let (ask, answer) = (what.ask, ClubAnswer::Unknown);
            self.witness
                .hears(Seen::Unknown, ClubOperation { ask, answer });
        }
    }
}

impl User for Steward {
    type Ask = Ask<StewardRequest>;

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

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask<StewardRequest>> {
        Some(again::ask(self, out))
    }

    fn operation(ask: &Ask<StewardRequest>) -> usize {
        match ask.what.ask {
            ClubRequest::Challenge { .. } => 0,
            ClubRequest::Seek { .. } => 1,
            ClubRequest::Withdraw { .. } => 2,
            ClubRequest::Begin { .. } => 3,
            ClubRequest::Act { deed, .. } => match deed {
                MatchDeed::Move { .. } => 4,
                MatchDeed::Resign => 5,
                MatchDeed::Abort => 6,
                MatchDeed::Offer | MatchDeed::Accept | MatchDeed::Decline => 7,
            },
            ClubRequest::Match { .. }
            | ClubRequest::Player { .. }
            | ClubRequest::Standing { .. }
            | ClubRequest::Against { .. } => 8,
        }
    }

    fn hear<'a>(
        &mut self,
        ask: &Ask<StewardRequest>,
        bytes: &'a [u8],
    ) -> Result<Option<Heard<'a>>, Garbled> {
        let Some(whole) = reply::whole(bytes, ask.greets)? else {
            return Ok(None);
        };
        let length = whole.end;
        let what = &ask.what;
        let answer = match answer::told(&bytes[whole], &what.ask, &self.names)? {
            GamesReply::Error(code) => {
                if reply::is_unknown(code) {
                    self.gives_up(what);
                } else {
                    self.witness.hears_nothing();
                }
                pace::Answer::Error(code)
            }
            GamesReply::Answered {
                position,
                answer,
                refused,
            } => {
                self.plan.learn(&what.ask, &answer);
                let ask = what.ask;
                let seen = position.map_or(Seen::Reading, Seen::At);
                self.witness.hears(seen, ClubOperation { ask, answer });
                refused.map_or(pace::Answer::Done, pace::Answer::Refused)
            }
        };
        Ok(Some(Heard { length, answer }))
    }

    fn lost(&mut self, ask: &Ask<StewardRequest>) {
        self.unanswered.lose(ask.what);
    }
}
