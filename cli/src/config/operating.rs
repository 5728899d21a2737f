//! Options about what operators do: what records keep of callers, and loads that they start.

use super::{
    option::{Declaration, TEXT},
    values::{addresses, directory, file, put},
};

pub(super) const AUDIT_ADDRESSES: Declaration = Declaration {
    path: "audit.addresses",
    flag: "audit-addresses",
    value: "none|network|whole",
    help: "How much of a caller's address records keep: nothing, its network (/24 or /48), or all",
    default: Some("network"),
    example: "none",
    set: |config, text| put(&mut config.server.addresses, addresses(text)),
    ..TEXT
};

pub(super) const LAB_RESULTS: Declaration = Declaration {
    path: "lab.results",
    flag: "lab-results",
    value: "DIR",
    help: "Directory for results of loads that operators start over HTTP and in the console. \
           Without it, dev uses a temporary one and serve starts no loads",
    example: "/a",
    set: |config, text| put(&mut config.lab.results, directory(text)),
    ..TEXT
};

pub(super) const LAB_KEY_FILE: Declaration = Declaration {
    path: "lab.key_file",
    flag: "lab-key-file",
    value: "FILE",
    help: "File with the key that these loads log in with, where the server asks for keys",
    example: "/a",
    set: |config, text| put(&mut config.lab.key_file, file(text)),
    ..TEXT
};
