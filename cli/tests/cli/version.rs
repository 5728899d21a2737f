//! What `turnstile --version` tells of the build.

use std::process::Command;

use crate::process::{run, turnstile};

#[test]
fn the_version_names_the_commit_the_target_and_the_formats() {
    let ended = run(turnstile().arg("--version"));
    let (line, formats) = ended.out.split_once('\n').unwrap();
    let (version, build) = line.split_once(" (").unwrap();
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
    let formats = formats.strip_prefix("formats, and all older versions: ");
    let formats = formats.unwrap().trim_end().split(", ");
    let names =
        formats.map(|format| format.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' '));
    let expected = ["journal", "record", "entry", "snapshot", "state", "id key"];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    let short = run(turnstile().arg("-V"));
    assert_eq!(short.out.trim_end(), line);
}
