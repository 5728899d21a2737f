//! The lock table by its rules, and against a naive twin.

mod naive;

use proptest::prelude::*;

use super::*;
use naive::Naive;

const A: u8 = 0;
const B: u8 = 1;

fn xids(numbers: &[u64]) -> Vec<Xid> {
    numbers.iter().copied().map(Xid).collect()
}

fn table() -> Locks<u8> {
    Locks::new()
}

fn before(locks: &Locks<u8>, xid: u64) -> Vec<Xid> {
    let mut waits = locks.queues.values().flat_map(LockQueue::waits);
    waits
        .find(|wait| wait.0 == Xid(xid))
        .map(|wait| wait.1.before)
        .unwrap_or_default()
}

#[test]
fn readers_share_and_a_writer_is_alone() {
    let mut locks = table();
    assert!(locks.acquire(Xid(1), A, Mode::Shared));
    assert!(locks.acquire(Xid(2), A, Mode::Shared));
    assert!(!locks.acquire(Xid(3), A, Mode::Exclusive));
    assert!(
        locks.acquire(Xid(3 + 1), B, Mode::Exclusive),
        "other things are free"
    );
    assert_eq!(before(&locks, 3), xids(&[1, 2]));
    assert_eq!(locks.release(Xid(1)), []);
    assert_eq!(locks.release(Xid(2)), xids(&[3]));
    assert_eq!(locks.writer(&A), Some(Xid(3)));
}

#[test]
fn what_is_held_is_not_taken_again() {
    let mut locks = table();
    assert!(locks.acquire(Xid(1), A, Mode::Exclusive));
    assert!(locks.acquire(Xid(1), A, Mode::Shared), "more than enough");
    assert!(locks.acquire(Xid(1), A, Mode::Exclusive));
    assert_eq!(locks.held.get(&Xid(1)), Some(&vec![A]));
    assert_eq!(locks.release(Xid(1)), []);
    assert_eq!(locks, table(), "nothing is left");
}

#[test]
fn a_reader_becomes_a_writer_when_nobody_else_reads_and_otherwise_waits() {
    let mut locks = table();
    assert!(locks.acquire(Xid(1), A, Mode::Shared));
    assert!(locks.acquire(Xid(1), A, Mode::Exclusive), "alone");
    assert!(!locks.acquire(Xid(2), A, Mode::Shared));
    assert_eq!(locks.release(Xid(1)), xids(&[2]));

    assert!(locks.acquire(Xid(3), A, Mode::Shared));
    assert!(!locks.acquire(Xid(4), A, Mode::Exclusive));
    assert!(!locks.acquire(Xid(2), A, Mode::Exclusive), "3 reads too");
    assert_eq!(before(&locks, 2), xids(&[3]));
    assert_eq!(before(&locks, 4), xids(&[2]), "who converts goes first");
    assert_eq!(locks.release(Xid(3)), xids(&[2]));
    assert_eq!(locks.writer(&A), Some(Xid(2)));
    assert_eq!(locks.release(Xid(2)), xids(&[4]));
}

#[test]
fn waiters_are_served_in_order_of_arrival_and_readers_together_up_to_the_first_writer() {
    let mut locks = table();
    assert!(locks.acquire(Xid(1), A, Mode::Exclusive));
    for (xid, mode) in [
        (2, Mode::Shared),
        (3, Mode::Shared),
        (4, Mode::Exclusive),
        (5, Mode::Shared),
    ] {
        assert!(!locks.acquire(Xid(xid), A, mode));
    }
    assert_eq!(
        before(&locks, 5),
        xids(&[4]),
        "a reader does not pass a writer"
    );
    assert_eq!(locks.release(Xid(1)), xids(&[2, 3]));
    assert_eq!(locks.release(Xid(3)), []);
    assert_eq!(locks.release(Xid(2)), xids(&[4]));
    assert_eq!(locks.release(Xid(4)), xids(&[5]));
}

#[test]
fn whoever_leaves_the_queue_lets_those_behind_it_through() {
    let mut locks = table();
    assert!(locks.acquire(Xid(1), A, Mode::Shared));
    assert!(!locks.acquire(Xid(2), A, Mode::Exclusive));
    assert!(!locks.acquire(Xid(3), A, Mode::Shared));
    assert_eq!(locks.release(Xid(2)), xids(&[3]));
}

#[test]
fn those_who_change_members_share_but_nobody_reads_the_whole_meanwhile() {
    let mut locks = table();
    assert!(locks.acquire(Xid(1), A, Mode::Intent));
    assert!(locks.acquire(Xid(2), A, Mode::Intent));
    assert!(!locks.acquire(Xid(3), A, Mode::Shared));
    assert!(
        !locks.acquire(Xid(1), A, Mode::Shared),
        "both at once is alone"
    );
    assert_eq!(locks.release(Xid(2)), xids(&[1]));
    assert_eq!(locks.writer(&A), Some(Xid(1)));
    assert_eq!(locks.release(Xid(1)), xids(&[3]));
}

#[test]
fn who_may_wait_for_others_than_before_is_told() {
    let mut locks = table();
    assert!(locks.acquire(Xid(1), A, Mode::Shared));
    assert!(!locks.acquire(Xid(2), A, Mode::Exclusive));
    assert!(!locks.acquire(Xid(3), A, Mode::Exclusive));
    let told = |xid, before: &[u64]| {
        let (holder, before) = (Xid(1), xids(before));
        (Xid(xid), Blockers { holder, before })
    };
    assert_eq!(locks.take_stirred(), [told(2, &[1]), told(3, &[2])]);
    assert_eq!(locks.release(Xid(2)), []);
    assert_eq!(locks.take_stirred(), [told(3, &[1])]);
    assert_eq!(locks.take_stirred(), []);
}

/// It told of the whole queue for each who came or went, so that thousands of waiters cost their square.
#[test]
fn only_those_are_told_of_who_wait_for_others_than_before() {
    const WAITERS: u64 = 1_000;
    let mut locks = table();
    assert!(locks.acquire(Xid(0), A, Mode::Exclusive));
    for xid in 1..=WAITERS {
        assert!(!locks.acquire(Xid(xid), A, Mode::Exclusive));
        let told = locks.take_stirred();
        assert_eq!(told.len(), 1);
        assert_eq!(
            (told[0].0, &told[0].1.before),
            (Xid(xid), &xids(&[xid - 1]))
        );
    }
    for xid in 0..WAITERS - 1 {
        assert_eq!(locks.release(Xid(xid)), xids(&[xid + 1]));
        let told = locks.take_stirred();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].1.before, xids(&[xid + 1]));
    }
    let mut locks = table();
    for xid in 1..=9 {
        assert!(locks.acquire(Xid(xid), A, Mode::Shared));
    }
    assert!(!locks.acquire(Xid(10), A, Mode::Exclusive));
    locks.take_stirred();
    locks.release(Xid(1));
    assert_eq!(
        locks.take_stirred(),
        [],
        "it waits for fewer, not for others"
    );
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Acquire(u64, u8, Mode),
    Release(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let mode = prop_oneof![
        Just(Mode::Shared),
        Just(Mode::Exclusive),
        Just(Mode::Intent)
    ];
    prop_oneof![
        4 => (1..9_u64, 0..3_u8, mode).prop_map(|(xid, resource, mode)| Step::Acquire(xid, resource, mode)),
        1 => (1..9_u64).prop_map(Step::Release),
    ]
}

/// The edges that the table tells.
fn edges(locks: &Locks<u8>) -> Vec<(Xid, Xid)> {
    let told = locks.queues.values().flat_map(LockQueue::waits);
    told.flat_map(|(xid, blockers)| blockers.before.into_iter().map(move |other| (xid, other)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_table_and_its_naive_twin_agree(steps in prop::collection::vec(step(), 1..60)) {
        let mut locks = table();
        let mut naive = Naive::default();
        let mut known = BTreeMap::new();
        for step in steps {
            match step {
                Step::Acquire(xid, _, _) if locks.waiting.contains_key(&Xid(xid)) => {}
                Step::Acquire(xid, resource, mode) => {
                    let granted = locks.acquire(Xid(xid), resource, mode);
                    assert_eq!(granted, naive.acquire(Xid(xid), resource, mode));
                }
                Step::Release(xid) => {
                    let mut woken = locks.release(Xid(xid));
                    woken.sort();
                    assert_eq!(woken, naive.release(Xid(xid)));
                }
            }
            for (xid, blockers) in locks.take_stirred() {
                known.insert(xid, blockers.before);
            }
            for (xid, blockers) in locks.queues.values().flat_map(LockQueue::waits) {
                let known = known.get(&xid).expect("whoever waits was told of");
                assert!(blockers.before.iter().all(|other| known.contains(other)), "{xid}");
                let told = locks.of_waiter(xid).expect("it waits").2;
                assert_eq!(told, blockers);
            }
            assert_eq!(locks.waiting.keys().copied().collect::<Vec<_>>(), naive.waiting());
            let held = locks.queues.iter().flat_map(|(&resource, queue)| {
                queue.holders.iter().map(move |holder| (holder.xid, resource, holder.mode))
            });
            let mut held: Vec<_> = held.collect();
            held.sort();
            assert_eq!(held, naive.held());
            let (told, all) = (naive::on_cycles(&edges(&locks)), naive::on_cycles(&naive.edges()));
            assert_eq!(told.is_empty(), all.is_empty(), "no deadlock is missed: {all:?}");
            assert!(told.is_subset(&all), "and none is made up: {told:?}");
        }
    }
}
