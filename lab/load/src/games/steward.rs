//! A steward: asks over RESP what its plan wants, for any player. With a witness it asks under keys until each
//! answer is known, and tells all that it hears.

use std::sync::Arc;

use turnstile_check::games::{ClubAnswer, ClubOperation, ClubRequest};

use super::{
    answer::{self, PlayerNames},
    plan::StewardPlan,
    words,
};
use crate::{
    again::{KeyedReply, KeyedUser, WitnessOf},
    door,
    pace::{Answer, Ended, Garbled, ParsedAnswer},
    reply::Brief,
};

/// One steward. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub(crate) struct Steward<P> {
    pub(super) plan: P,
    names: Arc<PlayerNames>,
}

impl<P> Steward<P> {
    pub(crate) const fn new(plan: P, names: Arc<PlayerNames>) -> Self {
        Self { plan, names }
    }
}

impl<P: StewardPlan> KeyedUser for Steward<P> {
    type What = ClubRequest;

    type Operation = ClubOperation;

    const OPERATIONS: &'static [&'static str] = P::OPERATIONS;

    const WHOLES: &'static [&'static str] = P::WHOLES;

    fn choose(&mut self) -> Option<ClubRequest> {
        self.plan.choose()
    }

    fn put(&mut self, out: &mut Vec<u8>, what: &ClubRequest, more: usize) {
        words::put(out, what, more, &self.names);
    }

    fn operation(what: &ClubRequest) -> usize {
        P::operation(what)
    }

    fn changes(what: &ClubRequest) -> bool {
        !what.is_reading()
    }

    fn unknown(&mut self, what: &ClubRequest) -> Option<ClubOperation> {
        let (ask, answer) = (*what, ClubAnswer::Unknown);
        (!what.is_reading()).then_some(ClubOperation { ask, answer })
    }

    fn goes_on(&self) -> bool {
        self.plan.goes_on()
    }

    fn heard(&mut self, what: &ClubRequest, due: u64, free: u64) -> Option<Ended> {
        self.plan.heard(what, due, free)
    }

    fn lost(&mut self, _what: &ClubRequest) -> bool {
        self.plan.lost();
        true
    }

    fn disconnected(&mut self) -> bool {
        self.plan.disconnected()
    }

    fn hear_briefly<'a>(
        &mut self,
        what: &ClubRequest,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let Some((reply, length)) = Brief::read(bytes)? else {
            return Ok(None);
        };
        let answer = match reply {
            Brief::Error(code) => {
                if door::is_outcome_unknown(code) {
                    self.plan.lost();
                }
                self.plan.fails(code);
                Answer::Error(code)
            }
            Brief::Refused(reason) => {
                self.plan.fails(reason);
                Answer::Refused(reason)
            }
            Brief::Done(_) => {
                let answer = answer::done_briefly(&bytes[..length], what, &self.names)?;
                self.plan.learn(what, &answer);
                Answer::Done
            }
        };
        Ok(Some(ParsedAnswer { length, answer }))
    }

    fn hear_whole<'a>(
        &mut self,
        what: &ClubRequest,
        reply: &'a [u8],
        witness: &mut WitnessOf<Self>,
    ) -> Result<Answer<'a>, Garbled> {
        let reply = answer::told(reply, what, &self.names)?;
        if let KeyedReply::Answered { answer, .. } = &reply {
            self.plan.learn(what, answer);
        }
        let ask = *what;
        let operation = |answer| ClubOperation { ask, answer };
        Ok(witness.takes(reply, self.unknown(what), operation))
    }
}
