//! Options about what operators do: what records keep of callers, loads that they start, and the access log.

use super::{
    option::{Declaration, TEXT},
    values::{access_log, addresses, directory, file, put},
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

pub(super) const ACCESS_LOG: Declaration = Declaration {
    path: "log.access",
    flag: "access-log",
    value: "off|stderr|FILE",
    help: "Where a line is written for each request, in the format of log.format. SIGHUP opens the \
           file again",
    default: Some("off"),
    example: "stderr",
    set: |config, text| put(&mut config.access_log, access_log(text)),
    ..TEXT
};
