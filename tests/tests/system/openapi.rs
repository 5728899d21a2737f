//! The OpenAPI document against the server that publishes it: schemathesis makes requests from the
//! document, right ones and wrong ones, and compares every answer with it.

use std::{path::Path, process::Command};

use turnstile_tests::Turnstile;

use crate::{
    clients::installed,
    guards::{ROOT, add, guard, key, put},
};

/// What is allowed beyond the document, each with its reason: `schemathesis.toml` and `hooks.py`.
fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/clients/openapi"))
}

/// The number of the key of `desk`.
const DESK: u16 = 1;

/// A server on which a command that waits for a lock is refused soon.
fn server(data: &Path) -> Turnstile {
    Turnstile::dev_with(data, &["--travel-wait-ms", "20"])
}

/// Has schemathesis ask everything as a caller with this key.
fn ask_everything(server: &Turnstile, caller: &str, number: Option<u16>, more: &[&str]) {
    let folder_of_run = tempfile::tempdir().expect("a temporary folder");
    let mut schemathesis = Command::new(installed("TURNSTILE_TEST_PYTHON"));
    schemathesis
        .args(["-m", "schemathesis.cli", "--config-file"])
        .arg(folder().join("schemathesis.toml"))
        .arg("run")
        .arg(format!("http://{}/openapi.json", server.http()))
        .args(more)
        .env("TURNSTILE_TEST_OPENAPI", folder())
        .env("TURNSTILE_TEST_CALLER", caller)
        .current_dir(folder_of_run.path());
    if let Some(number) = number {
        schemathesis.env("TURNSTILE_TEST_KEY", key(number).expose());
    }
    let output = schemathesis.output().expect("Python runs");
    let report = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{caller}: {report}{errors}");
}

#[test]
fn the_server_answers_as_its_openapi_document_says() {
    let data = tempfile::tempdir().expect("a temporary folder");
    ask_everything(&server(data.path()), "local", None, &[]);
}

/// A few requests for each operation are enough: what differs is who asks.
#[test]
fn a_server_with_keys_answers_each_caller_as_its_openapi_document_says() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = server(data.path());
    let mut root = guard(server.resp());
    add(&mut root, "desk", "rooms.user bench", DESK);
    // What schemathesis sets for all is not for the administrator.
    let kinds = [
        "REQUESTS_PER_SECOND",
        "CONNECTIONS",
        "REQUESTS_UNDER_WAY",
        "BYTES_OUT_PER_SECOND",
        "OPEN_HOLDS",
        "OPEN_TRANSACTIONS",
        "OPEN_ORDERS",
        "IDEMPOTENCY_KEYS",
    ];
    let quota = kinds.map(|kind| format!("{kind} 100000000")).join(" ");
    put(&mut root, &format!("ACCESS.SET-QUOTA root {quota}"));
    let few = ["--phases", "examples,fuzzing", "--max-examples", "4"];
    // Without a key it is not told which methods there are.
    let no_methods = ["--exclude-checks", "unsupported_method"];
    ask_everything(&server, "stranger", None, &[&few[..], &no_methods].concat());
    ask_everything(&server, "desk", Some(DESK), &few);
    ask_everything(&server, "root", Some(ROOT), &few);
}
