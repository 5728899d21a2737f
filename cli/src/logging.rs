//! Diagnostics on standard error, as text or as JSON lines.

use std::io::{self, IsTerminal as _};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// What is logged when nobody says.
pub(crate) const LEVEL: &str = "info";

/// Parses what `--log` and `RUST_LOG` say: `info`, `debug`, `turnstile_server=debug,info`.
///
/// # Errors
/// The directives are malformed; says which.
pub(crate) fn filter(directives: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder()
        .parse(directives)
        .map_err(|error| error.to_string())
}

/// Starts to log. The first caller in the process wins; there is one. Lines are coloured for a terminal
/// only: in a file or a journal the codes would be noise.
pub(crate) fn start(filter: EnvFilter, format: Format) {
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .with_writer(io::stderr);
    match format {
        Format::Text => lines.init(),
        Format::Json => lines.json().init(),
    }
}
