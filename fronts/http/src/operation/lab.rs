//! Loads of the lab against this server.

use std::sync::LazyLock;

use turnstile_chassis::Kind;

use super::{
    Answerer, JSON, Method, Operation, Place, PlacedParameter, Service, Success,
    documents::{document, query, required},
};

/// The kinds of loads, as they are asked for.
pub(crate) const KINDS: &[&str] = &["run", "rush", "check"];

/// The services under load, as they are asked for: all that sell something.
pub(crate) static SERVICES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let sold = Service::ALL
        .iter()
        .filter(|service| **service != Service::Access);
    sold.map(|service| service.name()).collect()
});

/// The most clients of a load that is started over HTTP.
pub(crate) const LAB_CLIENTS_MAX: u64 = 1_000;

/// The longest load that is started over HTTP, in seconds.
pub(crate) const LAB_SECONDS_MAX: u64 = 600;

/// The most requests a second that are asked for.
pub(crate) const LAB_RATE_MAX: u64 = 1_000_000;

/// The most rooms of a rush.
pub(crate) const LAB_ROOMS_MAX: u64 = 1_000;

/// Clients when nothing is said.
pub(crate) const CLIENTS: u64 = 50;

/// Seconds when nothing is said.
pub(crate) const SECONDS: u64 = 10;

const RUNS: &str = "/v1/lab/runs";
const ONE: &str = "/v1/lab/runs/{run}";

pub(super) fn operations() -> [Operation; 7] {
    let starts = "Starts a load of the lab against this server: one at a time";
    let lists =
        "Lists the loads that were started here, and the results of those from before a restart";
    let shows = "Shows how a load stands";
    let stops = "Stops a load before its end; it has no result then";
    let start = Operation {
        method: Method::Post,
        parameters: wishes(),
        problems: vec![400, 409, 415, 501, 503],
        ..shown(
            Answerer::StartLabRun,
            RUNS,
            ("startLabRun", "LabRun"),
            starts,
        )
    };
    let stop = Operation {
        method: Method::Delete,
        ..shown(Answerer::StopLabRun, ONE, ("stopLabRun", "LabRun"), stops)
    };
    [
        start,
        shown(
            Answerer::LabRuns,
            RUNS,
            ("listLabRuns", "LabRunList"),
            lists,
        ),
        of_one(shown(Answerer::LabRun, ONE, ("getLabRun", "LabRun"), shows)),
        of_one(stop),
        progress(),
        of_one(document(
            Answerer::LabResult,
            "/v1/lab/runs/{run}/result",
            "labResult",
            "Gives the result of a load: see docs/formats/run-json.md",
            &[JSON],
        )),
        of_one(document(
            Answerer::LabReport,
            "/v1/lab/runs/{run}/report",
            "labReport",
            "Shows the report of a load, as a page",
            &["text/html"],
        )),
    ]
}

fn shown(
    answerer: Answerer,
    path: &'static str,
    (id, schema): (&'static str, &'static str),
    summary: &'static str,
) -> Operation {
    Operation {
        success: Success::Json(schema),
        problems: vec![400, 501],
        ..document(answerer, path, id, summary, &[])
    }
}

/// How one load went, from an instant on.
fn progress() -> Operation {
    let shows = "Shows how a load goes, second by second";
    let after = "Only seconds that end later in the load, in milliseconds";
    let id = ("labProgress", "LabSeconds");
    let path = "/v1/lab/runs/{run}/progress";
    let mut operation = of_one(shown(Answerer::LabProgress, path, id, shows));
    let (min, max) = (0, u64::MAX);
    operation
        .parameters
        .push(query("after", after, Kind::Number { min, max }));
    operation
}

/// The same for one load.
fn of_one(operation: Operation) -> Operation {
    let (min, max) = (1, u64::MAX);
    let run = query("run", "The number of the load", Kind::Number { min, max });
    Operation {
        parameters: vec![PlacedParameter {
            place: Place::Path,
            ..required(run)
        }],
        problems: vec![400, 404, 501],
        ..operation
    }
}

/// What is said of a load that somebody wants.
fn wishes() -> Vec<PlacedParameter> {
    let number = |name, meaning, max, default: Option<u64>| {
        let mut parameter = query(name, meaning, Kind::Number { min: 1, max });
        parameter.declared.default = default.map(|number| number.to_string());
        parameter
    };
    let mut service = query(
        "service",
        "The service under load; a rush is for rooms",
        Kind::OneOf(&SERVICES),
    );
    service.declared.default = Some("rooms".to_owned());
    let kind = query(
        "kind",
        "Load with a proof at its end, many clients for few rooms, or load whose every answer is checked",
        Kind::OneOf(KINDS),
    );
    let clients = "Clients, each with a connection";
    let seconds = "How long it lasts; a rush ends by itself";
    let rate = "Requests a second; without it each client waits for its answer";
    let all = [
        required(kind),
        service,
        number("clients", clients, LAB_CLIENTS_MAX, Some(CLIENTS)),
        number("seconds", seconds, LAB_SECONDS_MAX, Some(SECONDS)),
        number("rate", rate, LAB_RATE_MAX, None),
        number("rooms", "Rooms for sale in a rush", LAB_ROOMS_MAX, Some(1)),
    ];
    let in_body = |parameter| PlacedParameter {
        place: Place::Body,
        ..parameter
    };
    all.map(in_body).to_vec()
}
