//! The `turnstile` binary and the house's own automation, built like the test that asks for it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// Seconds after which a command that does not end is ended.
const DEADLINE: &str = "120";

static BINARY: OnceLock<PathBuf> = OnceLock::new();

static AUTOMATION: OnceLock<PathBuf> = OnceLock::new();

/// Names a binary that is tried instead, such as the one that is shipped, for a night run.
const INSTEAD: &str = "TURNSTILE_TEST_BINARY";

/// Builds the binary once for each test process, which is quick when it is up to date.
///
/// Cargo tells the path of a binary only to tests of the same package. This test lies in
/// `TARGET/PROFILE/deps`, so the folders above it say how to build, and where the binary is.
///
/// # Panics
/// It cannot be built.
#[must_use]
pub fn path() -> &'static Path {
    BINARY.get_or_init(|| match env::var_os(INSTEAD) {
        Some(binary) => binary.into(),
        None => built("turnstile"),
    })
}

/// `cargo xtask` as a program, built in the same way.
///
/// # Panics
/// It cannot be built.
#[must_use]
pub fn automation() -> Command {
    Command::new(AUTOMATION.get_or_init(|| built("xtask")))
}

fn built(binary: &str) -> PathBuf {
    let test = env::current_exe().expect("a test knows its path");
    let profile_folder = test
        .ancestors()
        .nth(2)
        .expect("cargo puts tests three levels deep");
    let target_folder = profile_folder
        .parent()
        .expect("a profile is in the target folder");
    build(binary, profile(profile_folder), target_folder);
    profile_folder.join(binary)
}

/// Runs the binary to its end, as a command that must end by itself.
///
/// # Panics
/// When it cannot be started.
#[must_use]
pub fn run(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new("timeout");
    command.arg(DEADLINE).arg(path()).args(arguments);
    let output = command.arg(directory).stdin(Stdio::null()).output();
    output.expect("every Debian has a timeout")
}

/// Runs the binary to its end with these arguments and no others.
///
/// # Panics
/// When it cannot be started.
#[must_use]
pub fn call(arguments: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.arg(DEADLINE).arg(path()).args(arguments);
    let output = command.stdin(Stdio::null()).output();
    output.expect("every Debian has a timeout")
}

/// The profile whose folder this is; that of `dev` has another name.
fn profile(folder: &Path) -> &str {
    let name = folder.file_name().and_then(|name| name.to_str());
    match name.expect("profiles have ASCII names") {
        "debug" => "dev",
        name => name,
    }
}

fn build(binary: &str, profile: &str, target_folder: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    // What a hundred crates look like depends on who asks: the whole workspace with what only its tests need,
    // and no package by its name, as in `cargo xtask test`. Otherwise they would be built a second time.
    cargo.args(["build", "--quiet", "--workspace", "--bin", binary]);
    cargo.args(["--test", "system", "--profile", profile]);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    let status = cargo
        .arg("--target-dir")
        .arg(target_folder)
        .status()
        .expect("cargo starts");
    assert!(status.success(), "building {binary} ended with {status}");
}
