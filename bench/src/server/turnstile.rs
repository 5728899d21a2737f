//! Our server: the shipped binary (profile `dist`), with its `bench` property in which every room exists.

use std::{
    env, fmt, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use turnstile_client::Connection;

use super::{DoorAddresses, protection::ServerCertificate};

/// The directory of the journal, in that of the server.
const JOURNAL: &str = "journal";

/// The resource managers of travel that can be processes of their own.
pub(super) const MANAGERS: [&str; 4] = ["flights", "cars", "rooms", "customers"];

/// When our server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerDurability {
    /// When the disk has it.
    Sync,
    /// At once: nothing is written.
    Memory,
}

impl fmt::Display for ServerDurability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sync => "sync",
            Self::Memory => "memory",
        })
    }
}

pub(super) fn arguments(
    command: &mut Command,
    durability: ServerDurability,
    home: &Path,
    doors: DoorAddresses,
) {
    let DoorAddresses {
        resp,
        http,
        xml,
        lines,
        arena,
    } = doors;
    command
        .args(["dev", "--durability", &durability.to_string()])
        .args(["--resp", &resp.to_string(), "--travel", &lines.to_string()])
        .args(["--games-arena", &arena.to_string(), "--games-scores", "off"])
        .args(["--xml", &xml.to_string(), "--http", &http.to_string()]);
    if durability == ServerDurability::Sync {
        command.arg("--data").arg(home.join(JOURNAL));
    }
}

/// Has every door speak TLS with this certificate.
pub(super) fn encrypt(command: &mut Command, files: &ServerCertificate) {
    command.arg("--tls-certificate").arg(&files.certificate);
    command.arg("--tls-key").arg(&files.key);
}

/// Whether the lines to all resource managers are connected.
pub(super) fn has_lines(connection: &mut Connection) -> Result<bool> {
    let reply = connection.command(&[b"INFO", b"travel"])?;
    let text = reply.as_str().context("INFO answers with a text")?;
    let is_connected = |manager: &str| {
        let line = super::field(text, &format!("travel_line_{manager}"));
        line.is_some_and(|line| line.starts_with("connected=1,"))
    };
    Ok(MANAGERS.into_iter().all(is_connected))
}

/// A field in `INFO`.
pub(super) fn fact(connection: &mut Connection, name: &str) -> Result<String> {
    let reply = connection.command(&[b"INFO"])?;
    let text = reply.as_str().context("INFO answers with a text")?;
    let fact = super::field(text, name).with_context(|| format!("INFO has no {name}"))?;
    Ok(fact.trim().to_owned())
}

/// Whether a snapshot lies beside the journal; one that is being written has another name.
pub(super) fn has_snapshot(home: &Path) -> Result<bool> {
    for entry in fs::read_dir(home.join(JOURNAL))? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snapshot-") && !name.ends_with(".new") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Builds the shipped binary with the cargo that runs us, and says where it is.
pub(crate) fn build() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--profile", "dist", "--package", "turnstile"])
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "the server does not build");
    executable(str::from_utf8(&output.stdout)?).context("cargo built no binary `turnstile`")
}

/// The path of our binary in cargo's messages, one JSON object a line.
fn executable(messages: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        if message.get("target")?.get("name")? != "turnstile" {
            return None;
        }
        message.get("executable")?.as_str().map(PathBuf::from)
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use tempfile::TempDir;

    use super::{JOURNAL, executable, has_snapshot};

    #[test]
    fn our_binary_is_found_among_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"other"},"executable":"/t/other"}"#,
            "\nnot json\n",
            r#"{"reason":"compiler-artifact","target":{"name":"turnstile"},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"turnstile"},"executable":"/t/x"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(executable(messages), Some(PathBuf::from("/t/x")));
        assert_eq!(executable(r#"{"reason":"build-finished"}"#), None);
    }

    #[test]
    fn a_snapshot_counts_when_it_is_whole() {
        let home = TempDir::new().unwrap();
        let journal = home.path().join(JOURNAL);
        fs::create_dir(&journal).unwrap();
        fs::write(journal.join("snapshot-7.new"), "").unwrap();
        assert!(!has_snapshot(home.path()).unwrap());
        fs::write(journal.join("snapshot-7"), "").unwrap();
        assert!(has_snapshot(home.path()).unwrap());
    }
}
