//! Groups that promise nothing: their answers leave at once, and the promises that follow wait.

use oneshot::{Receiver, error::TryRecvError};
use turnstile_travel::{Command, CustomerId, Done, Item, Outcome, Query, Step, Travel, Xid};

use super::*;
use crate::limits::SOFT_AGE;

const ITEM: Item = Item::Flight(7);
const CUSTOMER: CustomerId = CustomerId(1);

const ADD: Step = Step::Add {
    item: ITEM,
    count: 5,
    price: 100,
};

type Outcomes = Vec<Result<Outcome, TryRecvError>>;

impl Workbench {
    /// A loop in which the first xid has been told, and the group with it is durable.
    fn begun(overlaps: bool) -> Self {
        let mut workbench = Self::new();
        drop(workbench.travel(&Command::Start));
        workbench.turn();
        workbench.overlap(overlaps);
        assert!(!workbench.fast_loop.engine.is_open());
        workbench
    }

    /// Starts transaction 2 and asks for some steps of it.
    fn journey(
        &mut self,
        steps: impl IntoIterator<Item = Step>,
    ) -> Vec<Receiver<Executed<Travel>>> {
        let start = self.travel(&Command::Start);
        let steps = steps.into_iter().map(|step| self.within(2, step));
        [start].into_iter().chain(steps).collect()
    }

    pub(super) fn groups(&self) -> u64 {
        self.fast_loop.engine.counters.groups.get()
    }

    pub(super) fn travel_totals(&self) -> Receiver<Answered> {
        let (reply, answer) = oneshot::channel();
        let asked = self.gate.ask(Ask::Travel(Request::Query {
            caller: Caller::server(),
            query: Query::Totals,
            may_be_stale: false,
            reply,
        }));
        asked.unwrap();
        answer
    }

    /// Waits and turns as the loop does, until nothing waits for its commit.
    fn settle(&mut self) {
        let mut events = Events::with_capacity(EVENTS);
        while self.fast_loop.engine.is_open() || self.fast_loop.engine.is_under_way() {
            self.fast_loop.wait(&mut events).unwrap();
            self.fast_loop.turn().unwrap();
        }
    }
}

type Answered = crate::core::gate::Answered<Travel>;

fn outcomes(answers: &mut [Receiver<Executed<Travel>>]) -> Outcomes {
    let outcome = |answer: &mut Receiver<Executed<Travel>>| {
        let executed = answer.try_recv()?;
        Ok(executed.unwrap().outcome)
    };
    answers.iter_mut().map(outcome).collect()
}

#[test]
fn of_a_whole_transaction_only_the_commit_waits_for_the_disk() {
    for overlaps in [false, true] {
        let mut workbench = Workbench::begun(overlaps);
        let before = workbench.groups();
        let customer = Some(CUSTOMER);
        let mut answers = workbench.journey([ADD, Step::AddCustomer { customer }]);
        workbench.turn();
        let expected = [Done::Started { xid: Xid(2) }, Done::Added];
        let expected = expected.into_iter().chain([Done::CustomerAdded(CUSTOMER)]);
        let expected: Outcomes = expected.map(|done| Ok(Outcome::Done(done))).collect();
        assert_eq!(outcomes(&mut answers), expected);
        assert!(workbench.fast_loop.engine.is_open());
        assert_eq!(workbench.groups(), before);
        let mut commit = [workbench.within(2, Step::Commit)];
        workbench.turn();
        if overlaps {
            assert_eq!(outcomes(&mut commit), [Err(TryRecvError::Empty)]);
            workbench.land();
        }
        assert_eq!(outcomes(&mut commit), [Ok(Outcome::Done(Done::Committed))]);
        assert_eq!(workbench.groups(), before + 1);
        workbench.stop();
    }
}

#[test]
fn nothing_leaves_after_a_promise_before_it_is_durable() {
    let mut workbench = Workbench::begun(true);
    let mut before = workbench.journey([ADD]);
    workbench.ask(1);
    workbench.turn();
    assert_eq!(outcomes(&mut before), vec![Err(TryRecvError::Empty); 2]);
    let mut after = [workbench.within(2, Step::Query { item: ITEM })];
    workbench.fast_loop.asks_wait = true;
    workbench.fast_loop.take_asks();
    workbench.fast_loop.engine.await_landing();
    workbench.fast_loop.hand_over().unwrap();
    assert!(outcomes(&mut before).iter().all(Result::is_ok));
    assert!(outcomes(&mut after).iter().all(Result::is_ok));
    workbench.stop();
}

#[test]
fn a_group_that_promises_nothing_is_durable_before_long() {
    let mut workbench = Workbench::begun(false);
    let before = workbench.groups();
    let mut answers = workbench.journey([ADD]);
    workbench.turn();
    assert!(outcomes(&mut answers).iter().all(Result::is_ok));
    let patience = workbench.fast_loop.patience();
    assert!(
        patience.is_some_and(|patience| patience <= SOFT_AGE),
        "{patience:?}"
    );
    workbench.settle();
    assert_eq!(workbench.groups(), before + 1);
    workbench.stop();
}

#[test]
fn a_crowd_that_promises_nothing_is_made_durable() {
    let mut workbench = Workbench::begun(false);
    let answers = workbench.journey([ADD]);
    workbench.fast_loop.open.requests = TURN_REQUESTS - answers.len();
    workbench.turn();
    assert!(!workbench.fast_loop.engine.is_open());
    workbench.stop();
}

#[test]
fn what_is_open_at_the_end_is_kept() {
    let mut workbench = Workbench::begun(false);
    let answers = workbench.journey([ADD]);
    workbench.turn();
    let last = workbench.fast_loop.engine.status().backend.position;
    let record = workbench.stop();
    record.make_room().unwrap();
    let (_backend, recovery) = Embedded::open(Some(record.directory.path()), OPTIONS).unwrap();
    assert_eq!(recovery.position, last);
    drop(answers);
}

#[test]
fn a_late_answer_that_promises_nothing_leaves_at_once_and_its_event_with_the_group() {
    let mut workbench = Workbench::begun(false);
    let mut answers = workbench.journey([ADD]);
    answers.push(workbench.travel(&Command::Start));
    let item = ITEM;
    answers.push(workbench.within(3, Step::Query { item }));
    workbench.turn();
    let told = outcomes(&mut answers);
    let Some(Ok(Outcome::Waiting { ticket })) = told.last() else {
        panic!("it does not wait: {told:?}");
    };
    let mut late = workbench.wait_for(*ticket);
    workbench.turn();
    assert_eq!(late.try_recv(), Err(TryRecvError::Empty));
    let abort = workbench.travel(&Command::Abort { xid: Xid(2) });
    let mut later = workbench.wait_for(*ticket);
    workbench.turn();
    let given = Some(Outcome::Done(Done::Stock(None)));
    assert_eq!(late.try_recv(), Ok(given.clone()));
    assert_eq!(later.try_recv(), Ok(given));
    workbench.settle();
    assert_eq!(workbench.fast_loop.under_way.news.travel.events, []);
    assert_eq!(workbench.fast_loop.open.news.travel.events, []);
    let counted = workbench
        .fast_loop
        .engine
        .counters
        .of_service::<Travel>()
        .outcomes
        .iter();
    let counted: Vec<u64> = counted.map(|(_, count)| count).take(2).collect();
    assert_eq!(counted, [6, 1], "each answer is counted once");
    drop(abort);
    workbench.stop();
}

#[test]
fn the_position_of_a_query_is_one_that_no_crash_takes_back() {
    let mut workbench = Workbench::begun(false);
    let durable = workbench.fast_loop.engine.status().backend.position;
    let answers = workbench.journey([ADD]);
    let mut soft = workbench.travel_totals();
    workbench.turn();
    let (position, _) = soft.try_recv().unwrap().unwrap();
    assert_eq!(position, durable);
    let commit = workbench.within(2, Step::Commit);
    let mut firm = workbench.travel_totals();
    workbench.turn();
    let (position, _) = firm.try_recv().unwrap().unwrap();
    assert_eq!(
        position,
        workbench.fast_loop.engine.status().backend.position
    );
    drop((answers, commit));
    workbench.stop();
}
