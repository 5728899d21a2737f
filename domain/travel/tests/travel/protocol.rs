//! Two-phase commit as a model: three desks, and every order in which messages can arrive, be
//! doubled or be lost, disks can be synced late, and every process can crash.
//!
//! The model has the rules of the coordinator, of the desks and of their lines, and nothing of
//! what is sold. Numbers of parcels are left out: what they achieve, that each message of a life
//! is taken once, is assumed, and so is that what is lost in a life is sent again. What crosses
//! from one life to another, and what a crash takes, is all there.

mod desk;

use stateright::{Checker, Model, Property};

use desk::{At, Message, OPERATIONS, Party};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Open,
    Preparing,
    Committing,
    /// Committed, and every desk has said that it knows.
    Forgotten,
    Aborted,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    finishes: bool,
    phase: Phase,
    /// Whether the decision to commit is on the disk.
    decided: bool,
    told: bool,
    crashes: u8,
    /// Sorted, because it does not matter which desk is which.
    parties: [Party; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Ask(usize),
    Prepare,
    GiveUp,
    Sync,
    Crash,
    /// The coordinator hears of a new life of a desk.
    MeetDesk(usize),
    /// A message is taken at the coordinator.
    Hear(usize, Message),
    DeskGivesUp(usize),
    DeskSyncs(usize),
    DeskHurries(usize),
    DeskCrashes(usize),
    /// A desk hears of a new life of the coordinator.
    MeetCoordinator(usize),
    /// A message is taken at a desk.
    DeskHears(usize, Message),
}

struct Protocol {
    desks: usize,
    /// Whether each desk is asked once, and votes unasked.
    finishes: bool,
    /// How often each process may crash.
    crashes: u8,
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let absent = Party::absent();
        let mut parties = [absent; 3];
        parties[..self.desks].fill(Party::new());
        parties.sort();
        vec![State {
            finishes: self.finishes,
            phase: Phase::Open,
            decided: false,
            told: false,
            crashes: 0,
            parties,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend([Action::Prepare, Action::GiveUp, Action::Sync]);
        if state.crashes < self.crashes {
            actions.push(Action::Crash);
        }
        for (at, party) in state
            .parties
            .iter()
            .enumerate()
            .filter(|(_, party)| party.present)
        {
            actions.extend([
                Action::Ask(at),
                Action::MeetDesk(at),
                Action::DeskGivesUp(at),
                Action::DeskSyncs(at),
                Action::DeskHurries(at),
                Action::MeetCoordinator(at),
            ]);
            if party.crashes < self.crashes {
                actions.push(Action::DeskCrashes(at));
            }
            let messages = || Message::ALL.into_iter();
            actions.extend(
                messages()
                    .filter(|one| party.said(*one))
                    .map(|one| Action::Hear(at, one)),
            );
            actions.extend(
                messages()
                    .filter(|one| party.told(*one))
                    .map(|one| Action::DeskHears(at, one)),
            );
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        next.act(action);
        next.parties.sort();
        (next != *last).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("nobody commits what another aborts", |_, state| {
                !(state.any(At::is_committed) && state.any(|at| at == At::Aborted))
            }),
            Property::<Self>::always("what a client was told stays", |_, state| {
                !state.told || !state.any(|at| at == At::Aborted)
            }),
            Property::<Self>::always(
                "nothing of a committed transaction is missing",
                |_, state| {
                    state.present().all(|party| match party.at {
                        At::Committed(operations) => operations == OPERATIONS,
                        _ => true,
                    })
                },
            ),
            Property::<Self>::always(
                "a decision stands on votes that are on the disk",
                |_, state| !state.decided || state.present().all(Party::is_promised),
            ),
            Property::<Self>::always(
                "when nothing more can happen, nobody waits",
                |model: &Self, state| {
                    state.present().all(|party| party.at.has_ended())
                        || !model.next_steps(state).is_empty()
                },
            ),
            Property::<Self>::sometimes("all commit", |_, state| {
                state.phase == Phase::Forgotten
                    && state.present().all(|party| party.at.is_committed())
            }),
            Property::<Self>::sometimes("all commit after all have crashed", |model, state| {
                state.phase == Phase::Forgotten
                    && state.crashes == model.crashes
                    && state.present().all(|party| party.crashes == model.crashes)
            }),
            Property::<Self>::sometimes(
                "one that voted yes waits for the coordinator",
                |_, state| {
                    state.phase == Phase::Aborted && state.any(|at| matches!(at, At::Prepared(_)))
                },
            ),
        ]
    }
}

impl State {
    fn present(&self) -> impl Iterator<Item = &Party> {
        self.parties.iter().filter(|party| party.present)
    }

    fn any(&self, holds: impl Fn(At) -> bool) -> bool {
        self.present().any(|party| holds(party.at))
    }

    fn each(&mut self, act: impl FnMut(&mut Party)) {
        self.parties
            .iter_mut()
            .filter(|party| party.present)
            .for_each(act);
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Ask(at) => {
                let party = &mut self.parties[at];
                if self.phase == Phase::Open
                    && party.answered == party.asked
                    && party.asked < OPERATIONS
                {
                    if self.finishes {
                        party.asked = OPERATIONS;
                        return party.tell(Message::Finish);
                    }
                    party.asked += 1;
                    party.tell(Message::Operate(party.asked));
                }
            }
            Action::Prepare => {
                if self.phase == Phase::Open
                    && self.present().all(|party| party.answered == OPERATIONS)
                {
                    self.phase = Phase::Preparing;
                    if !self.finishes {
                        self.each(|party| party.tell(Message::Prepare));
                    }
                    self.decide_when_all_have_voted();
                }
            }
            Action::GiveUp => {
                if matches!(self.phase, Phase::Open | Phase::Preparing) {
                    self.abort();
                }
            }
            Action::Sync => self.sync(),
            Action::Crash => self.crash(),
            Action::MeetDesk(at) => self.meet_desk(at),
            Action::Hear(at, message) => self.hear(at, message),
            Action::DeskGivesUp(at) => self.parties[at].give_up(),
            Action::DeskSyncs(at) => self.parties[at].sync(),
            Action::DeskHurries(at) => self.parties[at].hurry(),
            Action::DeskCrashes(at) => self.parties[at].crash(),
            Action::MeetCoordinator(at) => self.parties[at].meet_coordinator(),
            Action::DeskHears(at, message) => self.parties[at].hear(message),
        }
    }

    fn decide_when_all_have_voted(&mut self) {
        if self.phase == Phase::Preparing && self.present().all(|party| party.voted) {
            self.phase = Phase::Committing;
        }
    }

    fn abort(&mut self) {
        self.phase = Phase::Aborted;
        self.each(|party| party.tell(Message::Abort));
    }

    /// The decision is durable before it is sent and before the client is told.
    fn sync(&mut self) {
        if self.phase == Phase::Committing && !self.decided {
            self.decided = true;
            self.told = true;
            self.each(|party| party.tell(Message::Commit));
        }
    }

    /// What is not on the disk is aborted; what is decided is said again in the new life.
    fn crash(&mut self) {
        self.crashes += 1;
        self.each(Party::lose_coordinator);
        if self.decided {
            self.phase = Phase::Committing;
            self.each(|party| {
                party.acknowledged = false;
                party.tell(Message::Commit);
            });
        } else {
            self.phase = Phase::Aborted;
        }
    }

    fn meet_desk(&mut self, at: usize) {
        let party = &mut self.parties[at];
        if party.known_by_coordinator {
            return;
        }
        party.known_by_coordinator = true;
        party.forget_told();
        match self.phase {
            Phase::Open | Phase::Preparing if !self.parties[at].voted => self.abort(),
            Phase::Committing if self.decided && !self.parties[at].acknowledged => {
                self.parties[at].tell(Message::Commit);
            }
            _ => {}
        }
    }

    fn hear(&mut self, at: usize, message: Message) {
        let phase = self.phase;
        let party = &mut self.parties[at];
        if !party.known_by_coordinator {
            return;
        }
        match (message, phase) {
            (Message::Done(number), Phase::Open) => {
                party.answered = party.answered.max(number);
            }
            (Message::Yes, Phase::Open | Phase::Preparing) => {
                party.voted = true;
                self.decide_when_all_have_voted();
            }
            // Presumed abort: what is not known was aborted.
            (Message::Yes, Phase::Aborted | Phase::Forgotten) => party.tell(Message::Abort),
            (Message::No, Phase::Open | Phase::Preparing) => self.abort(),
            (Message::Ended, Phase::Committing) => {
                party.acknowledged = true;
                if self.present().all(|party| party.acknowledged) {
                    self.phase = Phase::Forgotten;
                }
            }
            _ => {}
        }
    }
}

/// Visits every state. The properties hold, those that must be possible are, and there are so
/// many states.
fn check(protocol: Protocol, states: usize) {
    let checker = protocol.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    assert_eq!(checker.unique_state_count(), states);
}

#[test]
fn three_desks_agree_in_every_state_when_each_process_may_crash_once() {
    let finishes = false;
    check(
        Protocol {
            desks: 3,
            finishes,
            crashes: 1,
        },
        498_234,
    );
}

#[test]
fn two_desks_agree_in_every_state_when_each_process_may_crash_three_times() {
    let finishes = false;
    check(
        Protocol {
            desks: 2,
            finishes,
            crashes: 3,
        },
        153_634,
    );
}

#[test]
fn three_desks_that_vote_unasked_agree_in_every_state_when_each_process_may_crash_once() {
    let finishes = true;
    check(
        Protocol {
            desks: 3,
            finishes,
            crashes: 1,
        },
        355_756,
    );
}

#[test]
fn two_desks_that_vote_unasked_agree_in_every_state_when_each_process_may_crash_three_times() {
    let finishes = true;
    check(
        Protocol {
            desks: 2,
            finishes,
            crashes: 3,
        },
        125_895,
    );
}
