//! The OpenAPI document against the server that publishes it: schemathesis makes requests from the
//! document, right ones and wrong ones, and compares every answer with it.

use std::{path::Path, process::Command};

use crate::{clients::installed, door::door_with};

/// What is allowed beyond the document, each with its reason: `schemathesis.toml` and `hooks.py`.
fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/clients/openapi"))
}

#[test]
fn the_server_answers_as_its_openapi_document_says() {
    // A command that waits for a lock is refused soon.
    let door = door_with(&["--travel-wait-ms", "20"]);
    let data = tempfile::tempdir().expect("a temporary folder");
    let mut schemathesis = Command::new(installed("TURNSTILE_TEST_PYTHON"));
    schemathesis
        .args(["-m", "schemathesis.cli", "--config-file"])
        .arg(folder().join("schemathesis.toml"))
        .arg("run")
        .arg(format!("{}/openapi.json", door.url))
        .env("TURNSTILE_TEST_OPENAPI", folder())
        .current_dir(data.path());
    let output = schemathesis.output().expect("Python runs");
    let report = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}{errors}");
}
