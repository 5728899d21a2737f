//! Tells the program which commit it is built from, and for which target; leaves symbols out of `dist`.

use std::{env, path::Path, process::Command};

/// Digits of a commit: as many as no two of a large repository share.
const COMMIT_DIGITS: &str = "--short=12";

fn main() {
    let target = env::var("TARGET").expect("Cargo names the target");
    let commit = commit();
    let known = commit.as_deref().unwrap_or_default();
    println!("cargo::rustc-env=TURNSTILE_COMMIT={known}");
    let commit = commit.as_deref().unwrap_or("of an unknown commit");
    println!("cargo::rustc-env=TURNSTILE_BUILD={commit}, {target}");
    strip();
}

/// Leaves symbols out of the program that is shipped. Cargo forgets the `strip` of a profile for a package
/// whose optimization the profile changes, as ours is. `CARGO_PROFILE_DIST_STRIP=none` keeps them.
fn strip() {
    const WISH: &str = "CARGO_PROFILE_DIST_STRIP";
    println!("cargo::rerun-if-env-changed={WISH}");
    let folder = env::var_os("OUT_DIR").expect("Cargo names the folder");
    // PROFILE/build/turnstile-HASH/out
    let profile = Path::new(&folder)
        .ancestors()
        .nth(3)
        .and_then(Path::file_name);
    let is_shipped = profile.is_some_and(|name| name == "dist");
    if is_shipped && env::var_os(WISH).is_none() {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
}

/// The commit of this repository. There is none in an archive of the source, nor where there is no git; a
/// repository around an archive is another.
fn commit() -> Option<String> {
    println!("cargo::rerun-if-changed=build.rs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let top = git(source, &["rev-parse", "--show-toplevel"])?;
    if source.canonicalize().ok()? != Path::new(&top).canonicalize().ok()? {
        return None;
    }
    // It gets a line for each commit and checkout.
    let moved = source.join(git(source, &["rev-parse", "--git-path", "logs/HEAD"])?);
    if moved.exists() {
        println!("cargo::rerun-if-changed={}", moved.display());
    }
    git(source, &["rev-parse", COMMIT_DIGITS, "HEAD"])
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
