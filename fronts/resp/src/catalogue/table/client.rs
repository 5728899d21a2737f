//! The subcommands of `CLIENT`.

use super::{
    Argument, Kind, Syntax, Verb, argument, container, integer, multiple, option, optional,
    session, text, word,
};

const ENABLED: Argument = argument(
    "enabled",
    Kind::OneOf(&[word("on", "ON"), word("off", "OFF")]),
);

/// An argument behind its word, as one of several choices.
const fn choice(token: &'static str, argument: Argument) -> Argument {
    Argument {
        token: Some(token),
        ..argument
    }
}

/// Connections that are meant: those that every filter fits.
const FILTERS: Argument = multiple(argument(
    "filter",
    Kind::OneOf(&[
        choice("ID", multiple(integer("client-id"))),
        choice("ADDR", text("ip:port")),
        choice("USER", text("username")),
        choice(
            "TYPE",
            argument(
                "type",
                Kind::OneOf(&[
                    word("normal", "NORMAL"),
                    word("pubsub", "PUBSUB"),
                    word("master", "MASTER"),
                    word("replica", "REPLICA"),
                ]),
            ),
        ),
        choice(
            "SKIPME",
            argument(
                "skip-me",
                Kind::OneOf(&[word("yes", "YES"), word("no", "NO")]),
            ),
        ),
        choice("MAXAGE", integer("seconds")),
    ]),
));

pub(super) const CLIENT: Syntax = container(
    "client",
    "connection",
    &[
        session(
            Verb::ClientCaching,
            "client|caching",
            &[argument(
                "mode",
                Kind::OneOf(&[word("yes", "YES"), word("no", "NO")]),
            )],
            "Accepted under tracking, and without effect: no command has keys to track",
        ),
        session(
            Verb::ClientRedirection,
            "client|getredir",
            &[],
            "Where invalidations go: -1 without tracking, 0 to this connection, or a client's id",
        ),
        session(
            Verb::ClientGetName,
            "client|getname",
            &[],
            "The connection's name",
        ),
        session(Verb::ClientId, "client|id", &[], "The connection's number"),
        session(
            Verb::ClientInfo,
            "client|info",
            &[],
            "Facts about this connection",
        ),
        session(
            Verb::ClientKill,
            "client|kill",
            &[argument("client", Kind::OneOf(&[text("ip:port"), FILTERS]))],
            "Closes connections: one by its address, or those that all filters fit",
        ),
        session(
            Verb::ClientList,
            "client|list",
            &[optional(FILTERS)],
            "Facts about every connection, or about those that all filters fit",
        ),
        session(
            Verb::ClientNoEvict,
            "client|no-evict",
            &[ENABLED],
            "Accepted, and without effect: no client is evicted",
        ),
        session(
            Verb::ClientNoTouch,
            "client|no-touch",
            &[ENABLED],
            "Accepted, and without effect: no keys age",
        ),
        session(
            Verb::ClientReply,
            "client|reply",
            &[argument(
                "mode",
                Kind::OneOf(&[word("on", "ON"), word("off", "OFF"), word("skip", "SKIP")]),
            )],
            "Whether replies are sent",
        ),
        session(
            Verb::ClientSetInfo,
            "client|setinfo",
            &[text("attribute"), text("value")],
            "The name and version of the client's library",
        ),
        session(
            Verb::ClientSetName,
            "client|setname",
            &[text("name")],
            "Names the connection",
        ),
        session(
            Verb::ClientTraceParent,
            "client|traceparent",
            &[text("traceparent")],
            "The trace of the next request of a service, or of the next EXEC, as W3C Trace Context writes it",
        ),
        session(
            Verb::ClientTracking,
            "client|tracking",
            &[
                ENABLED,
                option("REDIRECT", integer("client-id")),
                optional(multiple(choice("PREFIX", text("prefix")))),
                optional(word("bcast", "BCAST")),
                optional(word("optin", "OPTIN")),
                optional(word("optout", "OPTOUT")),
                optional(word("noloop", "NOLOOP")),
            ],
            "Accepted: no command has keys, so nothing is tracked and nothing ever invalidated",
        ),
        session(
            Verb::ClientTrackingInfo,
            "client|trackinginfo",
            &[],
            "The connection's tracking mode",
        ),
    ],
    "About connections",
);
