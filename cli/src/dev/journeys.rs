//! The sample journeys of `dev`: flights, cars and rooms, and a customer to travel with.

use std::net::SocketAddr;

use turnstile_client::{
    ServerAddress,
    lines::{LineVerb, Reply},
};
use turnstile_travel::Xid;

use super::pasted::PastedTools;
use crate::{
    lines,
    travel::{
        network::{FlightNetwork, NetworkFlight},
        sample, stocking,
    },
};

/// The customer that is left to whoever tries things.
const YOURS: i32 = 1;

/// Makes the customer, and puts the sample network on sale as far as it is missing; says which
/// transaction was the last to begin. None where the directory has been told that the middleware is
/// elsewhere.
pub(super) fn open(door: ServerAddress) -> anyhow::Result<Option<Xid>> {
    let mut door = lines::connect(door)?;
    let begun = match door.ask(LineVerb::Start, format_args!(""))? {
        Reply::Exception(_) => return Ok(None),
        reply => lines::xid(&reply)?,
    };
    door.send(LineVerb::AddCustomerId, format_args!("{begun},{YOURS}"));
    door.send(LineVerb::Commit, format_args!("{begun}"));
    for _ in 0..2 {
        match door.receive()? {
            // An earlier start may have made it.
            Reply::Done(_) | Reply::Refused => {}
            reply => return Err(lines::unexpected(&reply)),
        }
    }
    let stocked = stocking::stock_quietly(&mut door, &sample::network().wares(), || {})?;
    Ok(Some(Xid(begun.0 + stocked.transactions)))
}

/// A line that a newcomer can paste: it buys a journey in the next transaction.
pub(super) fn line_to_paste(tools: &PastedTools, door: SocketAddr, last: Xid) -> String {
    let FlightNetwork { flights, .. } = sample::network();
    let NetworkFlight { number, to, .. } = flights[0];
    let xid = last.0 + 1;
    let lines = format!(
        "Start\\nBundle,{xid},{YOURS},{number},{to},yes,yes\\nQueryCustomer,{xid},{YOURS}\\n\
         Commit,{xid}\\n"
    );
    format!("try   printf '{lines}' | {}", tools.lines(door))
}
