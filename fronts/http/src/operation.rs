//! An operation of this door.
//!
//! A service declares what can be asked of it; a [`OperationRoute`] adds what only HTTP needs to know.

mod audience;
mod documents;
pub(crate) mod lab;
mod route;

use std::{collections::BTreeSet, ops::Deref};

use turnstile_chassis::{Class, Need, Operations, Parameter, Refuse, Served as _};

use crate::{problem::Place, refusal::status};

pub use audience::Audience;
pub(crate) use documents::operations as documents;
pub(crate) use route::{OperationRoute, RECEIPT, delete, get, post, put};

/// The methods in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }

    /// Where values stand that are not in the path.
    const fn place(self) -> Place {
        match self {
            Self::Get | Self::Delete => Place::Query,
            Self::Post | Self::Put => Place::Body,
        }
    }
}

macro_rules! service {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// A service, whose name begins the paths of its operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Service {
            $($machine,)+
        }

        impl Service {
            pub(crate) const ALL: &[Self] = &[$(Self::$machine),+];

            /// Its name on every door.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$machine => stringify!($name),)+
                }
            }

            /// How the names of its schemas begin.
            pub(crate) const fn prefix(self) -> &'static str {
                match self {
                    $(Self::$machine => stringify!($machine),)+
                }
            }

            /// Whether the partitions of a cluster share it.
            pub(crate) const fn is_spread(self) -> bool {
                match self {
                    $(Self::$machine => {
                        <turnstile_services::$name::Query as turnstile_chassis::Routed>::IS_SPREAD
                    })+
                }
            }

            /// What it is about.
            pub(crate) const fn about(self) -> &'static str {
                match self {
                    $(Self::$machine => turnstile_services::$name::$machine::ABOUT,)+
                }
            }
        }
    };
}

turnstile_services::services!(service);

/// What answers the requests to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answerer {
    /// The command of a service at this place.
    Command(Service, usize),
    /// The query of a service at this place.
    Query(Service, usize),
    /// The feed of a service, as server-sent events.
    Events(Service),
    /// The feed of a match, from its state to its end.
    MatchEvents,
    /// The WebSocket of the exchange.
    ExchangeFeed,
    /// The WebSocket of a player.
    Play,
    /// Opens a browser session.
    OpenSession,
    /// The browser session of the request.
    OwnSession,
    /// Ends it.
    Logout,
    /// All browser sessions that the caller may see.
    Sessions,
    /// Ends one of them.
    EndSession,
    /// A ticket for a stream or a socket.
    Ticket,
    /// Who did what.
    Audit,
    /// How a node of a cluster stands.
    Cluster,
    /// The results of a player, counted again.
    Recount,
    /// What a backup can begin with.
    Backup,
    /// Groups of the journal.
    BackupPieces,
    /// Bytes of a snapshot.
    BackupSnapshot,
    /// What happens to the security of the server.
    SecurityEvents,
    /// Has the configuration read again.
    Reload,
    /// Starts a load of the lab.
    StartLabRun,
    /// The loads of the lab.
    LabRuns,
    /// One of them.
    LabRun,
    /// How one went, second by second.
    LabProgress,
    /// Stops it.
    StopLabRun,
    /// Its result, for programs.
    LabResult,
    /// Its report, for people.
    LabReport,
    Live,
    Ready,
    Version,
    Metrics,
    Openapi,
    Docs,
    DocsStyle,
    DocsScript,
}

/// One value that an operation takes, and where it stands in a request.
#[derive(Clone, Debug)]
pub struct PlacedParameter {
    pub place: Place,
    pub declared: Parameter,
}

impl Deref for PlacedParameter {
    type Target = Parameter;

    fn deref(&self) -> &Parameter {
        &self.declared
    }
}

/// Whether a request without it is wrong.
pub(crate) const fn is_needed(need: Need) -> bool {
    match need {
        Need::Required | Need::Repeated { .. } => true,
        Need::RequiredOr(_) | Need::Optional | Need::OptionalWord => false,
    }
}

/// One operation of the door.
#[derive(Clone, Debug)]
pub struct Operation {
    pub answerer: Answerer,
    pub method: Method,
    /// The path, with `{names}` for its parameters.
    pub path: String,
    /// Unique; the name of the operation in generated clients.
    pub id: String,
    pub summary: &'static str,
    pub parameters: Vec<PlacedParameter>,
    pub success: Success,
    /// Whether an answer has an entity tag, by which a client can ask whether it has changed.
    pub is_versioned: bool,
    /// Whether it is done only to the version that `If-Match` names, where that is sent.
    pub has_precondition: bool,
    /// The statuses of its problems, beyond those that every operation may have.
    pub problems: Vec<u16>,
    /// Whom it is for.
    pub audience: Audience,
}

/// What an operation answers when it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// 201, or 200 when replayed, with JSON of this schema. What was made is found at the first of these
    /// paths whose names the answer has.
    Made {
        schema: &'static str,
        at: &'static [&'static str],
    },
    /// 200 with JSON of this schema.
    Json(&'static str),
    /// 200 with one of these content types, the first unless the client wants another.
    Content(&'static [&'static str]),
    /// 101: the connection speaks this protocol from then on.
    Protocol(&'static str),
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

impl Operation {
    /// The service that it belongs to, unless it is the server's own.
    #[must_use]
    pub const fn service(&self) -> Option<Service> {
        match self.answerer {
            Answerer::Command(service, _)
            | Answerer::Query(service, _)
            | Answerer::Events(service) => Some(service),
            Answerer::MatchEvents | Answerer::Play | Answerer::Recount => Some(Service::Games),
            Answerer::ExchangeFeed => Some(Service::Exchange),
            Answerer::Audit | Answerer::SecurityEvents | Answerer::Reload => Some(Service::Access),
            Answerer::OpenSession
            | Answerer::OwnSession
            | Answerer::Logout
            | Answerer::Sessions
            | Answerer::EndSession
            | Answerer::Ticket
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
            | Answerer::LabReport
            | Answerer::Live
            | Answerer::Ready
            | Answerer::Version
            | Answerer::Metrics
            | Answerer::Openapi
            | Answerer::Docs
            | Answerer::DocsStyle
            | Answerer::DocsScript => None,
        }
    }

    /// Whether it is a command, and so may change something; some that read are commands that lock.
    const fn is_command(&self) -> bool {
        matches!(self.answerer, Answerer::Command(..))
    }

    /// Whether it changes something, and so takes an `Idempotency-Key`.
    #[must_use]
    pub fn mutates(&self) -> bool {
        self.is_command() && self.method != Method::Get
    }

    /// Whether pages of foreign origins are refused: it may change something, or its answer is a
    /// stream of events or a socket, which stay open.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.is_command()
            || self.method != Method::Get
            || match self.success {
                Success::Content(contents) => contents.contains(&EVENTS),
                Success::Protocol(_) => true,
                Success::Made { .. } | Success::Json(_) => false,
            }
    }

    /// Whether the connection stays open for what happens, so that a ticket may stand in its address.
    #[must_use]
    pub const fn takes_ticket(&self) -> bool {
        matches!(
            self.answerer,
            Answerer::Events(_)
                | Answerer::MatchEvents
                | Answerer::SecurityEvents
                | Answerer::ExchangeFeed
                | Answerer::Play
        )
    }

    /// The content types of its success; none where the connection becomes a socket.
    #[must_use]
    pub const fn contents(&self) -> &'static [&'static str] {
        match self.success {
            Success::Made { .. } | Success::Json(_) => &[JSON],
            Success::Content(contents) => contents,
            Success::Protocol(_) => &[],
        }
    }

    /// Whether a path is one of this operation's.
    #[must_use]
    pub fn has_path(&self, path: &str) -> bool {
        let (mut parts, mut segments) = (self.path.split('/'), path.split('/'));
        loop {
            match (parts.next(), segments.next()) {
                (Some(part), Some(segment)) if part.starts_with('{') || part == segment => {}
                (parts, segments) => return parts.is_none() && segments.is_none(),
            }
        }
    }

    /// Whether a request without a body is wrong.
    #[must_use]
    pub fn needs_body(&self) -> bool {
        let mut parameters = self.parameters.iter();
        parameters.any(|one| one.place == Place::Body && is_needed(one.need))
    }

    /// Whether it has parameters in this place.
    #[must_use]
    pub fn has(&self, place: Place) -> bool {
        self.parameters.iter().any(|one| one.place == place)
    }
}

/// A service that HTTP serves: what it declares, and its routes.
pub(crate) fn of_service<'a, C: Operations<'a>, Q: Operations<'a>, R: Refuse>(
    service: Service,
    routes: &[OperationRoute],
) -> Vec<Operation> {
    let commands = C::operations().into_iter();
    let commands = commands.map(|declared| (Answerer::Command(service, declared.place), declared));
    let queries = Q::operations().into_iter();
    let queries = queries.map(|declared| (Answerer::Query(service, declared.place), declared));
    let mut declared: Vec<_> = commands.chain(queries).collect();
    let classes: Vec<Class> = R::meanings().iter().map(|meaning| meaning.class).collect();
    let of_route = |route: &OperationRoute| {
        let at = declared.iter().position(|(_, one)| one.word == route.word);
        let at = at.unwrap_or_else(|| panic!("{} has {}", service.name(), route.word));
        let (answerer, declared) = declared.swap_remove(at);
        route.operation(service, answerer, declared, &classes)
    };
    let operations = routes.iter().map(of_route).collect();
    let left: Vec<&str> = declared.iter().map(|(_, one)| one.word).collect();
    assert!(
        left.is_empty(),
        "{} has no route for {left:?}",
        service.name()
    );
    operations
}

/// The statuses of the problems of a command or a query.
fn problems(is_command: bool, has_body: bool, classes: &[Class]) -> Vec<u16> {
    let is_told = |class: &&Class| match class {
        Class::Invalid | Class::NotFound | Class::Gone | Class::Elsewhere => true,
        Class::Conflict | Class::Early | Class::Forbidden => is_command,
    };
    let of_classes = classes.iter().filter(is_told).map(|class| status(*class));
    let mut all: BTreeSet<u16> = of_classes.chain([400, 429, 503]).collect();
    all.extend(is_command.then_some(422));
    all.extend(has_body.then_some([413, 415]).into_iter().flatten());
    all.into_iter().collect()
}
