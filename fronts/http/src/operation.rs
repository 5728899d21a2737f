//! The table of operations: the router, the OpenAPI document and the docs page are made of it.

mod exchange;
mod games;
mod rooms;
mod travel;

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
}

/// One operation of the door.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub method: Method,
    /// The path, with `{names}` for its parameters.
    pub path: &'static str,
    /// Unique; the name of the operation in generated clients.
    pub id: &'static str,
    pub summary: &'static str,
    /// The names of the query's parameters; a `!` marks one that must be given.
    pub query: &'static [&'static str],
    /// The schema of the body, where there is one.
    pub body: Option<&'static str>,
    pub success: Success,
    /// Whether it is a command, and so may change something; some that read are commands that lock.
    pub acts: bool,
    /// The words of the refusals and errors beyond those that every operation may answer.
    pub problems: &'static [u16],
}

/// What an operation answers when it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// 201, or 200 when replayed, with JSON of this schema.
    Made(&'static str),
    /// 200 with JSON of this schema.
    Json(&'static str),
    /// 200 with one of these content types, the first unless the client wants another.
    Content(&'static [&'static str]),
    /// 101: the connection speaks this protocol from then on.
    Protocol(&'static str),
}

impl Operation {
    /// Whether it changes something, and so takes an `Idempotency-Key`.
    #[must_use]
    pub fn mutates(&self) -> bool {
        self.method != Method::Get && self.id != "searchGuest"
    }

    /// Whether pages of foreign origins are refused: it may change something, or its answer is a
    /// stream of events or a socket, which stay open.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.acts
            || match self.success {
                Success::Content(contents) => contents.contains(&EVENTS),
                Success::Protocol(_) => true,
                Success::Made(_) | Success::Json(_) => false,
            }
    }

    /// The content types of its success; none where the connection becomes a socket.
    #[must_use]
    pub const fn contents(&self) -> &'static [&'static str] {
        match self.success {
            Success::Made(_) | Success::Json(_) => &[JSON],
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

    /// The part of the documentation that it stands in: its service, or the server.
    #[must_use]
    pub fn chapter(&self) -> &'static str {
        let service = self.path.strip_prefix("/v1/");
        let service = service.and_then(|path| path.split('/').next());
        let chapter = CHAPTERS.iter().find(|(path, ..)| Some(*path) == service);
        chapter.map_or(SERVER.1, |(_, name, _)| name)
    }

    /// The names in the path.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        let parts = self.path.split('/');
        parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// A read of the machine, with no body.
const fn read(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    query: &'static [&'static str],
    schema: &'static str,
) -> Operation {
    Operation {
        method: Method::Get,
        path,
        id,
        summary,
        query,
        body: None,
        success: Success::Json(schema),
        acts: false,
        problems: &[400, 404],
    }
}

/// A document of the door itself.
const fn document(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    contents: &'static [&'static str],
) -> Operation {
    Operation {
        method: Method::Get,
        path,
        id,
        summary,
        query: &[],
        body: None,
        success: Success::Content(contents),
        acts: false,
        problems: &[],
    }
}

/// A command.
const fn command(
    method: Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    body: Option<&'static str>,
    success: Success,
) -> Operation {
    Operation {
        method,
        path,
        id,
        summary,
        query: &[],
        body,
        success,
        acts: true,
        problems: &[400, 404, 409, 413, 415, 422],
    }
}

const fn with_query(operation: Operation, query: &'static [&'static str]) -> Operation {
    Operation { query, ..operation }
}

const fn with_problems(operation: Operation, problems: &'static [u16]) -> Operation {
    Operation {
        problems,
        ..operation
    }
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const PAGED: &[&str] = &["limit", "cursor"];
const RECEIPT: Success = Success::Json("Receipt");

/// A chapter of the documentation: the path, the name, what it is about.
type Chapter = (&'static str, &'static str, &'static str);

const CHAPTERS: [Chapter; 4] = [
    (
        "rooms",
        "Rooms",
        "Rooms of hotels for nights: book, hold, cancel",
    ),
    ("exchange", "Exchange", "Accounts, orders and order books"),
    (
        "games",
        "Games",
        "Games of two players, and their standings",
    ),
    (
        "travel",
        "Travel",
        "Transactions and itineraries over flights, cars and rooms",
    ),
];

const SERVER: Chapter = ("", "Server", "The server itself");

/// The chapters of the documentation, in order: name and what it is about.
pub(crate) fn chapters() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = CHAPTERS.iter().chain([&SERVER]);
    all.map(|(_, name, about)| (*name, *about))
}

/// The operation that answers a method at a path. `HEAD` is answered as `GET` is.
#[must_use]
pub fn operation_at(method: &str, path: &str) -> Option<&'static Operation> {
    let method = if method == "HEAD" { "GET" } else { method };
    operations().find(|one| one.method.as_str() == method && one.has_path(path))
}

/// Every operation, in the order of the docs page.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    let services = [
        rooms::OPERATIONS,
        exchange::OPERATIONS,
        games::OPERATIONS,
        travel::OPERATIONS,
    ];
    services.into_iter().chain([DOCUMENTS]).flatten()
}

const DOCUMENTS: &[Operation] = &[
    document("/livez", "live", "Whether the process runs", &[JSON]),
    Operation {
        problems: &[503],
        ..document("/readyz", "ready", "Whether requests are answered", &[JSON])
    },
    document("/version", "version", "Which program this is", &[JSON]),
    Operation {
        problems: &[503],
        ..document(
            "/metrics",
            "metrics",
            "Counters, in the classic text format of Prometheus or as OpenMetrics",
            &["text/plain", "application/openmetrics-text"],
        )
    },
    document("/openapi.json", "openapi", "This description", &[JSON]),
    document("/docs", "docs", "This description, to read", &["text/html"]),
    document(
        "/docs/style.css",
        "docsStyle",
        "How the docs page looks",
        &["text/css"],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_routes_are_unique() {
        for (at, operation) in operations().enumerate() {
            for other in operations().skip(at + 1) {
                assert_ne!(operation.id, other.id);
                let same = operation.path == other.path && operation.method == other.method;
                assert!(!same, "{} {}", operation.method.as_str(), operation.path);
            }
        }
    }

    #[test]
    fn path_parameters_are_found() {
        let withdraw = operations()
            .find(|found| found.id == "withdrawRoom")
            .unwrap();
        let names: Vec<&str> = withdraw.path_parameters().collect();
        assert_eq!(names, ["property", "room"]);
    }
}
