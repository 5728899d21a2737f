//! What ten thousand open interactive transactions take.

use anyhow::Result;

use crate::{
    driver::{LinesClient, World},
    ground::{Ground, tell},
    process::Neighbours,
    ratio::{Bound, Ratio},
    section::{Figure, Section, Subject},
    server::{Durability, Kind},
};

const OPEN: u32 = 10_000;

/// How many of them each connection starts.
const OPEN_EACH: usize = 500;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let mut bytes = Vec::new();
    for _ in 0..ground.rounds() {
        bytes.push(bytes_each(ground)?);
    }
    let ratio = Ratio::spread(&bytes);
    let mut section = Section {
        title: "Ten thousand open transactions",
        setting: format!(
            "{OPEN} transactions, each of which has queried a customer and queried and reserved a \
             flight, a car and a room of its own: by how much the resident memory of a server in \
             memory has grown for each, {} rounds",
            ground.rounds()
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: vec![Subject {
            name: "turnstile memory".to_owned(),
            figures: vec![Figure {
                name: "bytes/transaction",
                values: bytes,
            }],
        }],
        claims: Vec::new(),
    };
    let target = "resident bytes of an open transaction";
    section.claim_ratio(target, ratio, Bound::AtMost(4_096.0));
    Ok(section)
}

fn bytes_each(ground: &Ground) -> Result<f64> {
    let server = ground.start(Kind::Turnstile(Durability::Memory))?;
    let mut client = LinesClient::connect(server.lines())?;
    let first = client.start()?;
    client.ask_all((0..OPEN).flat_map(|key| {
        let customer = World::customer(key);
        [
            format!("AddCustomerID,{first},{customer}"),
            format!("AddFlight,{first},{key},9,100"),
            format!("AddCars,{first},L{key},9,50"),
            format!("AddRooms,{first},L{key},9,80"),
        ]
    }))?;
    client.ask_all([format!("Commit,{first}")])?;
    let before = server.resident_bytes()?;
    // One connection may have only so many open.
    let keys: Vec<_> = (0..OPEN).collect();
    for keys in keys.chunks(OPEN_EACH) {
        let mut client = LinesClient::connect(server.lines())?;
        client.ask_all(keys.iter().flat_map(|&key| {
            let (xid, customer) = (first + 1 + u64::from(key), World::customer(key));
            [
                "Start".to_owned(),
                format!("QueryCustomer,{xid},{customer}"),
                format!("QueryFlight,{xid},{key}"),
                format!("ReserveFlight,{xid},{customer},{key}"),
                format!("QueryCars,{xid},L{key}"),
                format!("ReserveCar,{xid},{customer},L{key}"),
                format!("QueryRooms,{xid},L{key}"),
                format!("ReserveRoom,{xid},{customer},L{key}"),
            ]
        }))?;
    }
    let grown = server.resident_bytes()?.saturating_sub(before);
    let each = f64::from(u32::try_from(grown / 1_024)?) * 1_024.0 / f64::from(OPEN);
    tell(&format!(
        "Memory: {each:.0} bytes for each open transaction"
    ))?;
    Ok(each)
}
