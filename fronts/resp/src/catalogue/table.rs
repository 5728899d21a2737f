//! The commands themselves.

mod client;
mod services;

use std::sync::LazyLock;

use super::{Action, Argument, Kind, Syntax, Verb};

pub use services::{SERVICES, refusals};

const WRITE: &[&str] = &["write", "denyoom", "fast"];
const READ: &[&str] = &["readonly", "fast"];
const CONNECTION: &[&str] = &["loading", "stale", "fast"];

const fn argument(name: &'static str, kind: Kind) -> Argument {
    Argument {
        name,
        kind,
        token: None,
        optional: false,
        multiple: false,
    }
}

const fn text(name: &'static str) -> Argument {
    argument(name, Kind::Text)
}

const fn integer(name: &'static str) -> Argument {
    argument(name, Kind::Integer)
}

const fn optional(argument: Argument) -> Argument {
    Argument {
        optional: true,
        ..argument
    }
}

const fn multiple(argument: Argument) -> Argument {
    Argument {
        multiple: true,
        ..argument
    }
}

/// An optional argument behind its word, such as `KEY k`.
const fn option(token: &'static str, argument: Argument) -> Argument {
    Argument {
        token: Some(token),
        optional: true,
        ..argument
    }
}

/// A word that stands for itself, such as `OPEN`.
const fn word(name: &'static str, token: &'static str) -> Argument {
    Argument {
        token: Some(token),
        ..argument(name, Kind::Token)
    }
}

const fn session(
    verb: Verb,
    name: &'static str,
    arguments: &'static [Argument],
    summary: &'static str,
) -> Syntax {
    Syntax {
        name,
        summary,
        group: "connection",
        arguments,
        flags: CONNECTION,
        action: Some(Action::Session(verb)),
        subcommands: &[],
    }
}

const fn container(
    name: &'static str,
    group: &'static str,
    subcommands: &'static [Syntax],
    summary: &'static str,
) -> Syntax {
    Syntax {
        name,
        summary,
        group,
        arguments: &[],
        flags: &[],
        action: None,
        subcommands,
    }
}

/// Every command, the services first.
pub static COMMANDS: LazyLock<Vec<Syntax>> = LazyLock::new(|| {
    let mut all = services::commands();
    all.extend_from_slice(OTHERS);
    all
});

const OTHERS: &[Syntax] = &[
    session(
        Verb::Ping,
        "ping",
        &[optional(text("message"))],
        "Answers PONG, or the message",
    ),
    session(
        Verb::Echo,
        "echo",
        &[text("message")],
        "Answers the message",
    ),
    session(Verb::Quit, "quit", &[], "Closes the connection"),
    session(
        Verb::Reset,
        "reset",
        &[],
        "Makes the connection as good as new",
    ),
    session(
        Verb::Hello,
        "hello",
        &[optional(argument(
            "arguments",
            Kind::Block(&[
                integer("protover"),
                option(
                    "AUTH",
                    argument("auth", Kind::Block(&[text("username"), text("password")])),
                ),
                option("SETNAME", text("clientname")),
            ]),
        ))],
        "Agrees on the protocol",
    ),
    session(
        Verb::Auth,
        "auth",
        &[optional(text("username")), text("password")],
        "Names the caller by its key",
    ),
    session(
        Verb::Select,
        "select",
        &[integer("index")],
        "Accepts 0, the only database",
    ),
    client::CLIENT,
    session(
        Verb::Info,
        "info",
        &[optional(multiple(text("section")))],
        "Facts and counters of the server",
    ),
    Syntax {
        action: Some(Action::Session(Verb::Command)),
        ..container(
            "command",
            "server",
            &[
                session(
                    Verb::CommandCount,
                    "command|count",
                    &[],
                    "How many commands there are",
                ),
                session(
                    Verb::CommandDocs,
                    "command|docs",
                    &[optional(multiple(text("command-name")))],
                    "What commands are for and how they are written",
                ),
                session(
                    Verb::CommandGetKeys,
                    "command|getkeys",
                    &[text("command"), optional(multiple(text("arg")))],
                    "Always an error: no command has key arguments",
                ),
                session(
                    Verb::CommandInfo,
                    "command|info",
                    &[optional(multiple(text("command-name")))],
                    "Arity and flags of commands",
                ),
                session(
                    Verb::CommandList,
                    "command|list",
                    &[],
                    "The names of all commands",
                ),
            ],
            "About commands",
        )
    },
    container(
        "config",
        "server",
        &[session(
            Verb::ConfigGet,
            "config|get",
            &[multiple(text("parameter"))],
            "Settings that Redis tools ask for",
        )],
        "About settings",
    ),
    session(
        Verb::Multi,
        "multi",
        &[],
        "Begins a batch that is executed as one",
    ),
    session(Verb::Exec, "exec", &[], "Executes the batch"),
    session(Verb::Discard, "discard", &[], "Drops the batch"),
    session(
        Verb::Watch,
        "watch",
        &[multiple(text("key"))],
        "Accepted: there are no keys that could change",
    ),
    session(Verb::Unwatch, "unwatch", &[], "Accepted, as WATCH is"),
    session(
        Verb::Subscribe,
        "subscribe",
        &[multiple(text("channel"))],
        "Follows a channel: rooms.events, exchange.events.SYMBOL, games.events, travel.events",
    ),
    session(
        Verb::Unsubscribe,
        "unsubscribe",
        &[optional(multiple(text("channel")))],
        "Leaves channels",
    ),
    session(
        Verb::PatternSubscribe,
        "psubscribe",
        &[multiple(text("pattern"))],
        "Follows the channels whose names match a pattern",
    ),
    session(
        Verb::PatternUnsubscribe,
        "punsubscribe",
        &[optional(multiple(text("pattern")))],
        "Leaves patterns",
    ),
    session(
        Verb::Time,
        "time",
        &[],
        "The server's clock: seconds and microseconds",
    ),
    session(Verb::DbSize, "dbsize", &[], "How many bookings stand"),
    session(
        Verb::Scan,
        "scan",
        &[
            integer("cursor"),
            option("MATCH", text("pattern")),
            option("COUNT", integer("count")),
            option("TYPE", text("type")),
        ],
        "Answers an empty page: this server stores no keys",
    ),
    session(
        Verb::Monitor,
        "monitor",
        &[],
        "Refused: requests carry id numbers; SUBSCRIBE shows events, SLOWLOG slow commands",
    ),
    session(Verb::Role, "role", &[], "The server's role in replication"),
    SLOW_LOG,
    LATENCY,
    container(
        "acl",
        "server",
        &[
            session(
                Verb::AclGetUser,
                "acl|getuser",
                &[text("username")],
                "Shows a principal's keys and roles",
            ),
            session(
                Verb::AclList,
                "acl|list",
                &[],
                "Lists the principals with their roles",
            ),
            session(Verb::AclUsers, "acl|users", &[], "Lists the principals"),
            session(Verb::AclWhoAmI, "acl|whoami", &[], "The caller's principal"),
        ],
        "About callers; ACCESS commands change them",
    ),
    session(
        Verb::ReadOnly,
        "readonly",
        &[],
        "Has queries of this connection answered from the state of this node, which may be stale",
    ),
    session(
        Verb::ReadWrite,
        "readwrite",
        &[],
        "Ends READONLY: queries see all that any node has answered before",
    ),
    CLUSTER,
];

const CLUSTER: Syntax = container(
    "cluster",
    "server",
    &[
        session(
            Verb::ClusterAge,
            "cluster|age",
            &[],
            "The last entry applied here, its position in the journal, and its age in milliseconds",
        ),
        session(
            Verb::ClusterDrain,
            "cluster|drain",
            &[text("node")],
            "Has this node, which must have that name, finish and close its connections",
        ),
        session(
            Verb::ClusterStatus,
            "cluster|status",
            &[],
            "How this node stands and what it knows of the others, as JSON",
        ),
        session(
            Verb::ClusterStepDown,
            "cluster|stepdown",
            &[],
            "Asks the broker that leads the shared log to leave that to another",
        ),
    ],
    "About the nodes that share a log; all but AGE is for operators",
);

const SLOW_LOG: Syntax = container(
    "slowlog",
    "server",
    &[
        session(
            Verb::SlowLogGet,
            "slowlog|get",
            &[optional(integer("count"))],
            "The newest slow commands (10): id, time, microseconds, words, address, name",
        ),
        session(
            Verb::SlowLogLen,
            "slowlog|len",
            &[],
            "How many slow commands are kept, 128 at most",
        ),
        session(
            Verb::SlowLogReset,
            "slowlog|reset",
            &[],
            "Forgets the slow commands",
        ),
    ],
    "Commands that took longer than limits.slow_command_us",
);

const LATENCY: Syntax = container(
    "latency",
    "server",
    &[
        session(
            Verb::LatencyDoctor,
            "latency|doctor",
            &[],
            "Names the commands that show latencies of this server",
        ),
        session(
            Verb::LatencyHistory,
            "latency|history",
            &[text("event")],
            "Empty: no latency events are sampled",
        ),
        session(
            Verb::LatencyLatest,
            "latency|latest",
            &[],
            "Empty: no latency events are sampled",
        ),
        session(
            Verb::LatencyReset,
            "latency|reset",
            &[optional(multiple(text("event")))],
            "Zero: no latency events are sampled",
        ),
    ],
    "Latency events, of which this server samples none",
);
