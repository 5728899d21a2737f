//! What must hold in every state, and what must be possible.

use stateright::{Model, Property};

use super::{
    Phase, Protocol, Way,
    desk::{At, OPERATIONS, Party},
};

pub(super) const AGREE: &str = "nobody commits what another aborts";
pub(super) const STAYS: &str = "what a client was told to be committed stays";
pub(super) const STAYS_REFUSED: &str = "what a client was told to be aborted stays so";

pub(super) fn all(way: Way) -> Vec<Property<Protocol>> {
    let mut properties = always();
    properties.extend(sometimes());
    if way == Way::Stages {
        properties.extend(sometimes_staged());
    }
    properties
}

fn always() -> Vec<Property<Protocol>> {
    vec![
        Property::<Protocol>::always(AGREE, |_, state| {
            !(state.any(Party::must_stand) && state.any(Party::is_aborted))
        }),
        Property::<Protocol>::always(STAYS, |_, state| {
            !state.told || !(state.refused || state.any(Party::is_aborted))
        }),
        Property::<Protocol>::always(STAYS_REFUSED, |_, state| {
            !state.refused || !(state.decided || state.any(Party::must_stand))
        }),
        Property::<Protocol>::always(
            "nothing of a committed transaction is missing",
            |_, state| {
                state.present().all(|party| match party.at {
                    At::Committed(operations) => operations == OPERATIONS,
                    _ => true,
                })
            },
        ),
        Property::<Protocol>::always(
            "what is decided or told stands on votes that are on the disk",
            |_, state| !(state.decided || state.told) || state.present().all(Party::is_promised),
        ),
        Property::<Protocol>::always(
            "when nothing more can happen, nobody waits",
            |model: &Protocol, state| {
                state.present().all(|party| party.at.has_ended())
                    || !model.next_steps(state).is_empty()
            },
        ),
    ]
}

fn sometimes() -> Vec<Property<Protocol>> {
    vec![
        Property::<Protocol>::sometimes("all commit", |_, state| {
            state.phase == Phase::Forgotten && state.present().all(|party| party.at.is_committed())
        }),
        Property::<Protocol>::sometimes("all commit after all have crashed", |model, state| {
            state.phase == Phase::Forgotten
                && state.crashes == model.crashes
                && state.present().all(|party| party.crashes == model.crashes)
        }),
        Property::<Protocol>::sometimes(
            "one that voted yes waits for the coordinator",
            |_, state| {
                state.phase == Phase::Aborted
                    && state.any(|party| matches!(party.at, At::Prepared(_)))
            },
        ),
    ]
}

fn sometimes_staged() -> Vec<Property<Protocol>> {
    vec![
        Property::<Protocol>::sometimes("a client is told before the decision", |_, state| {
            state.told && !state.decided
        }),
        Property::<Protocol>::sometimes("a restart commits what was told", |_, state| {
            state.told && state.phase == Phase::Committing && state.crashes > 0 && !state.decided
        }),
        Property::<Protocol>::sometimes("a restart aborts what was not", |_, state| {
            state.phase == Phase::Aborted && state.crashes > 0 && !state.staged
        }),
        Property::<Protocol>::sometimes("what was told waits for a desk", |_, state| {
            state.told && state.phase == Phase::Doubtful
        }),
    ]
}
