//! What `turnstile --version` tells of the build.

use std::process::Command;

use crate::process::{run, turnstile};

#[test]
fn the_version_names_the_commit_and_the_target() {
    let ended = run(turnstile().arg("--version"));
    let (version, build) = ended.out.trim_end().split_once(" (").unwrap();
    assert_eq!(version, concat!("turnstile ", env!("CARGO_PKG_VERSION")));
    let (commit, target) = build.trim_end_matches(')').split_once(", ").unwrap();
    let mut git = Command::new("git");
    git.args(["rev-parse", "--short=12", "HEAD"]);
    let told = git.current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let expected = match told {
        Ok(told) if told.status.success() => String::from_utf8(told.stdout).unwrap(),
        _ => "of an unknown commit".to_owned(),
    };
    assert_eq!(commit, expected.trim_end());
    assert!(target.starts_with(std::env::consts::ARCH), "{target}");
}
