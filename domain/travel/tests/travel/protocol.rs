//! Two-phase commit as a model: three desks, and every order in which messages can arrive, be
//! doubled or be lost, disks can be synced late, and every process can crash.
//!
//! The model has the rules of the coordinator, of the desks and of their lines, and nothing of
//! what is sold. Numbers of parcels are left out: what they achieve, that each message of a life
//! is taken once, is assumed, and so is that what is lost in a life is sent again. What crosses
//! from one life to another, and what a crash takes, is all there.

mod desk;
mod flaws;
mod properties;

use stateright::{Checker, Model, Property};

use desk::{Message, OPERATIONS, Party};

/// How the coordinator comes to a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Way {
    /// Each desk is asked for its vote, and the decision is on the disk before it is told.
    Asks,
    /// The same, but each desk is asked once for everything, and votes unasked.
    VotesUnasked,
    /// Desks vote unasked, and that they are to vote goes to the disk meanwhile: with that and all
    /// votes it is committed, and the client is told. The decision follows.
    Stages,
}

/// A rule that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Flaw {
    /// The client is told before it is on the disk that desks are to vote.
    TellsTooEarly,
    /// What is staged is given up, and that is told before it is on the disk.
    GivesUpUnsynced,
    /// What may be committed already is given up when a restart has waited too long.
    GivesUpInDoubt,
    /// A restart aborts what is staged, as if nobody could have been told.
    RestartAborts,
    /// Desks are sent the decision before it is on the disk.
    SendsUnsynced,
    /// An operator may abort at a desk what may be committed already.
    OperatorAborts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Open,
    Preparing,
    /// As before, and on its way to the disk: a restart asks for the votes again.
    Staged,
    /// A restart has found it staged: perhaps it was committed, and the client told.
    Doubtful,
    /// It was staged and is given up, which nobody hears before it is on the disk.
    Undoing,
    Committing,
    /// Committed, and every desk has said that it knows.
    Forgotten,
    Aborted,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a model's state is the product of small facts"
)]
struct State {
    way: Way,
    flaw: Option<Flaw>,
    phase: Phase,
    /// Whether it is on the disk that desks are to vote.
    staged: bool,
    /// Whether the decision to commit is on the disk.
    decided: bool,
    /// Whether somebody was told that it is committed.
    told: bool,
    /// Whether somebody was told that it is aborted.
    refused: bool,
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
    /// The client is told what is committed, and the decision is not on the disk yet.
    Tell,
    Crash,
    /// The coordinator hears of a new life of a desk.
    MeetDesk(usize),
    /// A message is taken at the coordinator.
    Hear(usize, Message),
    DeskGivesUp(usize),
    DeskSyncs(usize),
    DeskHurries(usize),
    /// An operator ends there what waits for the decision.
    Resolve(usize, bool),
    DeskCrashes(usize),
    /// A desk hears of a new life of the coordinator.
    MeetCoordinator(usize),
    /// A message is taken at a desk.
    DeskHears(usize, Message),
}

struct Protocol {
    desks: usize,
    way: Way,
    flaw: Option<Flaw>,
    /// Whether operators decide at desks.
    operated: bool,
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
            way: self.way,
            flaw: self.flaw,
            phase: Phase::Open,
            staged: false,
            decided: false,
            told: false,
            refused: false,
            crashes: 0,
            parties,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend([Action::Prepare, Action::GiveUp, Action::Sync, Action::Tell]);
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
            if self.operated {
                actions.extend([true, false].map(|commit| Action::Resolve(at, commit)));
            }
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
        properties::all(self.way)
    }
}

impl State {
    fn present(&self) -> impl Iterator<Item = &Party> {
        self.parties.iter().filter(|party| party.present)
    }

    fn any(&self, holds: impl FnMut(&Party) -> bool) -> bool {
        self.present().any(holds)
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
                    if self.way != Way::Asks {
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
                    self.prepare();
                }
            }
            Action::GiveUp => self.give_up(),
            Action::Sync => self.sync(),
            Action::Tell => {
                let early = self.flaw == Some(Flaw::TellsTooEarly);
                if self.phase == Phase::Committing && (self.staged || early) {
                    self.told = true;
                }
            }
            Action::Crash => self.crash(),
            Action::MeetDesk(at) => self.meet_desk(at),
            Action::Hear(at, message) => self.hear(at, message),
            Action::DeskGivesUp(at) => self.parties[at].give_up(),
            Action::DeskSyncs(at) => self.parties[at].sync(),
            Action::DeskHurries(at) => self.parties[at].hurry(),
            Action::Resolve(at, commit) => {
                if commit || self.flaw == Some(Flaw::OperatorAborts) {
                    self.parties[at].resolve(commit);
                }
            }
            Action::DeskCrashes(at) => self.parties[at].crash(),
            Action::MeetCoordinator(at) => self.parties[at].meet_coordinator(),
            Action::DeskHears(at, message) => self.parties[at].hear(message),
        }
    }

    fn prepare(&mut self) {
        self.phase = match self.way {
            Way::Asks | Way::VotesUnasked => Phase::Preparing,
            Way::Stages => Phase::Staged,
        };
        if self.way == Way::Asks {
            self.each(|party| party.tell(Message::Prepare));
        }
        self.decide_when_all_have_voted();
    }

    fn decide_when_all_have_voted(&mut self) {
        let gathers = matches!(
            self.phase,
            Phase::Preparing | Phase::Staged | Phase::Doubtful
        );
        if gathers && self.present().all(|party| party.voted) {
            self.phase = Phase::Committing;
            if self.flaw == Some(Flaw::SendsUnsynced) {
                self.each(|party| party.tell(Message::Commit));
            }
        }
    }

    /// Somebody asks for it, or it takes too long.
    fn give_up(&mut self) {
        match self.phase {
            Phase::Staged if self.flaw == Some(Flaw::GivesUpUnsynced) => self.abort(),
            Phase::Doubtful if self.flaw == Some(Flaw::GivesUpInDoubt) => self.abort(),
            Phase::Open | Phase::Preparing => self.abort(),
            Phase::Staged => self.phase = Phase::Undoing,
            _ => {}
        }
    }

    fn abort(&mut self) {
        self.phase = Phase::Aborted;
        self.refused = true;
        self.each(|party| party.tell(Message::Abort));
    }

    /// What the coordinator knows is on the disk. A decision is there before it is sent, and so is
    /// the end of what was staged.
    fn sync(&mut self) {
        match self.phase {
            Phase::Committing if !self.decided => {
                self.decided = true;
                self.told = true;
                self.each(|party| party.tell(Message::Commit));
            }
            Phase::Staged => self.staged = true,
            Phase::Undoing => {
                self.staged = false;
                self.abort();
            }
            _ => {}
        }
        if self.way == Way::Stages {
            self.each(|party| party.noted = party.voted);
        }
    }

    /// What is decided is said again in the new life; for what is staged the votes are asked for
    /// that are not known; and everything else is aborted.
    fn crash(&mut self) {
        self.crashes += 1;
        self.each(Party::lose_coordinator);
        if self.decided {
            self.phase = Phase::Committing;
            self.each(|party| {
                party.acknowledged = false;
                party.tell(Message::Commit);
            });
        } else if self.staged && self.flaw != Some(Flaw::RestartAborts) {
            self.phase = Phase::Doubtful;
            self.each(|party| {
                party.voted = party.noted;
                party.inquire();
            });
            self.decide_when_all_have_voted();
        } else {
            self.phase = Phase::Aborted;
            self.refused = true;
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
            Phase::Staged if !self.parties[at].voted => self.phase = Phase::Undoing,
            Phase::Doubtful => self.parties[at].inquire(),
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
            // What an operator has committed at a desk is as good as its vote.
            (Message::Yes, Phase::Open | Phase::Preparing | Phase::Staged | Phase::Doubtful)
            | (Message::Ended, Phase::Staged | Phase::Doubtful) => {
                party.voted = true;
                self.decide_when_all_have_voted();
            }
            // Presumed abort: what is not known was aborted.
            (Message::Yes, Phase::Aborted | Phase::Forgotten) => party.tell(Message::Abort),
            (Message::No, Phase::Open | Phase::Preparing) => self.abort(),
            (Message::No, Phase::Staged | Phase::Doubtful) => self.phase = Phase::Undoing,
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

const fn protocol(desks: usize, way: Way, crashes: u8) -> Protocol {
    Protocol {
        desks,
        way,
        flaw: None,
        operated: false,
        crashes,
    }
}

#[test]
fn three_desks_agree_in_every_state_when_each_process_may_crash_once() {
    check(protocol(3, Way::Asks, 1), 498_234);
}

#[test]
fn two_desks_agree_in_every_state_when_each_process_may_crash_three_times() {
    check(protocol(2, Way::Asks, 3), 153_634);
}

#[test]
fn three_desks_that_vote_unasked_agree_in_every_state_when_each_process_may_crash_once() {
    check(protocol(3, Way::VotesUnasked, 1), 355_756);
}

#[test]
fn two_desks_that_vote_unasked_agree_in_every_state_when_each_process_may_crash_three_times() {
    check(protocol(2, Way::VotesUnasked, 3), 125_895);
}

#[test]
fn three_desks_agree_in_every_state_on_what_is_staged_when_each_process_may_crash_once() {
    check(protocol(3, Way::Stages, 1), 918_348);
}

#[test]
fn two_desks_agree_in_every_state_on_what_is_staged_when_each_process_may_crash_three_times() {
    check(protocol(2, Way::Stages, 3), 269_007);
}

#[test]
fn what_operators_commit_at_desks_takes_nothing_back_of_what_is_staged() {
    let operated = true;
    let protocol = protocol(2, Way::Stages, 2);
    check(
        Protocol {
            operated,
            ..protocol
        },
        565_801,
    );
}
