//! The invariants of the whole state.

mod arena;
mod scores;

use turnstile_chassis::Faults;

use crate::Games;

/// Checks everything that is kept twice against each other, and everything that is kept once
/// against what it can be.
pub(crate) fn examine(games: &Games) -> Result<(), Vec<String>> {
    let mut faults = Faults::default();
    let roles = games.settings.roles;
    faults.unless(games.settings.is_sound(), || {
        "the settings are unsound".to_owned()
    });
    faults.unless(roles.arena || games.arena.is_new(), || {
        "matches are kept where none are played".to_owned()
    });
    faults.unless(roles.scores || games.scores.is_new(), || {
        "results are kept where none are counted".to_owned()
    });
    let reports = roles.arena && !roles.scores;
    let outbox = &games.arena.outbox;
    faults.unless(reports || outbox.acknowledged + outbox.len() == 0, || {
        "results wait for a scores server where there is none".to_owned()
    });
    arena::examine(&games.arena, &mut faults);
    scores::examine(&games.scores, &mut faults);
    faults.verdict()
}
