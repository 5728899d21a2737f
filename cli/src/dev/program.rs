//! The name of this program in the lines that `dev` prints for pasting.

use std::{
    env,
    path::{Path, PathBuf},
};

/// `turnstile` where a shell finds this program by that name, otherwise its path: `cargo run` puts it in
/// no folder of the search path.
pub(super) fn name() -> String {
    let Ok(program) = env::current_exe() else {
        return "turnstile".to_owned();
    };
    let search = env::var_os("PATH").unwrap_or_default();
    let here = env::current_dir().unwrap_or_default();
    called(&program, env::split_paths(&search), &here)
}

fn called(program: &Path, search: impl Iterator<Item = PathBuf>, here: &Path) -> String {
    let mut search = search.map(|folder| folder.join("turnstile"));
    let found = search.find(|candidate| candidate.is_file());
    let is_found =
        found.is_some_and(|found| found.canonicalize().ok() == program.canonicalize().ok());
    if is_found {
        return "turnstile".to_owned();
    }
    let path = program.strip_prefix(here).unwrap_or(program);
    quoted(&path.display().to_string())
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte);
    if word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_as_a_shell_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("turnstile");
        std::fs::write(&program, "").unwrap();
        let in_path = || [folder.path().to_owned()].into_iter();
        let nowhere = || [PathBuf::from("/nowhere")].into_iter();
        let elsewhere = Path::new("/elsewhere");
        assert_eq!(called(&program, in_path(), elsewhere), "turnstile");
        let path = program.display().to_string();
        assert_eq!(called(&program, nowhere(), elsewhere), path);
        // One of another build is not this one.
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("turnstile"), "").unwrap();
        let other = [other.path().to_owned()].into_iter();
        assert_eq!(called(&program, other, elsewhere), path);
        // Below the folder in which it was started, as `cargo run` does.
        let here = folder.path().parent().unwrap();
        let below = program.strip_prefix(here).unwrap().display().to_string();
        assert_eq!(called(&program, nowhere(), here), below);
    }

    #[test]
    fn a_path_with_blanks_is_one_word() {
        assert_eq!(
            quoted("target/release/turnstile"),
            "target/release/turnstile"
        );
        assert_eq!(quoted("my disk/turnstile"), "'my disk/turnstile'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
