//! What is no command and no query of a service: streams, sockets, and the door's own documents.

use std::sync::LazyLock;

use turnstile_chassis::{Cursor, Kind, Need, PAGE, PAGE_MAX, Parameter, Readable};
use turnstile_exchange::{AccountId, Symbol};
use turnstile_games::{MatchId, PlayerId};

use super::{
    Answerer, Audience, EVENTS, JSON, Method, Operation, Place, PlacedParameter, Service, Success,
};

/// A place in a feed: `<position>` or `<position>.<ordinal>`.
const EVENT_ID: Kind = Kind::Pattern {
    example: "17.0",
    pattern: r"^[0-9]{1,19}(\.[0-9]{1,9})?$",
};

/// One for each partition, in the order of the cluster's list.
const EVENT_IDS: Kind = Kind::Pattern {
    example: "17.0",
    pattern: r"^[0-9]{1,19}(\.[0-9]{1,9})?(,[0-9]{1,19}(\.[0-9]{1,9})?){0,63}$",
};

/// The words of `order`.
const ORDERS: &[&str] = &["oldest", "newest"];

/// The words of `format`.
pub(crate) const FORMATS: &[&str] = &["sse", "ndjson"];

const PROMETHEUS: [&str; 2] = ["text/plain", "application/openmetrics-text"];

pub(super) fn document(
    answerer: Answerer,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    contents: &'static [&'static str],
) -> Operation {
    Operation {
        answerer,
        method: Method::Get,
        path: path.to_owned(),
        id: id.to_owned(),
        summary,
        parameters: Vec::new(),
        success: Success::Content(contents),
        is_versioned: false,
        has_precondition: false,
        problems: Vec::new(),
        audience: Audience::of_document(answerer),
    }
}

pub(super) const fn query(
    name: &'static str,
    meaning: &'static str,
    kind: Kind,
) -> PlacedParameter {
    PlacedParameter {
        place: Place::Query,
        declared: Parameter {
            name,
            meaning,
            kind,
            need: Need::Optional,
            default: None,
        },
    }
}

/// The same where a request without it is wrong.
pub(super) fn required(parameter: PlacedParameter) -> PlacedParameter {
    let declared = Parameter {
        need: Need::Required,
        ..parameter.declared
    };
    PlacedParameter {
        declared,
        ..parameter
    }
}

const fn since() -> PlacedParameter {
    query(
        "since",
        "The event that was seen last; the header Last-Event-ID comes before it",
        EVENT_ID,
    )
}

const fn since_in_partitions() -> PlacedParameter {
    query(
        "since",
        "The event that was seen last; the header Last-Event-ID comes before it. With several partitions, \
         one for each in their order, with commas between them",
        EVENT_IDS,
    )
}

fn stream(service: Service) -> Operation {
    let mut parameters = vec![match service.is_spread() {
        true => since_in_partitions(),
        false => since(),
    }];
    if service == Service::Exchange {
        parameters.push(query(
            "symbol",
            "Only events of this symbol",
            Symbol::kind(),
        ));
        let account = AccountId::kind();
        parameters.push(query("account", "Only events of this account", account));
    }
    if service.is_spread() {
        parameters.push(query(
            "partition",
            "The only partition whose events are followed; without it, all of a cluster with several",
            Kind::NAME,
        ));
    }
    Operation {
        path: format!("/v1/{}/events", service.name()),
        id: format!("{}Events", service.name()),
        parameters,
        problems: vec![400, 503],
        ..document(
            Answerer::Events(service),
            "",
            "",
            "Follows what happens, as server-sent events",
            &[EVENTS],
        )
    }
}

fn security_events() -> Operation {
    Operation {
        parameters: vec![since()],
        problems: vec![400, 503],
        ..document(
            Answerer::SecurityEvents,
            "/v1/security/events",
            "securityEvents",
            "Follows failed logins and what operators do, as server-sent events",
            &[EVENTS],
        )
    }
}

fn watch() -> Operation {
    let number = PlacedParameter {
        place: Place::Path,
        ..required(query("match", "", MatchId::kind()))
    };
    let format = query(
        "format",
        "Server-sent events, or one JSON object a line; when it is left out, the Accept header decides",
        Kind::OneOf(FORMATS),
    );
    Operation {
        parameters: vec![number, since(), format],
        problems: vec![400, 404, 503],
        ..document(
            Answerer::MatchEvents,
            "/v1/games/matches/{match}/events",
            "gamesMatchEvents",
            "Watches a match, from its state to its end",
            &[EVENTS, "application/x-ndjson"],
        )
    }
}

fn sockets() -> [Operation; 2] {
    let player = required(query("player", "", PlayerId::kind()));
    let feed = Operation {
        success: Success::Protocol("The connection speaks WebSocket: see docs/feed.md"),
        problems: vec![400, 426, 503],
        ..document(
            Answerer::ExchangeFeed,
            "/v1/exchange/feed",
            "exchangeFeed",
            "Opens a WebSocket for books, trades, tops and orders, as snapshots and changes, and for \
             order entry",
            &[],
        )
    };
    let play = Operation {
        success: Success::Protocol("The connection speaks WebSocket: see docs/games-feed.md"),
        parameters: vec![player, since()],
        problems: vec![400, 426, 503],
        ..document(
            Answerer::Play,
            "/v1/games/play",
            "gamesPlay",
            "Opens the WebSocket of a player, who is connected while it is open",
            &[],
        )
    };
    [feed, play]
}

/// What a browser that has shown its key does with its session.
fn sessions() -> [Operation; 6] {
    use Answerer::{EndSession, Logout, OpenSession, OwnSession, Sessions, Ticket};
    use Method::{Delete, Get, Post};
    const OWN: &str = "/v1/session";
    let operation = |answerer, method, path, (id, schema), summary, problems: &[u16]| Operation {
        method,
        success: Success::Json(schema),
        problems: problems.to_vec(),
        ..document(answerer, path, id, summary, &[])
    };
    let opens = "Opens a browser session for the key of the request; the answer sets its cookie";
    let shows = "Shows the browser session of the request, with the token for changes";
    let lists = "Lists the open browser sessions of the caller; an administrator sees all";
    let ends = "Ends a browser session of the caller; an administrator ends any";
    let gives = "Makes a ticket for one event stream or WebSocket, to stand in its address";
    let one = "/v1/sessions/{session}";
    let session = PlacedParameter {
        place: Place::Path,
        ..required(query("session", "", Kind::NAME))
    };
    let own = |id| (id, "OwnSession");
    let over = |id| (id, "SessionOver");
    let all = ("listSessions", "SessionList");
    let ticket = ("createTicket", "NewTicket");
    [
        operation(
            OpenSession,
            Post,
            OWN,
            own("openSession"),
            opens,
            &[400, 429, 503],
        ),
        operation(OwnSession, Get, OWN, own("getSession"), shows, &[400, 404]),
        operation(
            Logout,
            Delete,
            OWN,
            over("closeSession"),
            "Ends the browser session of the request",
            &[400, 404],
        ),
        operation(Sessions, Get, "/v1/sessions", all, lists, &[400]),
        Operation {
            parameters: vec![session],
            ..operation(
                EndSession,
                Delete,
                one,
                over("endSession"),
                ends,
                &[400, 404],
            )
        },
        operation(Ticket, Post, "/v1/tickets", ticket, gives, &[400, 503]),
    ]
}

fn audit() -> Operation {
    static SERVICES: LazyLock<Vec<&str>> =
        LazyLock::new(|| Service::ALL.iter().map(|service| service.name()).collect());
    let (min, max) = (1, PAGE_MAX);
    let mut limit = query(
        "limit",
        "Commands of a page; those that one record answered stand together",
        Kind::Number { min, max },
    );
    limit.declared.default = Some(PAGE.to_string());
    let next = <Cursor as Readable>::kind();
    let mut order = query(
        "order",
        "Whether the commands that were decided first or last stand first; a cursor is for the order of its page",
        Kind::OneOf(ORDERS),
    );
    order.declared.default = Some("oldest".to_owned());
    Operation {
        success: Success::Json("AuditPage"),
        parameters: vec![
            query("principal", "Only its commands", Kind::NAME),
            query("service", "Only its commands", Kind::OneOf(&SERVICES)),
            query("since", "From this instant on", Kind::Instant),
            query("until", "Before this instant", Kind::Instant),
            query("refused", "Only what was refused", Kind::Flag),
            order,
            query("cursor", "The next of the page before", next),
            limit,
        ],
        problems: vec![400, 501, 503],
        ..document(
            Answerer::Audit,
            "/v1/audit",
            "audit",
            "Shows who did what, and what was refused and why, from the journal itself",
            &[],
        )
    }
}

fn reload() -> Operation {
    Operation {
        method: Method::Post,
        success: Success::Json("ReloadDone"),
        problems: vec![400, 409, 503],
        ..document(
            Answerer::Reload,
            "/v1/admin/reload",
            "reloadConfiguration",
            "Reads the configuration and the files of TLS again, as SIGHUP does; all that has changed is \
             taken over, or nothing",
            &[],
        )
    }
}

fn recount() -> Operation {
    let player = query("player", "Whose results are shown", PlayerId::kind());
    Operation {
        success: Success::Json("PlayerRecount"),
        parameters: vec![PlacedParameter {
            place: Place::Path,
            ..required(player)
        }],
        problems: vec![400, 501, 503],
        ..document(
            Answerer::Recount,
            "/v1/games/players/{player}/recount",
            "recountPlayer",
            "Counts all results in the journal again, compares every statistic, and shows a player's results",
            &[],
        )
    }
}

fn cluster() -> Operation {
    Operation {
        success: Success::Json("ClusterReport"),
        problems: vec![400, 404, 503],
        ..document(
            Answerer::Cluster,
            "/v1/cluster",
            "clusterStatus",
            "Shows how this node of a cluster stands, and what it knows of the others",
            &[],
        )
    }
}

/// What a backup or a standby asks for.
fn backup() -> [Operation; 3] {
    const BYTES: &[&str] = &["application/octet-stream"];
    let number = |name, meaning, kind| required(query(name, meaning, kind));
    let (min, max) = (1, u32::MAX.into());
    let segment = Kind::Number { min, max };
    let offset = Kind::Number { min: 0, max };
    [
        Operation {
            problems: vec![503],
            ..document(
                Answerer::Backup,
                "/v1/backup",
                "describeBackup",
                "Says with what a copy of the journal can begin",
                &[JSON],
            )
        },
        Operation {
            parameters: vec![
                number("segment", "The segment in which the copy ends", segment),
                number("offset", "The byte in it behind the last group", offset),
                number("after", "The last position of the copy", Kind::NUMBER),
            ],
            problems: vec![400, 410, 503],
            ..document(
                Answerer::BackupPieces,
                "/v1/backup/pieces",
                "backupPieces",
                "Gives groups of the journal that follow a place, as they lie on the disk",
                BYTES,
            )
        },
        Operation {
            parameters: vec![
                number("position", "Of the snapshot", Kind::NUMBER),
                number("offset", "Of the first wanted byte", Kind::NUMBER),
            ],
            problems: vec![400, 410, 503],
            ..document(
                Answerer::BackupSnapshot,
                "/v1/backup/snapshot",
                "backupSnapshot",
                "Gives bytes of a snapshot's file",
                BYTES,
            )
        },
    ]
}

pub(crate) fn operations() -> Vec<Operation> {
    let mut all: Vec<Operation> = Service::ALL.iter().copied().map(stream).collect();
    all.push(watch());
    all.extend(sockets());
    all.extend(sessions());
    all.extend([audit(), security_events(), reload(), cluster(), recount()]);
    all.extend(backup());
    all.extend(super::lab::operations());
    all.extend(documents());
    all
}

fn documents() -> [Operation; 8] {
    [
        document(
            Answerer::Live,
            "/livez",
            "live",
            "Says that the process runs",
            &[JSON],
        ),
        Operation {
            problems: vec![503],
            ..document(
                Answerer::Ready,
                "/readyz",
                "ready",
                "Says whether requests are answered",
                &[JSON],
            )
        },
        document(
            Answerer::Version,
            "/version",
            "version",
            "Says which program this is",
            &[JSON],
        ),
        Operation {
            problems: vec![503],
            ..document(
                Answerer::Metrics,
                "/metrics",
                "metrics",
                "Shows the counters, in the classic text format of Prometheus or as OpenMetrics",
                &PROMETHEUS,
            )
        },
        document(
            Answerer::Openapi,
            "/openapi.json",
            "openapi",
            "Shows this description for programs",
            &[JSON],
        ),
        document(
            Answerer::Docs,
            "/docs",
            "docs",
            "Shows this description for people",
            &["text/html"],
        ),
        document(
            Answerer::DocsStyle,
            "/docs/style.css",
            "docsStyle",
            "The style sheet of the documentation",
            &["text/css"],
        ),
        document(
            Answerer::DocsScript,
            "/docs/script.js",
            "docsScript",
            "The script of the documentation",
            &["text/javascript"],
        ),
    ]
}
