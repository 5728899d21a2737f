//! Rules that are broken on purpose: for each, some order of events shows that it was needed.

use stateright::{Checker, Model};

use super::{
    Flaw, Protocol, Way,
    properties::{AGREE, STAYS, STAYS_REFUSED},
};

/// Breaks a rule, and looks for a state in which this does not hold any more.
fn check(flaw: Flaw, broken: &'static str) {
    let protocol = Protocol {
        desks: 2,
        way: Way::Stages,
        flaw: Some(flaw),
        operated: flaw == Flaw::OperatorAborts,
        crashes: 1,
    };
    let checker = protocol.checker().threads(2).spawn_bfs().join();
    assert!(
        checker.discovery(broken).is_some(),
        "{flaw:?} breaks nothing"
    );
}

#[test]
fn who_is_told_before_it_is_staged_may_be_told_wrong() {
    check(Flaw::TellsTooEarly, STAYS);
}

#[test]
fn who_is_told_that_it_is_given_up_before_that_is_on_the_disk_may_be_told_wrong() {
    check(Flaw::GivesUpUnsynced, STAYS_REFUSED);
}

#[test]
fn what_a_restart_has_found_staged_must_not_be_given_up_for_the_time_it_takes() {
    check(Flaw::GivesUpInDoubt, STAYS);
}

#[test]
fn a_restart_must_not_abort_what_is_staged() {
    check(Flaw::RestartAborts, STAYS);
}

#[test]
fn a_decision_that_is_sent_before_it_is_on_the_disk_may_be_taken_back() {
    check(Flaw::SendsUnsynced, AGREE);
}

#[test]
fn an_operator_who_aborts_at_a_desk_may_take_back_what_was_told() {
    check(Flaw::OperatorAborts, STAYS);
}
