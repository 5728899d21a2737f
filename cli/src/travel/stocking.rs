//! Adds flights, cars and rooms to a server in transactions of bounded size.

use std::time::{Duration, Instant};

use anyhow::bail;
use turnstile_client::lines::{Connection, LineVerb, Reply, number};
use turnstile_travel::Xid;

use super::network::Ware;
use crate::{lines, terminal::Progress};

/// Items of one transaction: they are locked until its end, and a server takes so many lines at
/// once from one connection.
const BATCH: usize = 200;

/// How often a batch is begun again that somebody else's transactions stood in the way of.
const ATTEMPTS: u32 = 5;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Stocked {
    pub(crate) added: u64,
    /// Items that were there already and were left alone.
    pub(crate) there: u64,
    /// Transactions that were committed.
    pub(crate) transactions: u64,
    pub(crate) took: Duration,
}

/// Adds every ware that is not there, and shows how far it is. An item with a price is there; each that is imported has one.
/// A transaction looks first and adds then, so that nobody can add the same in between.
///
/// # Errors
/// The connection failed, or the server refused.
pub(crate) fn stock(door: &mut Connection, wares: &[Ware]) -> anyhow::Result<Stocked> {
    let total = u64::try_from(wares.len()).expect("a count fits 64 bits");
    let mut progress = Progress::new("importing", total);
    let stocked = stock_quietly(door, wares, || progress.step())?;
    progress.finish();
    Ok(stocked)
}

/// The same, but it tells of each item that it was looked at instead of showing it.
///
/// # Errors
/// As of [`stock`].
pub(crate) fn stock_quietly(
    door: &mut Connection,
    wares: &[Ware],
    mut step: impl FnMut(),
) -> anyhow::Result<Stocked> {
    let begun = Instant::now();
    let mut stocked = Stocked::default();
    for batch in wares.chunks(BATCH) {
        let added = add(door, batch)?;
        stocked.transactions += 1;
        for is_new in added {
            stocked.added += u64::from(is_new);
            stocked.there += u64::from(!is_new);
            step();
        }
    }
    stocked.took = begun.elapsed();
    Ok(stocked)
}

/// Adds those of a batch that are missing; says of each whether it was.
fn add(door: &mut Connection, batch: &[Ware]) -> anyhow::Result<Vec<bool>> {
    for _ in 0..ATTEMPTS {
        let xid = lines::xid(&door.ask(LineVerb::Start, format_args!(""))?)?;
        let Some(missing) = missing(door, xid, batch)? else {
            continue;
        };
        if commit(door, xid, batch, &missing)? {
            return Ok(missing);
        }
    }
    bail!("other transactions stand in the way, again and again");
}

/// Which wares are missing; none when the transaction was aborted.
fn missing(door: &mut Connection, xid: Xid, batch: &[Ware]) -> anyhow::Result<Option<Vec<bool>>> {
    for ware in batch {
        let (_, query, key) = lines::words(&ware.item);
        door.send(query, format_args!("{xid},{key}"));
    }
    let mut missing = Some(Vec::with_capacity(batch.len()));
    for ware in batch {
        let (_, query, _) = lines::words(&ware.item);
        let reply = door.receive()?;
        let price = match reply {
            Reply::Done(text) => number(query, text),
            Reply::Aborted(_) => {
                missing = None;
                continue;
            }
            _ => None,
        };
        let price = price.ok_or_else(|| lines::unexpected(&reply))?;
        if let Some(missing) = &mut missing {
            missing.push(price == 0);
        }
    }
    Ok(missing)
}

/// Adds what is missing and commits; false when the transaction was aborted.
fn commit(
    door: &mut Connection,
    xid: Xid,
    batch: &[Ware],
    missing: &[bool],
) -> anyhow::Result<bool> {
    let mut sent = 1;
    for (ware, _) in batch.iter().zip(missing).filter(|(_, missing)| **missing) {
        let (add, _, key) = lines::words(&ware.item);
        let Ware { count, price, .. } = ware;
        door.send(add, format_args!("{xid},{key},{count},{price}"));
        sent += 1;
    }
    door.send(LineVerb::Commit, format_args!("{xid}"));
    let mut committed = true;
    for _ in 0..sent {
        match door.receive()? {
            Reply::Done(_) => {}
            Reply::Aborted(_) => committed = false,
            reply => return Err(lines::unexpected(&reply)),
        }
    }
    Ok(committed)
}
