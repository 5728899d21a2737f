//! Reloading the configuration of a running server: how HTTP asks for it, and what comes of it.

use std::{fmt, sync::OnceLock};

use tokio::sync::{mpsc, oneshot};
use turnstile_http::ReloadDone;
use turnstile_types::Principal;

/// What a reload comes to. Where it is refused, nothing of it was taken over.
pub type ReloadOutcome = Result<ReloadDone, ReloadRefused>;

/// Why a reload was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReloadRefused {
    /// The configuration cannot be read, or a value or a file that it names is wrong; says which.
    Wrong(String),
    /// These settings have changed, and only a start takes them over.
    NeedsRestart(Vec<&'static str>),
}

impl fmt::Display for ReloadRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(cause) => f.write_str(cause),
            Self::NeedsRestart(settings) => {
                let settings = settings.join(", ");
                write!(f, "restart the server for these settings: {settings}")
            }
        }
    }
}

impl std::error::Error for ReloadRefused {}

/// A client of HTTP that wants the configuration read again.
#[derive(Debug)]
pub struct ReloadAsk {
    pub by: Principal,
    pub reply: oneshot::Sender<ReloadOutcome>,
}

/// Those who may wait for a reload at once: one runs, and one waits.
const RELOADS: usize = 1;

/// How HTTP reaches whoever started the server, which alone knows where the configuration stands.
#[derive(Debug, Default)]
pub(crate) struct ReloadLine(OnceLock<mpsc::Sender<ReloadAsk>>);

/// Why nobody reloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoReload {
    /// Whoever started the server has nothing to read again.
    NoConfiguration,
    /// Others wait for one already.
    Busy,
    /// The server is ending.
    Ending,
}

impl ReloadLine {
    /// Hears those who ask from now on; nothing when somebody hears them already.
    pub(crate) fn listen(&self) -> Option<mpsc::Receiver<ReloadAsk>> {
        let (asks, asked) = mpsc::channel(RELOADS);
        self.0.set(asks).is_ok().then_some(asked)
    }

    /// Has the configuration read again in the name of a principal.
    ///
    /// # Errors
    /// Nobody reads it.
    pub(crate) async fn ask(&self, by: Principal) -> Result<ReloadOutcome, NoReload> {
        let asks = self.0.get().ok_or(NoReload::NoConfiguration)?;
        let (reply, done) = oneshot::channel();
        asks.try_send(ReloadAsk { by, reply })
            .map_err(|unsent| match unsent {
                mpsc::error::TrySendError::Full(_) => NoReload::Busy,
                mpsc::error::TrySendError::Closed(_) => NoReload::Ending,
            })?;
        done.await.map_err(|_ended| NoReload::Ending)
    }
}
