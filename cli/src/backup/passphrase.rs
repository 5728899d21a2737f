//! Passphrases, from a file or from the terminal.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::PathBuf,
};

use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use turnstile_backup::Passphrase;
use zeroize::Zeroizing;

use crate::{connect::secret_in, exit::Coded, terminal};

/// Where the passphrase of id.key comes from.
#[derive(Args, Debug)]
pub(super) struct PassphraseSource {
    /// File that holds the passphrase of id.key: at least 12 characters; a line break at its end does not
    /// count
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Ask for the passphrase of id.key on the terminal
    #[arg(long, conflicts_with = "passphrase_file")]
    ask_passphrase: bool,
}

impl PassphraseSource {
    /// The passphrase, if one was named. A new one is asked for twice.
    pub(super) fn read(&self, is_new: bool) -> anyhow::Result<Option<Passphrase>> {
        let text = match &self.passphrase_file {
            Some(path) => without_line_end(&secret_in(path, "the passphrase")?).to_vec(),
            None if self.ask_passphrase => {
                let text = ask("passphrase of id.key: ")?;
                if is_new && ask("the same again: ")? != text {
                    let other = "the two passphrases are not the same";
                    return Err(Coded::usage(other.to_owned()).into());
                }
                text.to_vec()
            }
            None => return Ok(None),
        };
        let passphrase = Passphrase::new(text);
        let passphrase = passphrase.map_err(|refused| Coded::usage(refused.to_string()))?;
        Ok(Some(passphrase))
    }
}

/// Asks on the terminal, which does not show what is typed.
fn ask(prompt: &str) -> anyhow::Result<Zeroizing<Vec<u8>>> {
    let input = io::stdin();
    if !input.is_terminal() {
        let none = "there is no terminal to ask on: name --passphrase-file FILE";
        return Err(Coded::usage(none.to_owned()).into());
    }
    write!(io::stderr(), "{prompt}")?;
    let shown = tcgetattr(&input)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Now, &hidden)?;
    // Long enough from the start: what grows leaves copies behind.
    let mut text = Zeroizing::new(Vec::with_capacity(4 * 1_024));
    let read = input.lock().read_until(b'\n', &mut text);
    tcsetattr(&input, OptionalActions::Now, &shown)?;
    terminal::note("");
    read?;
    Ok(Zeroizing::new(without_line_end(&text).to_vec()))
}

/// Other spaces belong to the passphrase.
fn without_line_end(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::without_line_end;

    #[test]
    fn a_passphrase_loses_one_line_end_and_nothing_else() {
        for (text, passphrase) in [
            ("a b\n", "a b"),
            ("a b\r\n", "a b"),
            ("a b", "a b"),
            (" a b \n", " a b "),
            ("a b\n\n", "a b\n"),
            ("", ""),
        ] {
            assert_eq!(without_line_end(text.as_bytes()), passphrase.as_bytes());
        }
    }
}
