//! Thousands who wait for one lock: 4,000 of them took more than a minute when each who came or went
//! had the whole queue looked at.

use turnstile_travel::{Done, Event, EventKind, Outcome, Step, Travel};
use turnstile_types::Machine;

use crate::scenery::{Office, add};

/// Who was answered late since the last call, each with a lock that it waited for.
fn answered(travel: &mut Travel) -> usize {
    let mut count = 0;
    travel.drain_events(&mut |event: Event| {
        if let EventKind::Answered { outcome, .. } = event.kind {
            assert_eq!(outcome, Outcome::Done(Done::Added));
            count += 1;
        }
    });
    count
}

#[test]
fn thousands_wait_for_one_lock_and_get_it_one_after_the_other() {
    let n = 4_000;
    let mut office = Office::new();
    let xids: Vec<u64> = (0..n).map(|_| office.start()).collect();
    let mut waiting = 0;
    for &xid in &xids {
        let outcome = office.within(xid, add("flight-1", 1, 1));
        waiting += usize::from(matches!(outcome, Outcome::Waiting { .. }));
    }
    assert_eq!(waiting, n - 1);
    for (place, &xid) in xids.iter().enumerate() {
        let committed = office.within(xid, Step::Commit);
        assert_eq!(committed, Outcome::Done(Done::Committed));
        assert_eq!(answered(&mut office.travel), usize::from(place + 1 < n));
    }
}
