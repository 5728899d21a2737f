//! A planner, who buys journeys step by step or in one command, of what others want, too, and notes all
//! that it hears.
//!
//! What is read in a transaction is kept until its end is answered, and then told as one operation. So,
//! unlike the users of other loads, a planner allocates while it is heard.

mod itineraries;

use std::{sync::Arc, time::Instant};

use super::{
    answer::{self, Outcome, Told},
    plan::{
        ADDED, CancellableBookings, Fate, PlannedEnding, PlannerTask, STEPS_MAX, TransactionPlan,
        Wish,
    },
    request::{OPERATIONS, PlannerRequest},
    stock::NumberedStock,
};
use crate::{
    again::{KeyedUser, WitnessOf},
    door,
    pace::{self, Ended, Garbled},
};
use turnstile_check::{
    Seen,
    rooms::InlineReference,
    travel::{
        AgencyOperation, JourneyEnd, JourneyStep, ReserveAnswer, TripBooked, TripCancelled,
        TripConfirmed,
    },
};

/// Only so many planners hold trips, each one at a time: the check tries all ways in which the holds that an
/// answer bears on may be over.
const HOLDERS: usize = 8;

/// Why a whole ended otherwise than done, as far as it is told apart.
const REASONS: [&[u8]; 10] = [
    b"sold_out",
    b"itinerary_over",
    b"busy",
    b"not_held",
    b"deadlock",
    b"lock_timeout",
    b"expired",
    b"restarted",
    b"evicted",
    b"asked",
];

/// The reason of everything else.
const ENDED: &[u8] = b"ended";

/// How a transaction ended that was left open.
const LEFT: &[u8] = b"left";

/// One planner.
#[derive(Debug)]
pub(super) struct Planner {
    stock: Arc<NumberedStock>,
    plan: TransactionPlan,
    held: CancellableBookings,
    /// Whether it holds trips.
    holds: bool,
    /// One that is held, how it goes on, and when.
    hold: Option<(InlineReference, Fate, Instant)>,
    now: Instant,
    /// The transaction that is open.
    open: Option<u64>,
    /// What was answered in it so far.
    steps: Vec<JourneyStep>,
    /// A transaction that nobody goes on with: it is to be aborted, for others wait for its locks.
    dropped: Option<u64>,
    /// When the whole was due, and this planner free for it.
    due: u64,
    free: u64,
    ended: Option<pace::Answer<'static>>,
}

impl Planner {
    /// Of a run with this seed.
    pub(super) fn new(stock: &Arc<NumberedStock>, user: usize, seed: u64) -> Self {
        Self {
            plan: TransactionPlan::new(seed, user, stock.items(), stock.customers()),
            stock: Arc::clone(stock),
            held: CancellableBookings::new(),
            holds: user < HOLDERS,
            hold: None,
            now: Instant::now(),
            open: None,
            steps: Vec::new(),
            dropped: None,
            due: 0,
            free: 0,
            ended: None,
        }
    }

    fn wanted(&mut self) -> PlannerRequest {
        if let Some(xid) = self.dropped.take() {
            return PlannerRequest::Drop { xid };
        }
        if let Some(xid) = self.open {
            if let Some(wish) = self.plan.step() {
                return PlannerRequest::Within { xid, wish };
            }
            return match self.plan.ending() {
                PlannedEnding::Abort => PlannerRequest::Abort { xid },
                PlannedEnding::Commit | PlannedEnding::Leave => PlannerRequest::Commit { xid },
            };
        }
        if let Some((locator, fate, _)) = self.hold.take_if(|(_, _, when)| *when <= self.now) {
            return if fate.confirms {
                PlannerRequest::Confirm { locator }
            } else {
                let held = true;
                PlannerRequest::Cancel { locator, held }
            };
        }
        let may_hold = self.holds && self.hold.is_none();
        match self.plan.errand(!self.held.is_empty(), may_hold) {
            PlannerTask::Transaction => PlannerRequest::Start,
            PlannerTask::Hold {
                customer,
                trip,
                hold_ms,
            } => PlannerRequest::Hold {
                customer,
                trip,
                hold_ms,
            },
            PlannerTask::Book { customer, trip } => PlannerRequest::Book { customer, trip },
            PlannerTask::Cancel { over } => {
                let locator = self.held.take(over).expect("something is held");
                let held = false;
                PlannerRequest::Cancel { locator, held }
            }
        }
    }

    /// Takes an outcome.
    fn take(
        &mut self,
        what: &PlannerRequest,
        outcome: Outcome<'_>,
        witness: &mut WitnessOf<Self>,
    ) -> Result<(), Garbled> {
        match *what {
            PlannerRequest::Start => {
                self.open = Some(outcome.xid.ok_or(Garbled)?);
                self.steps = Vec::with_capacity(STEPS_MAX);
            }
            PlannerRequest::Within { wish, .. } => self.take_step(wish, outcome),
            PlannerRequest::Commit { .. } => {
                self.take_end(JourneyEnd::Committed, &outcome, witness)
            }
            PlannerRequest::Abort { .. } => self.take_end(JourneyEnd::Aborted, &outcome, witness),
            PlannerRequest::Drop { .. } => {}
            PlannerRequest::Book { customer, trip } => {
                self.take_booking((customer, trip), None, &outcome, witness)?
            }
            PlannerRequest::Hold {
                customer,
                trip,
                hold_ms,
            } => self.take_booking((customer, trip), Some(hold_ms), &outcome, witness)?,
            PlannerRequest::Cancel { locator, held } => {
                self.take_cancellation((locator, held), &outcome, witness)
            }
            PlannerRequest::Confirm { locator } => {
                self.take_confirmation(locator, &outcome, witness)
            }
        }
        Ok(())
    }

    fn take_step(&mut self, wish: Wish, outcome: Outcome<'_>) {
        let reason = outcome.reason;
        if matches!(reason, Some(b"aborted" | b"unknown_transaction")) {
            return self.end(refused(&outcome));
        }
        self.steps.push(match (wish, reason) {
            (Wish::Query { item }, None) => JourneyStep::Query {
                item,
                found: outcome.offer(),
            },
            (Wish::Bill { customer }, None) => JourneyStep::Bill {
                customer,
                found: outcome.into_bill(),
            },
            (Wish::Add { item, price }, None) => JourneyStep::Add {
                item,
                count: ADDED,
                price,
            },
            (Wish::Reserve { customer, trip }, None) => JourneyStep::Reserve {
                customer,
                trip,
                answer: ReserveAnswer::Done,
            },
            (Wish::Reserve { customer, trip }, Some(b"sold_out")) => JourneyStep::Reserve {
                customer,
                trip,
                answer: ReserveAnswer::SoldOut(outcome.item.unwrap_or(u16::MAX)),
            },
            (_, Some(_)) => JourneyStep::Strange,
        });
        self.plan.advance();
        if self.plan.step().is_none() && self.plan.ending() == PlannedEnding::Leave {
            self.end(pace::Answer::Refused(LEFT));
        }
    }

    /// The end of an interactive transaction. It had all its locks before that was asked for, and gives
    /// them back only then: the place of the command is its place in the order, whenever it is answered.
    fn take_end(&mut self, end: JourneyEnd, outcome: &Outcome<'_>, witness: &mut WitnessOf<Self>) {
        let mut steps = std::mem::take(&mut self.steps);
        match outcome.reason {
            None => {}
            Some(b"aborted" | b"unknown_transaction") => {
                witness.hears_nothing();
                return self.end(refused(outcome));
            }
            Some(b"in_doubt") => {
                let end = JourneyEnd::Unknown;
                let operation = AgencyOperation::Transaction { steps, end };
                witness.hears(Seen::Unknown, operation);
                return self.end(refused(outcome));
            }
            Some(_) => steps.push(JourneyStep::Strange),
        }
        let operation = AgencyOperation::Transaction { steps, end };
        witness.hears(Seen::At(outcome.asked_at()), operation);
        let committed = end == JourneyEnd::Committed && outcome.reason.is_none();
        self.end(if committed {
            pace::Answer::Done
        } else {
            refused(outcome)
        });
    }

    /// The transaction is over.
    fn end(&mut self, how: pace::Answer<'static>) {
        self.open = None;
        self.ended = Some(how);
    }

    /// An error says that nothing was done, unless it says that nobody knows.
    fn take_error(&mut self, what: &PlannerRequest, code: &[u8], witness: &mut WitnessOf<Self>) {
        // What is asked again may get an answer that is forgotten.
        let is_unknown = door::is_outcome_unknown(code) || code == b"ERR";
        match what {
            PlannerRequest::Start | PlannerRequest::Drop { .. } => {}
            PlannerRequest::Within { xid, .. } => self.dropped = Some(*xid),
            _ if is_unknown => witness.gives_up(self.unknown(what)),
            PlannerRequest::Commit { xid } | PlannerRequest::Abort { xid } => {
                witness.hears_nothing();
                self.dropped = Some(*xid);
            }
            PlannerRequest::Book { .. } | PlannerRequest::Hold { .. } => witness.hears_nothing(),
            PlannerRequest::Cancel { locator, held } => {
                self.stands(*locator, *held);
                witness.hears_nothing();
            }
            PlannerRequest::Confirm { locator } => {
                self.stands(*locator, true);
                witness.hears_nothing();
            }
        }
        if !matches!(what, PlannerRequest::Drop { .. }) {
            self.end(pace::Answer::Error(b"error"));
        }
    }
}

/// Why something was not done, in a word that stays.
fn refused(outcome: &Outcome<'_>) -> pace::Answer<'static> {
    let told = outcome.cause.or(outcome.reason);
    let known = told.and_then(|told| REASONS.into_iter().find(|reason| *reason == told));
    pace::Answer::Refused(known.unwrap_or(ENDED))
}

impl KeyedUser for Planner {
    type What = PlannerRequest;

    type Operation = AgencyOperation;

    const OPERATIONS: &'static [&'static str] = &OPERATIONS;

    const WHOLES: &'static [&'static str] = &["journey"];

    fn at(&mut self, now: Instant) {
        self.now = now;
    }

    fn choose(&mut self) -> Option<PlannerRequest> {
        Some(self.wanted())
    }

    fn put(&mut self, out: &mut Vec<u8>, what: &PlannerRequest, more: usize) {
        what.put(out, more, &self.stock);
    }

    fn operation(what: &PlannerRequest) -> usize {
        what.operation()
    }

    fn changes(what: &PlannerRequest) -> bool {
        what.decides()
    }

    fn is_noted(what: &PlannerRequest) -> bool {
        what.decides()
    }

    fn unknown(&mut self, what: &PlannerRequest) -> Option<AgencyOperation> {
        Some(match *what {
            PlannerRequest::Start
            | PlannerRequest::Within { .. }
            | PlannerRequest::Drop { .. }
            | PlannerRequest::Abort { .. } => {
                return None;
            }
            PlannerRequest::Commit { .. } => AgencyOperation::Transaction {
                steps: std::mem::take(&mut self.steps),
                end: JourneyEnd::Unknown,
            },
            PlannerRequest::Book { customer, trip } => AgencyOperation::Book {
                customer,
                trip,
                answer: TripBooked::Unknown,
            },
            PlannerRequest::Hold { customer, trip, .. } => AgencyOperation::Book {
                customer,
                trip,
                answer: TripBooked::HeldUnknown,
            },
            PlannerRequest::Cancel { locator, .. } => AgencyOperation::Cancel {
                locator,
                answer: TripCancelled::Unknown,
            },
            PlannerRequest::Confirm { locator } => AgencyOperation::Confirm {
                locator,
                answer: TripConfirmed::Unknown,
            },
        })
    }

    fn goes_on(&self) -> bool {
        self.open.is_some() || self.dropped.is_some()
    }

    fn lost(&mut self, what: &PlannerRequest) -> bool {
        if let PlannerRequest::Within { xid, .. } = *what {
            self.open = None;
            self.dropped = Some(xid);
        }
        what.decides()
    }

    fn heard(&mut self, what: &PlannerRequest, due: u64, free: u64) -> Option<Ended> {
        if what.begins() {
            (self.due, self.free) = (due, free);
        }
        let answer = self.ended.take()?;
        Some(Ended {
            whole: 0,
            due: self.due,
            free: self.free,
            measured: true,
            answer,
        })
    }

    fn hear_whole<'a>(
        &mut self,
        what: &PlannerRequest,
        reply: &'a [u8],
        witness: &mut WitnessOf<Self>,
    ) -> Result<pace::Answer<'a>, Garbled> {
        Ok(match answer::told(reply, &self.stock)? {
            Told::Error(code) => {
                self.take_error(what, code, witness);
                pace::Answer::Error(code)
            }
            Told::Outcome(outcome) => {
                let reason = outcome.cause.or(outcome.reason);
                self.take(what, outcome, witness)?;
                reason.map_or(pace::Answer::Done, pace::Answer::Refused)
            }
        })
    }
}
