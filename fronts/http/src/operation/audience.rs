//! Whom an operation is for, where the server asks for keys.

use turnstile_chassis::{Needed, Right};

use super::{Answerer, Service};

/// Whom an operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody, also without a key.
    Everybody,
    /// Every caller with a key, whatever its rights.
    Callers,
    /// Whoever has this right of a service, for the things that the request is about.
    Having(Service, Needed),
    /// Whoever operates the server.
    Operators,
}

impl Audience {
    /// That of a stream, a socket, or a document of the door itself.
    pub(super) fn of_document(answerer: Answerer) -> Self {
        let having = |service, right| Self::Having(service, Needed::only(right));
        match answerer {
            Answerer::Events(service) => having(service, Right::Read),
            Answerer::MatchEvents => having(Service::Games, Right::Read),
            Answerer::ExchangeFeed => having(Service::Exchange, Right::Read),
            Answerer::Play => having(Service::Games, Right::Use),
            // They tell of everybody's business.
            Answerer::Audit | Answerer::SecurityEvents => having(Service::Access, Right::Read),
            // It takes the memory of a second server.
            Answerer::Recount => having(Service::Games, Right::Manage),
            // The configuration says whom the server serves, and by which certificate it is known.
            Answerer::Reload => having(Service::Access, Right::Manage),
            Answerer::OpenSession
            | Answerer::OwnSession
            | Answerer::Logout
            | Answerer::Sessions
            | Answerer::EndSession
            | Answerer::Ticket => Self::Callers,
            Answerer::Metrics
            | Answerer::Backup
            | Answerer::BackupPieces
            | Answerer::BackupSnapshot
            | Answerer::StartLabRun
            | Answerer::LabRuns
            | Answerer::LabRun
            | Answerer::StopLabRun
            | Answerer::LabProgress
            | Answerer::Cluster
            | Answerer::LabResult
            | Answerer::LabReport => Self::Operators,
            // Whatever starts and watches the server asks whether it is ready, and rarely has a key.
            Answerer::Live
            | Answerer::Ready
            | Answerer::Version
            | Answerer::Openapi
            | Answerer::Docs
            | Answerer::DocsStyle
            | Answerer::DocsScript => Self::Everybody,
            Answerer::Command(service, _) | Answerer::Query(service, _) => {
                Self::Having(service, Needed::MANAGE)
            }
        }
    }

    /// The right in one word, such as `rooms.use`; nothing where none is needed.
    #[must_use]
    pub fn right(self) -> Option<String> {
        match self {
            Self::Everybody | Self::Callers => None,
            Self::Having(service, needed) => {
                Some(format!("{}.{}", service.name(), needed.right.code()))
            }
            Self::Operators => Some("operate".to_owned()),
        }
    }
}
