//! Scenarios as stories; how a script is written and brought up to date stands in
//! `turnstile_trial`.

mod script;

use std::path::Path;

use turnstile_trial::check_stories;

#[test]
fn every_scenario_is_played_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    check_stories(&folder, 9, &script::WORDS);
}
