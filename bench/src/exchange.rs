//! Every claim about the speed and memory of the exchange over its doors.

mod exchange_core;
mod memory;

use anyhow::Result;

use crate::{
    contest::{self, Contender, RATE, SERVER_CPU},
    driver::{
        Order::{Resp, RespWithId, Xml},
        Speech::{self, Bookings, Orders},
        Work,
    },
    ground::Ground,
    ratio::Bound::{AtLeast, AtMost, None as Compared},
    section::{Part, Section},
    server::{
        Durability::{self, Memory, Sync},
        Kind::Turnstile,
    },
};

/// The parts, by the names they are asked for by.
pub(crate) const SECTIONS: [Part; 4] = [
    ("pipelined", pipelined),
    ("xml-unpipelined", xml_unpipelined),
    ("xml-pipelined", xml_pipelined),
    ("memory", memory::measure),
];

/// The part that is measured only on request: it needs Java, and brings a program from elsewhere.
pub(crate) const EXCHANGE_CORE: Part = ("exchange-core", exchange_core::measure);

const ORDERS: Contender = durable(Orders(Resp));
const OVER_XML: Contender = durable(Orders(Xml));

const fn durable(speech: Speech) -> Contender {
    at(Sync, speech)
}

const fn at(durability: Durability, speech: Speech) -> Contender {
    Contender {
        kind: Turnstile(durability),
        work: Work::Speech(speech),
    }
}

fn pipelined(ground: &Ground) -> Result<Section> {
    let contenders = [
        ORDERS,
        durable(Bookings),
        durable(Orders(RespWithId)),
        at(Memory, Orders(Resp)),
    ];
    let title = "Pipelined, 50 x 16";
    let mut section = contest::run(ground, title, ground.load(50, 16), &contenders)?;
    section.claim(
        "50 x 16: server CPU of a durable order / durable booking",
        SERVER_CPU,
        (0, 1),
        AtMost(1.5),
    );
    section.claim(
        "50 x 16: rate of durable orders / durable bookings",
        RATE,
        (0, 1),
        Compared,
    );
    section.claim(
        "50 x 16: server CPU of a durable order with client id / durable booking",
        SERVER_CPU,
        (2, 1),
        Compared,
    );
    section.claim(
        "50 x 16: rate of durable orders / the same in memory",
        RATE,
        (0, 3),
        Compared,
    );
    Ok(section)
}

fn xml_unpipelined(ground: &Ground) -> Result<Section> {
    let title = "XML, 64 x 1";
    let mut section = contest::run(ground, title, ground.load(64, 1), &[OVER_XML, ORDERS])?;
    section.claim(
        "64 x 1: rate of durable orders over XML / over RESP",
        RATE,
        (0, 1),
        AtLeast(0.85),
    );
    section.claim(
        "64 x 1: server CPU of a durable order over XML / over RESP",
        SERVER_CPU,
        (0, 1),
        Compared,
    );
    Ok(section)
}

fn xml_pipelined(ground: &Ground) -> Result<Section> {
    let title = "XML, 50 x 16";
    let mut section = contest::run(ground, title, ground.load(50, 16), &[OVER_XML, ORDERS])?;
    section.claim(
        "50 x 16: rate of durable orders over XML / over RESP",
        RATE,
        (0, 1),
        AtLeast(0.4),
    );
    section.claim(
        "50 x 16: server CPU of a durable order over XML / over RESP",
        SERVER_CPU,
        (0, 1),
        Compared,
    );
    Ok(section)
}
