//! How long a group that the loop commits itself stays open for those who are about to join it.

use super::*;
use crate::limits::{GROWTH_MIN, GROWTH_PART};

/// A loop that carries nothing beside itself.
fn inline() -> Workbench {
    let mut workbench = Workbench::new();
    workbench.overlap(false);
    workbench
}

impl Workbench {
    /// Turns after so many requests came; answers whether their group is still open.
    fn turn_with(&mut self, requests: usize) -> bool {
        self.ask(requests);
        self.turn();
        self.fast_loop.engine.is_open()
    }
}

#[test]
fn a_group_that_grows_goes_with_those_whom_another_look_finds() {
    let mut workbench = inline();
    assert!(workbench.turn_with(GROWTH_MIN), "somebody may join it");
    assert_eq!(workbench.fast_loop.patience(), Some(Duration::ZERO));
    assert!(!workbench.turn_with(1), "hardly anybody did");
    assert_eq!(workbench.groups(), 1);
    let (done, refused) = workbench.stop().check();
    assert_eq!((done, refused), (GROWTH_MIN + 1, 0));
}

#[test]
fn a_group_goes_when_another_look_finds_nobody() {
    let mut workbench = inline();
    assert!(workbench.turn_with(GROWTH_MIN));
    assert!(!workbench.turn_with(0));
    assert!(
        workbench
            .answers
            .iter_mut()
            .all(|one| one.try_recv().is_ok())
    );
}

#[test]
fn a_group_of_few_requests_goes_at_once() {
    let mut workbench = inline();
    for turn in 1..=3 {
        assert!(!workbench.turn_with(GROWTH_MIN - 1));
        assert_eq!(workbench.groups(), turn);
    }
    assert_eq!(workbench.stop().check(), (3 * (GROWTH_MIN - 1), 0));
}

#[test]
fn a_group_goes_soon_however_many_want_to_join_it() {
    let mut workbench = inline();
    let mut turns = 1;
    while workbench.turn_with(10) {
        turns += 1;
    }
    assert_eq!(turns, GROWTH_PART + 1);
    assert_eq!(workbench.stop().check(), (10 * (GROWTH_PART + 1), 0));
}
