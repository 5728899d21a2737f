//! The sample journeys of `dev`: flights, cars and rooms, and a customer to travel with.

use std::net::SocketAddr;

use turnstile_client::lines::{Connection, Reply, Verb};
use turnstile_travel::Xid;

use crate::{
    lines,
    travel::{
        network::{Flight, Network},
        sample, stocking,
    },
};

/// The customer that is left to whoever tries things.
const YOURS: i32 = 1;

/// Puts the sample network on sale as far as it is missing, and makes the customer; says which
/// transaction was the last to begin.
pub(super) fn open(door: SocketAddr) -> anyhow::Result<Xid> {
    let mut door = lines::connect(door)?;
    stocking::stock_quietly(&mut door, &sample::network().wares(), || {})?;
    let xid = begin(&mut door)?;
    door.send(Verb::AddCustomerId, format_args!("{xid},{YOURS}"));
    door.send(Verb::Commit, format_args!("{xid}"));
    // An earlier start may have made it.
    let (Reply::Done(_) | Reply::Refused) = door.receive()? else {
        anyhow::bail!("the customer cannot be made");
    };
    match door.receive()? {
        Reply::Done(_) => Ok(xid),
        reply => Err(lines::unexpected(&reply)),
    }
}

fn begin(door: &mut Connection) -> anyhow::Result<Xid> {
    lines::xid(&door.ask(Verb::Start, format_args!(""))?)
}

/// A line that a newcomer can paste: it buys a journey in the next transaction.
pub(super) fn line_to_paste(door: SocketAddr, last: Xid) -> String {
    let (ip, port) = (door.ip(), door.port());
    let Network { flights, .. } = sample::network();
    let Flight { number, to, .. } = flights[0];
    let xid = last.0 + 1;
    let lines = format!(
        "Start\\nBundle,{xid},{YOURS},{number},{to},yes,yes\\nQueryCustomer,{xid},{YOURS}\\n\
         Commit,{xid}\\n"
    );
    format!("try   printf '{lines}' | nc -N {ip} {port}")
}
