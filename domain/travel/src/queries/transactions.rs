//! Transactions as operators see them: where each stands, what it holds, and for whom it waits.

use std::ops::Bound;

use turnstile_chassis::Cursor;

use crate::{
    AbortReason, BranchView, Desk, Desks, Stage, TransactionState, TransactionView, Travel, Xid,
    coordinator::{Phase, Transaction, TransactionEnd},
    limits,
    participant::Branch,
};

/// A transaction that is open, or that ended not long ago.
pub(super) fn one(travel: &Travel, xid: Xid) -> Option<TransactionView> {
    let open = travel.coordinator.transactions.get(&xid);
    let open = open.map(|transaction| at_coordinator(xid, transaction));
    let mut view = open
        .or_else(|| at_desks(travel, xid))
        .or_else(|| ended(travel, xid))?;
    view.branches = branches(travel, xid, limits::PAGE_MAX);
    Some(view)
}

/// A page of what is open, without what each locks. A coordinator knows all that is open here.
pub(super) fn open(
    travel: &Travel,
    (after, limit): (Xid, usize),
    stage: Option<Stage>,
) -> (Vec<TransactionView>, Option<Cursor>) {
    let limit = limit.min(limits::PAGE_MAX);
    let range = (Bound::Excluded(after), Bound::Unbounded);
    let is_wanted =
        |view: &TransactionView| stage.is_none_or(|stage| view.state.stage() == Some(stage));
    let mut views: Vec<TransactionView> = if travel.settings.roles.coordinator {
        let open = &travel.coordinator.transactions;
        if matches!(stage, None | Some(Stage::Active)) {
            let open = open.range(range);
            let views = open.map(|(&xid, transaction)| at_coordinator(xid, transaction));
            views.filter(is_wanted).take(limit + 1).collect()
        } else {
            let restless = travel.coordinator.restless.range(range);
            let views = restless.filter_map(|&xid| Some(at_coordinator(xid, open.get(&xid)?)));
            views.filter(is_wanted).take(limit + 1).collect()
        }
    } else {
        let views = xids_at_desks(travel, after).filter_map(|xid| at_desks(travel, xid));
        views.filter(is_wanted).take(limit + 1).collect()
    };
    let has_more = views.len() > limit;
    views.truncate(limit);
    let last = views.last().filter(|_| has_more);
    let next = last.map(|last| Cursor(last.xid.0));
    for view in &mut views {
        view.before.clear();
        view.branches = branches(travel, view.xid, 0);
    }
    (views, next)
}

/// Everything that is open at some desk here, after this one, in order.
fn xids_at_desks(travel: &Travel, after: Xid) -> impl Iterator<Item = Xid> {
    let mut desks = Desk::ALL.map(|desk| {
        let branches = &travel.desks.at(desk).branches;
        let branches = branches.range((Bound::Excluded(after), Bound::Unbounded));
        branches.map(|(&xid, _)| xid).peekable()
    });
    std::iter::from_fn(move || {
        let next = desks.iter_mut().filter_map(|desk| desk.peek().copied());
        let next = next.min()?;
        for desk in &mut desks {
            desk.next_if_eq(&next);
        }
        Some(next)
    })
}

const fn blank(xid: Xid, state: TransactionState) -> TransactionView {
    TransactionView {
        xid,
        state,
        touched: Desks::NONE,
        awaited: Desks::NONE,
        holder: None,
        before: Vec::new(),
        deadline: None,
        branches: Vec::new(),
    }
}

fn at_coordinator(xid: Xid, transaction: &Transaction) -> TransactionView {
    let asked = transaction.job.as_ref().map(|job| Desks::only(job.at));
    let wait = transaction.wait.as_ref();
    let (state, awaited) = match transaction.phase {
        Phase::Open if wait.is_some() => (TransactionState::Waiting, asked.unwrap_or_default()),
        Phase::Open => (TransactionState::Active, asked.unwrap_or_default()),
        Phase::Alone { desk } if transaction.deadline.is_none() => {
            (TransactionState::InDoubt, Desks::only(desk))
        }
        Phase::Alone { desk } => (TransactionState::Delegated, Desks::only(desk)),
        Phase::Preparing { awaited } | Phase::Staged { awaited, .. } => {
            (TransactionState::Preparing, awaited)
        }
        Phase::Doubtful { awaited, .. } => (TransactionState::InDoubt, awaited),
        Phase::Committing { awaited } => (TransactionState::Committing, awaited),
    };
    TransactionView {
        touched: transaction.touched,
        awaited,
        holder: wait.map(|wait| wait.holder),
        before: wait.map_or_else(Vec::new, |wait| wait.before.clone()),
        deadline: transaction.deadline,
        ..blank(xid, state)
    }
}

/// What desks know of a transaction whose coordinator is elsewhere.
fn at_desks(travel: &Travel, xid: Xid) -> Option<TransactionView> {
    let mut view = blank(xid, TransactionState::Active);
    for (desk, branch) in branches_of(travel, xid) {
        view.touched.insert(desk);
        if branch.prepared {
            view.state = TransactionState::InDoubt;
        } else {
            view.deadline = travel.abandoned_at(desk);
        }
        if let Some((.., blockers)) = travel.desks.at(desk).locks.of_waiter(xid) {
            view.state = TransactionState::Waiting;
            (view.holder, view.before) = (Some(blockers.holder), blockers.before);
        }
    }
    (!view.touched.is_empty()).then_some(view)
}

/// How it ended, as the coordinator knows it, or a desk that was left to decide.
fn ended(travel: &Travel, xid: Xid) -> Option<TransactionView> {
    let state = match travel.coordinator.ended.get(&xid) {
        Some(TransactionEnd::Committed) => TransactionState::Committed,
        Some(TransactionEnd::Aborted(reason)) => TransactionState::Aborted(*reason),
        None => {
            let mut desks = travel.desks.iter();
            let committed = desks.find_map(|(_, desk)| desk.settled.get(&xid).copied());
            if committed? {
                TransactionState::Committed
            } else {
                TransactionState::Aborted(AbortReason::Asked)
            }
        }
    };
    Some(blank(xid, state))
}

fn branches_of(travel: &Travel, xid: Xid) -> impl Iterator<Item = (Desk, &Branch)> {
    let desks = travel.desks.iter();
    desks.filter_map(move |(desk, here)| Some((desk, here.branches.get(&xid)?)))
}

fn branches(travel: &Travel, xid: Xid, locks_max: usize) -> Vec<BranchView> {
    let view = |(desk, branch): (Desk, &Branch)| {
        let locks = &travel.desks.at(desk).locks;
        let held = locks.of_holder(xid);
        BranchView {
            desk,
            prepared: branch.prepared,
            held: super::count(held.len()),
            locks: held.take(locks_max).collect(),
            wanted: locks
                .of_waiter(xid)
                .map(|(resource, mode, _)| (resource, mode)),
        }
    };
    branches_of(travel, xid).map(view).collect()
}

#[cfg(test)]
mod tests {
    use turnstile_types::{Machine, Timestamp};

    use super::*;
    use crate::{CustomerId, Item, LockMode, Operation, Order, Request, Resource, TravelRoles};

    /// Desks whose coordinator is elsewhere, and what it has asked of them.
    fn desks(asked: &[(Desk, u64, Operation)]) -> Travel {
        let mut travel = Travel::empty();
        travel.settings.roles = TravelRoles {
            coordinator: false,
            ..TravelRoles::ALL
        };
        for (desk, xid, operation) in asked {
            let request = Request {
                xid: Xid(*xid),
                order: Order::Operate {
                    first: true,
                    operation: operation.clone(),
                },
            };
            travel.desks.at_mut(*desk).hear(request, &mut Vec::new());
        }
        travel
    }

    fn branch(desk: Desk, locks: &[(Resource, LockMode)]) -> BranchView {
        BranchView {
            desk,
            prepared: false,
            held: u64::try_from(locks.len()).unwrap(),
            locks: locks.to_vec(),
            wanted: None,
        }
    }

    #[test]
    fn desks_show_who_waits_for_whom_without_their_coordinator() {
        let item = Item::Flight(1);
        let look = Operation::Look { item };
        let add = Operation::Add {
            item,
            count: 1,
            price: 1,
        };
        let customer = CustomerId(7);
        let bill = Operation::LookCustomer { customer };
        let travel = desks(&[
            (Desk::Flights, 3, look.clone()),
            (Desk::Flights, 5, look),
            (Desk::Customers, 9, bill),
            (Desk::Flights, 9, add),
        ]);
        let deadline = Some(Timestamp(travel.settings.lifetime_ms * 2));
        let flight = Resource::Item(item);
        let bill = (Resource::Customer(customer), LockMode::Shared);
        let waits = BranchView {
            wanted: Some((flight, LockMode::Exclusive)),
            ..branch(Desk::Flights, &[])
        };
        let mut touched = Desks::only(Desk::Flights);
        touched.insert(Desk::Customers);
        let waiter = TransactionView {
            touched,
            holder: Some(Xid(3)),
            before: vec![Xid(3), Xid(5)],
            deadline,
            branches: vec![waits, branch(Desk::Customers, &[bill])],
            ..blank(Xid(9), TransactionState::Waiting)
        };
        let reader = TransactionView {
            touched: Desks::only(Desk::Flights),
            deadline,
            branches: vec![branch(Desk::Flights, &[(flight, LockMode::Shared)])],
            ..blank(Xid(5), TransactionState::Active)
        };
        assert_eq!(one(&travel, Xid(9)), Some(waiter.clone()));
        assert_eq!(one(&travel, Xid(5)), Some(reader));
        let xids = |after, limit, stage| {
            let (page, next) = open(&travel, (Xid(after), limit), stage);
            let page: Vec<u64> = page.iter().map(|view| view.xid.0).collect();
            (page, next.map(|Cursor(xid)| xid))
        };
        assert_eq!(xids(0, 10, None), (vec![3, 5, 9], None));
        assert_eq!(xids(3, 1, None), (vec![5], Some(5)));
        assert_eq!(xids(3, 2, None), (vec![5, 9], None));
        assert_eq!(xids(0, 10, Some(Stage::Active)), (vec![3, 5], None));
        let mut brief = waiter;
        brief.before.clear();
        for branch in &mut brief.branches {
            branch.locks.clear();
        }
        let page = open(&travel, (Xid(5), 10), Some(Stage::Waiting));
        assert_eq!(page, (vec![brief], None));
    }

    #[test]
    fn what_was_decided_by_hand_is_told_until_the_coordinator_knows() {
        let add = Operation::Add {
            item: Item::Flight(1),
            count: 1,
            price: 1,
        };
        let mut travel = desks(&[(Desk::Flights, 3, add)]);
        let flights = travel.desks.at_mut(Desk::Flights);
        let prepare = Request {
            xid: Xid(3),
            order: Order::Prepare,
        };
        flights.hear(prepare, &mut Vec::new());
        assert!(flights.resolve(Xid(3), false, &mut Vec::new()));
        let state = one(&travel, Xid(3)).map(|view| view.state);
        assert_eq!(state, Some(TransactionState::Aborted(AbortReason::Asked)));
        assert_eq!(open(&travel, (Xid(0), 10), None), (Vec::new(), None));
    }
}
