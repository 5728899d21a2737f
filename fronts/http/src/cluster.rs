//! How a node of a cluster stands, and what it knows of the others: the members of its report.

use turnstile_chassis::{Field, Kind};

use crate::schema::Schemas;

const WHERE: &str = "Where clients reach its doors, by their names";

/// The members of the report of a node.
fn report() -> Vec<Field> {
    let mut fields = numbers(&[
        ("run", "How often it has joined the log"),
        ("entry", "The last entry that it has applied"),
        ("lag", "Entries of the log that it has not applied yet"),
        ("under_way", "Its entries on their way to the log"),
        ("epoch", "How often the version of entries has changed"),
        ("entry_version", "The version in which entries are written"),
        ("reads", "The newest version that it reads"),
        ("position", "The last position"),
        ("snapshot", "The position of its last snapshot"),
        ("connections", "Open connections, but for those of HTTP"),
        ("http_connections", "Open connections of HTTP"),
    ]);
    fields.extend([
        field("node", "Its name", Kind::Text("")),
        field("version", "Of its program", Kind::Text("")),
        field(
            "state",
            "Whether it serves",
            Kind::OneOf(&["serves", "drains", "read_only"]),
        ),
        field("chain", "A sum over all entries so far", Kind::Text("")),
        field(
            "broker",
            "The broker that it is connected to",
            Kind::Text(""),
        ),
        field("leader", "The broker that leads the log", Kind::Text("")),
        field("taking", "Whether brokers take its entries", Kind::Flag),
        field(
            "disputed",
            "Whether it has come to another state than others",
            Kind::Flag,
        ),
        sometimes(field("holds", "Its partitions", names())),
        sometimes(field("addresses", WHERE, addresses())),
        field(
            "nodes",
            "All nodes that it has heard in the log, itself among them",
            Kind::List(Box::new(Kind::Object {
                name: "ClusterNode",
                fields: heard,
            })),
        ),
    ]);
    fields
}

/// What a node knows of another.
fn heard() -> Vec<Field> {
    let mut fields = numbers(&[
        ("run", "How often it has joined the log"),
        ("reads", "The newest version of entries that it reads"),
        (
            "entry",
            "The entry that it had applied when it was heard last",
        ),
        ("silent_ms", "Since it was heard last in the log"),
    ]);
    fields.extend([
        field("node", "Its name", Kind::Text("")),
        Field {
            is_required: true,
            ..field(
                "agrees",
                "Whether both had the same state; null when that is not known",
                Kind::Optional(Box::new(Kind::Flag)),
            )
        },
        sometimes(field("version", "Of its program", Kind::Text(""))),
        sometimes(field("holds", "Its partitions", names())),
        sometimes(field("addresses", WHERE, addresses())),
    ]);
    fields
}

fn numbers(all: &[(&'static str, &'static str)]) -> Vec<Field> {
    let fields = all.iter();
    fields
        .map(|&(name, meaning)| field(name, meaning, Kind::NUMBER))
        .collect()
}

const fn field(name: &'static str, meaning: &'static str, kind: Kind) -> Field {
    Field {
        name,
        meaning,
        kind,
        is_required: true,
    }
}

fn sometimes(field: Field) -> Field {
    Field {
        is_required: false,
        ..field
    }
}

fn names() -> Kind {
    Kind::List(Box::new(Kind::Text("")))
}

const fn addresses() -> Kind {
    Kind::Object {
        name: "ClusterAddresses",
        fields: Vec::new,
    }
}

pub(crate) fn schemas() -> Schemas {
    Schemas::new("").listed(
        "ClusterReport",
        "How a node of a cluster stands, and what it knows of the others.",
        report(),
    )
}
