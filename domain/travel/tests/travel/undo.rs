//! What is undone is undone whole.

use turnstile_travel::{Command, Outcome, Step, Xid};

use crate::scenery::{Office, add, add_customer, bytes_of, reserve};

/// Aborts a transaction of these steps, and compares the state with that after one of none.
fn check(steps: &[Step]) {
    let aborted = |steps: &[Step]| {
        let mut office = Office::new();
        office.committed([add_customer(1), add("flight-0", 50, 100)]);
        let xid = office.start();
        for step in steps {
            assert!(
                matches!(office.within(xid, step.clone()), Outcome::Done(_)),
                "{step:?}"
            );
        }
        office.apply(&Command::Abort { xid: Xid(xid) });
        bytes_of(&office.travel)
    };
    assert!(aborted(steps) == aborted(&[]), "something is left");
}

#[test]
fn a_long_transaction_that_changes_things_again_and_again_is_undone_whole() {
    let items = || (0..60).map(|number| add(&format!("flight-{number}"), 1, 10));
    let trips = || (0..30).map(|_| reserve(1, &["flight-0"]));
    check(
        &items()
            .chain(trips())
            .chain(items())
            .chain(trips().take(20))
            .collect::<Vec<_>>(),
    );
}
