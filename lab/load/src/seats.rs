//! The seats workload: buyers who book adjacent seats of one show and cancel, and the proof that no seat
//! was sold twice.

mod block;
mod buyer;
mod proof;

use turnstile_client::{Connection, ServerAddress, resp::Value};
use turnstile_result::Server;

pub use block::Block;
pub use buyer::{Ask, Booking, Buyer};
pub use proof::Proof;

use crate::{
    Error, LoadReport, door,
    error::unfit,
    pace::{self, Pace, Progress},
    point,
};

/// The show of a run has so many sections, each with the same rows.
const SECTIONS: usize = 10;
const ROWS: usize = 40;
const ROW_SEATS: usize = 50;
const SECTION_SEATS: usize = ROWS * ROW_SEATS;
const SEATS: usize = SECTIONS * SECTION_SEATS;

/// Adds a show, runs buyers against the server, then proves what was acknowledged. Others may use the
/// server, but not this show. Same seed, same server state, same answers: the same bytes are sent.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not do what is needed.
/// What the server did wrong is in the report's proof.
pub fn run(
    pace: &Pace,
    users: usize,
    progress: &mut dyn FnMut(&Progress),
) -> Result<LoadReport<Proof>, Error> {
    let (server, show) = open_show(&pace.address)?;
    let buyers = (0..users)
        .map(|number| Buyer::new(pace, users, number, &show))
        .collect();
    let totals = pace::run(pace, buyers, progress)?;
    // A new connection: the server may have been killed and started again meanwhile.
    let mut door = door::connect_again(&pace.address)?;
    let proof = proof::prove(&mut door, &show, &totals)?;
    Ok(LoadReport {
        server: Some(server),
        point: point::point("seats", pace, &totals, vec![proof.rule()]),
        proof,
    })
}

/// Adds the show of a run. The server's position names it, so that no two runs share one.
fn open_show(address: &ServerAddress) -> Result<(Server, String), Error> {
    let mut door = door::connect(address)?;
    let facts = door::facts(&mut door, "seats")?;
    let show = format!("lab{}", facts.count("position")?);
    prepare(
        &mut door,
        "SEATS.ADD-SHOW",
        &[&show, "2090-01-01T00:00:00Z"],
    )?;
    let (rows, row_seats) = (ROWS.to_string(), ROW_SEATS.to_string());
    for section in 0..SECTIONS {
        let section = format!("s{section}");
        let arguments = [&*show, &*section, &*rows, &*row_seats];
        prepare(&mut door, "SEATS.ADD-SECTION", &arguments)?;
    }
    Ok((facts.server()?, show))
}

fn prepare(door: &mut Connection, command: &'static str, arguments: &[&str]) -> Result<(), Error> {
    let mut words = vec![command.as_bytes()];
    words.extend(arguments.iter().map(|argument| argument.as_bytes()));
    let answer = door.command(&words)?;
    match answer.as_array() {
        Some([Value::Integer(1), ..]) => Ok(()),
        _ => Err(unfit(command, &answer)),
    }
}
