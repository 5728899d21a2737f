//! Clients: each does one transaction after the other, and remembers what it was told.

use turnstile_travel::{Command, CustomerId, Done, Outcome, Refusal, Step, Xid};

use crate::scenery::{add, query, trip, within};

/// Numbers from a seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// One of 0 to `sides - 1`.
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % u64::try_from(sides).unwrap()).unwrap()
    }

    pub(super) fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }
}

/// A transaction of one command.
#[derive(Clone, Debug)]
pub(super) enum OneCommand {
    Book {
        customer: CustomerId,
        items: Vec<&'static str>,
    },
    /// Gives back what this transaction has booked.
    Cancel { booked: Xid },
}

/// A transaction as its client saw it.
#[derive(Clone, Debug)]
pub(super) struct Story {
    pub(super) xid: Xid,
    /// What was done and what was answered.
    pub(super) steps: Vec<(Step, Outcome)>,
    /// The one command that it was, instead of steps.
    pub(super) command: Option<OneCommand>,
    /// When it was asked to commit; all its locks were held then.
    pub(super) locked: Option<u64>,
    /// What was said about its end.
    pub(super) told: Option<Outcome>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    Nothing,
    Start(u64),
    Step(u64, Step),
    Commit(u64),
}

pub(super) struct Client {
    pub(super) story: Option<Story>,
    pub(super) waits: Waits,
}

pub(super) const ITEMS: [&str; 6] = [
    "flight-1",
    "flight-2",
    "car-rome",
    "car-oslo",
    "room-rome",
    "room-oslo",
];

pub(super) fn some_item(dice: &mut Dice) -> &'static str {
    ITEMS[dice.roll(ITEMS.len())]
}

fn some_step(dice: &mut Dice) -> Step {
    let customer = CustomerId(i32::try_from(dice.roll(3)).unwrap());
    match dice.roll(12) {
        0..=2 => query(some_item(dice)),
        3 => add(some_item(dice), 1, 10),
        4 => Step::QueryCustomer { customer },
        5 => Step::AddCustomer {
            customer: Some(customer),
        },
        6 => Step::DeleteCustomer { customer },
        7 if dice.one_in(3) => Step::Summary,
        8 => {
            let item = crate::scenery::item(some_item(dice));
            Step::Delete { item }
        }
        9 => {
            let items = [some_item(dice), some_item(dice), some_item(dice)];
            let trip = trip(&items);
            Step::Reserve { customer, trip }
        }
        _ => {
            let trip = trip(&[some_item(dice)]);
            Step::Reserve { customer, trip }
        }
    }
}

/// What a client does next.
pub(super) fn choose(dice: &mut Dice) -> Step {
    if dice.one_in(5) {
        Step::Commit
    } else {
        some_step(dice)
    }
}

impl Client {
    pub(super) const fn new() -> Self {
        Self {
            story: None,
            waits: Waits::Nothing,
        }
    }

    /// Asks for a step, or for a transaction to do it in, at this position of the coordinator; the
    /// moment counts all that happens.
    pub(super) fn ask(&mut self, step: Step, position: u64, moment: u64) -> Command {
        let Some(story) = self.story.as_mut() else {
            self.waits = Waits::Start(position);
            return Command::Start;
        };
        if step == Step::Commit {
            self.waits = Waits::Commit(position);
            story.locked = Some(moment);
        } else {
            self.waits = Waits::Step(position, step.clone());
        }
        within(story.xid.0, step)
    }

    /// It is told something; returns the story when it is over.
    pub(super) fn hear(&mut self, position: u64, outcome: &Outcome) -> Option<Story> {
        let waits = std::mem::replace(&mut self.waits, Waits::Nothing);
        match (waits, outcome) {
            (Waits::Start(at), Outcome::Done(Done::Started { xid })) if at == position => {
                self.story = Some(Story {
                    xid: *xid,
                    steps: Vec::new(),
                    command: None,
                    locked: None,
                    told: None,
                });
                None
            }
            (Waits::Step(at, step), outcome) if at == position => {
                let story = self.story.as_mut().unwrap();
                if let Outcome::Refused(Refusal::Aborted(_) | Refusal::UnknownTransaction) = outcome
                {
                    story.told = Some(outcome.clone());
                    return self.story.take();
                }
                story.steps.push((step, outcome.clone()));
                None
            }
            (Waits::Commit(at), outcome) if at == position => {
                let story = self.story.as_mut().unwrap();
                story.told = Some(outcome.clone());
                self.story.take()
            }
            (waits, _) => {
                self.waits = waits;
                None
            }
        }
    }

    /// The coordinator is lost, and with it the answer that was waited for. Whoever waits for none
    /// goes on when it is back.
    pub(super) fn lose(&mut self) -> Option<Story> {
        if self.waits == Waits::Nothing {
            None
        } else {
            self.hang_up()
        }
    }

    pub(super) fn hang_up(&mut self) -> Option<Story> {
        self.waits = Waits::Nothing;
        self.story.take()
    }
}
