//! Every claim about services in databases, each beside what its database does by itself.

mod ceiling;
mod exchange;
pub(crate) mod home;
mod rooms;
mod visit;

use crate::section::Part;

/// The parts, by the names they are asked for by.
pub(crate) const SECTIONS: [Part; 8] = [
    ("rooms", rooms::measure),
    ("exchange", exchange::measure),
    ("postgres-ceiling", ceiling::postgres::rooms),
    ("exchange-ceiling", ceiling::postgres::exchange),
    ("innodb-ceiling", ceiling::mariadb::innodb),
    ("memory-ceiling", ceiling::mariadb::memory),
    ("redis-ceiling", ceiling::redis::none),
    ("redis-always-ceiling", ceiling::redis::always),
];

/// Programs beside ours that take part.
pub(crate) const PROGRAMS: [&str; 5] = [
    "/usr/lib/postgresql/15/bin/postgres",
    "mariadbd",
    "redis-server",
    "pgbench",
    "mariadb-slap",
];
