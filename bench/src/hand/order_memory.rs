//! What a million resting orders take: by the allocator's count, of the machine in this process,
//! and by the resident memory of a whole server.

use std::thread;

use anyhow::{Result, ensure};
use turnstile_client::Connection;
use turnstile_exchange::{ClientId, Command, Exchange, Outcome, Side};
use turnstile_trial::Tally;
use turnstile_types::{Context, Machine as _, Position, Principal, Timestamp};

use crate::{
    ground::{Ground, tell},
    load::fill::{self, is_done},
    orders::{self, ACCOUNT, LEVELS, PLENTY, SYMBOL, place},
    probe::joined,
    process::bytes_each,
    ratio::{Bound, Ratio},
    section::{MeasuredRow, Section, SubjectMetric},
    server::{Kind, ServerDurability},
};

const MILLION: u32 = 1_000_000;

/// Orders under way over RESP.
const BATCH: u32 = 1_000;

const BYTES: &str = "bytes/order";

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let title = "A million resting orders";
    let mut section = Section::between_probes(ground, title, || {
        let mut subjects = Vec::new();
        for (with_ids, what) in [
            (true, "with client ids of 36 characters"),
            (false, "without"),
        ] {
            let counted = joined(thread::spawn(move || allocated(MILLION, with_ids)))?;
            let resident = resident(ground, with_ids)?;
            tell(&format!(
                "Memory {what}: {counted:.1} and {resident:.1} bytes"
            ))?;
            for (how, bytes) in [("counted", counted), ("resident", resident)] {
                let figures = vec![SubjectMetric::one(BYTES, bytes)];
                subjects.push(MeasuredRow::new(format!("{what}, {how}"), figures));
            }
        }
        let setting = format!(
            "{MILLION} orders of one account at {LEVELS} prices of one symbol. Counted: what the \
             machine alone has allocated; resident: by how much a server in memory has grown"
        );
        Ok((setting, subjects))
    })?;
    for (subject, target) in [
        (0, "bytes of a resting order with client id, counted"),
        (1, "bytes of a resting order with client id, resident"),
        (2, "bytes of a resting order without client id, counted"),
        (3, "bytes of a resting order without client id, resident"),
    ] {
        let ratio = Ratio::spread(section.subjects[subject].values(BYTES));
        section.claim_ratio(target, ratio, Bound::AtMost(200.0));
    }
    Ok(section)
}

fn client_id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Bytes that the machine allocates for each order.
fn allocated(count: u32, with_ids: bool) -> Result<f64> {
    let mut exchange = Exchange::empty();
    let mut position = Position(0);
    let mut apply = |command: &Command| {
        let context = Context {
            position,
            now: Timestamp(position.0),
            principal: &Principal::local(),
        };
        let outcome = exchange.apply(&context, command);
        exchange.drain_events(&mut |_event| {});
        position = position.next();
        ensure!(matches!(outcome, Outcome::Done(_)), "refused: {outcome:?}");
        Ok(())
    };
    for command in orders::setup()? {
        apply(&command)?;
    }
    let before = Tally::now();
    for number in 0..count {
        let id = with_ids.then(|| ClientId::parse(client_id(number).as_bytes()));
        apply(&orders::order(number, id.transpose()?)?)?;
    }
    let bytes = Tally::now().bytes_since(before);
    bytes_each(bytes, count)
}

/// Bytes by which a server grows for each order.
fn resident(ground: &Ground, with_ids: bool) -> Result<f64> {
    let server = ground.start(Kind::Turnstile(ServerDurability::Memory))?;
    let mut connection = server.connect()?;
    let setup = [
        format!("1 EXCHANGE.CREATE-ACCOUNT {ACCOUNT} {PLENTY}"),
        format!("1 EXCHANGE.GRANT {ACCOUNT} {SYMBOL} {PLENTY}"),
    ];
    fill::run(&mut connection, &setup)?;
    let before = server.resident_bytes()?;
    for first in (0..MILLION).step_by(usize::try_from(BATCH)?) {
        for number in first..first + BATCH {
            send(&mut connection, number, with_ids);
        }
        connection.flush()?;
        for _ in 0..BATCH {
            let reply = connection.receive()?;
            ensure!(is_done(&reply), "refused: {reply:?}");
        }
    }
    bytes_each(server.resident_bytes()?.saturating_sub(before), MILLION)
}

fn send(connection: &mut Connection, number: u32, with_ids: bool) {
    let (side, price) = place(number);
    let (price, id) = (price.to_string(), client_id(number));
    let side: &[u8] = match side {
        Side::Buy => b"BUY",
        Side::Sell => b"SELL",
    };
    let request: [&[u8]; 8] = [
        b"EXCHANGE.PLACE-ORDER",
        ACCOUNT.as_bytes(),
        SYMBOL.as_bytes(),
        side,
        b"1",
        price.as_bytes(),
        b"CLIENT_ID",
        id.as_bytes(),
    ];
    let words = if with_ids { 8 } else { 6 };
    connection.send(&request[..words]);
}

#[cfg(test)]
mod tests {
    use super::allocated;

    #[test]
    fn a_resting_order_stays_within_its_budget() {
        let bytes = [true, false].map(|with_ids| allocated(1 << 17, with_ids).unwrap());
        assert!(bytes[0] < 200.0 && bytes[1] < 140.0, "{bytes:?}");
    }
}
