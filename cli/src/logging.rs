//! Diagnostics on standard error, as text or as JSON lines.

use std::{
    io::{self, IsTerminal as _},
    sync::OnceLock,
};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use turnstile_server::LineFormat;

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

impl Format {
    /// How lines of the access log look.
    pub(crate) const fn of_lines(self) -> LineFormat {
        match self {
            Self::Text => LineFormat::Text,
            Self::Json => LineFormat::Json,
        }
    }
}

/// Puts a filter in the place of the one that is used.
type Reload = Box<dyn Fn(EnvFilter) -> bool + Send + Sync>;

static FILTER: OnceLock<Reload> = OnceLock::new();

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
    let is_first = match format {
        Format::Text => {
            let lines = lines.with_filter_reloading();
            let handle = lines.reload_handle();
            lines.init();
            FILTER.set(Box::new(move |filter| handle.reload(filter).is_ok()))
        }
        Format::Json => {
            let lines = lines.json().with_filter_reloading();
            let handle = lines.reload_handle();
            lines.init();
            FILTER.set(Box::new(move |filter| handle.reload(filter).is_ok()))
        }
    };
    assert!(is_first.is_ok(), "a process starts to log once");
}

/// Logs by another filter from now on; answers whether it does.
pub(crate) fn reload(filter: EnvFilter) -> bool {
    FILTER.get().is_some_and(|reload| reload(filter))
}
