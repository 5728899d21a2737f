//! Options about what operators do: what records keep of callers, loads that they start, the access log, and
//! traces.

use super::{
    option::{Declaration, NUMBER, TEXT},
    values::{access_log, addresses, collector, directory, file, one_in, put},
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

pub(super) const TRACES_COLLECTOR: Declaration = Declaration {
    path: "traces.collector",
    flag: "traces-collector",
    value: "off|URL",
    help: "OpenTelemetry collector that is sent the spans of requests, by OTLP over HTTP",
    default: Some("off"),
    example: "http://127.0.0.1:4318",
    set: |config, text| put(&mut config.traces.collector, collector(text)),
    ..TEXT
};

pub(super) const TRACES_ONE_IN: Declaration = Declaration {
    path: "traces.one_in",
    flag: "traces-one-in",
    help: "How many requests without a traceparent there are for each one that is traced; 0 traces none",
    default: Some("1000"),
    example: "1",
    set: |config, text| put(&mut config.traces.one_in, one_in(text)),
    ..NUMBER
};
