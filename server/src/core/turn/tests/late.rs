//! Answers of travel that come later, and what is told of them.

use oneshot::{Receiver, error::TryRecvError};
use turnstile_travel::{Command, CustomerId, Done, Item, Outcome, Query, Step, Stock, Travel, Xid};

use super::*;

const FLIGHT: Item = Item::Flight(7);

/// What was added of it.
const STOCK: Stock = Stock {
    free: 5,
    reserved: 0,
    price: 100,
};

impl Workbench {
    pub(super) fn travel(&self, command: &Command) -> Receiver<Executed<Travel>> {
        let (reply, answer) = oneshot::channel();
        let mut bytes = Vec::new();
        Travel::encode_command(command, &mut bytes);
        let asked = self.gate.ask(Ask::Travel(Request::Command {
            caller: Caller::server(),
            key: None,
            command: bytes,
            reply,
        }));
        asked.unwrap();
        answer
    }

    pub(super) fn within(&self, xid: u64, step: Step) -> Receiver<Executed<Travel>> {
        let xid = Xid(xid);
        self.travel(&Command::Within { xid, step })
    }

    /// Asks for a late answer.
    pub(super) fn wait_for(&self, ticket: Position) -> Receiver<Option<Outcome>> {
        let (reply, answer) = oneshot::channel();
        self.gate.ask(Ask::Late { ticket, reply }).unwrap();
        answer
    }

    /// Transaction 1 has a flight, and transaction 2 waits for it, under the ticket that is answered.
    fn block(&mut self) -> Position {
        let (count, price) = (STOCK.free, STOCK.price);
        let item = FLIGHT;
        let before = [
            self.travel(&Command::Start),
            self.within(1, Step::Add { item, count, price }),
            self.travel(&Command::Start),
        ];
        let mut waiting = self.within(2, Step::Query { item });
        self.turn();
        self.land();
        for mut answer in before {
            let outcome = answer.try_recv().unwrap().unwrap().outcome;
            assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
        }
        let reply = waiting.try_recv().unwrap().unwrap();
        let ticket = reply.position;
        assert_eq!(reply.outcome, Outcome::Waiting { ticket });
        ticket
    }

    fn waiters(&self) -> u64 {
        self.fast_loop.engine.counters.late_waiters.get()
    }

    /// How often these were counted: done, and told to wait.
    fn counted(&self) -> Vec<u64> {
        let outcomes = &self
            .fast_loop
            .engine
            .counters
            .of_service::<Travel>()
            .outcomes;
        outcomes.iter().map(|(_, count)| count).take(2).collect()
    }
}

#[test]
fn a_late_answer_leaves_when_the_group_that_gives_it_is_durable() {
    for overlaps in [false, true] {
        let mut workbench = Workbench::new();
        workbench.overlap(overlaps);
        let ticket = workbench.block();
        let mut late = [workbench.wait_for(ticket), workbench.wait_for(ticket)];
        workbench.turn();
        workbench.land();
        assert_eq!((workbench.waiters(), workbench.counted()), (2, vec![3, 1]));
        let mut committed = workbench.within(1, Step::Commit);
        workbench.turn();
        if overlaps {
            assert_eq!(late[0].try_recv(), Err(TryRecvError::Empty));
            assert!(committed.try_recv().is_err(), "nothing left before it");
            workbench.land();
        }
        let outcome = committed.try_recv().unwrap().unwrap().outcome;
        assert_eq!(outcome, Outcome::Done(Done::Committed));
        let given = Some(Outcome::Done(Done::Stock(Some(STOCK))));
        for answer in &mut late {
            assert_eq!(answer.try_recv(), Ok(given.clone()));
        }
        assert_eq!((workbench.waiters(), workbench.counted()), (0, vec![5, 1]));
        workbench.stop();
    }
}

#[test]
fn an_answer_that_was_given_is_told_again_and_one_that_never_was_is_unknown() {
    let mut workbench = Workbench::new();
    let ticket = workbench.block();
    let abort = workbench.travel(&Command::Abort { xid: Xid(1) });
    let mut asked_with_it = workbench.wait_for(ticket);
    workbench.turn();
    let mut asked_later = workbench.wait_for(ticket);
    let mut never = workbench.wait_for(Position(1));
    workbench.turn();
    let given = Some(Outcome::Done(Done::Stock(None)));
    assert_eq!(asked_with_it.try_recv(), Ok(given.clone()));
    assert_eq!(asked_later.try_recv(), Ok(given));
    assert_eq!(never.try_recv(), Ok(None));
    assert_eq!(workbench.waiters(), 0);
    drop(abort);
    workbench.stop();
}

#[test]
fn travel_is_asked_through_the_gate_like_any_machine() {
    let mut workbench = Workbench::new();
    let customer = Some(CustomerId(5));
    drop(workbench.travel(&Command::Start));
    drop(workbench.within(1, Step::AddCustomer { customer }));
    drop(workbench.within(1, Step::Commit));
    let (reply, mut answer) = oneshot::channel();
    let asked = workbench.gate.ask(Ask::Travel(Request::Query {
        caller: Caller::server(),
        query: Query::Totals,
        may_be_stale: false,
        reply,
    }));
    asked.unwrap();
    workbench.turn();
    // Nobody else joined them.
    workbench.turn();
    let expected = turnstile_travel::Totals {
        xids: 1,
        customers: 1,
        ..turnstile_travel::Totals::default()
    };
    let (position, totals) = answer.try_recv().unwrap().unwrap();
    assert_eq!(position, Position(3));
    assert_eq!(totals, turnstile_travel::Answer::Totals(expected));
    assert_eq!(workbench.fast_loop.engine.status().totals.travel, expected);
    workbench.stop();
}
