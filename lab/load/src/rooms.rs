//! The rooms workload: guests who book and cancel, and the proof that the server did neither
//! more nor less than it acknowledged.

mod guest;
mod mix;
mod proof;
mod report;

use serde::Serialize;

pub(crate) use guest::Reply;
pub use guest::{Ask, Booking, Guest};
pub use mix::{InvalidMix, Mix};
pub use proof::Proof;
pub use report::{OperationReport, Report};

use crate::{
    Error, Machine, door,
    pace::{self, Pace, Progress},
};

/// The open property of `dev`, in which every room name exists.
pub const PROPERTY: &str = "bench";

/// What to drive, and how hard.
#[derive(Clone, Debug, Serialize)]
pub struct Config {
    /// How the RESP door is driven of a server that nobody else writes to: the proof counts
    /// everything. Same seed, same server state, same answers: the same bytes are sent.
    #[serde(flatten)]
    pub pace: Pace,
    /// Guests; each has a connection of its own.
    pub users: usize,
    pub mix: Mix,
    /// An open property, in which every room name exists; `dev` has `bench`.
    pub property: String,
}

/// Runs guests against the server, then proves what was acknowledged.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not tell its counters.
/// What the server did wrong is in the report's proof.
pub fn run(config: &Config, progress: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    let machine = Machine::this();
    let (server, before) = door::info(&mut door::connect(config.pace.address)?)?;
    let guests = (0..config.users)
        .map(|number| Guest::new(config, number, before.position))
        .collect();
    let mut totals = pace::run(&config.pace, guests, progress)?;
    // A new connection: the server may have been killed and started again meanwhile.
    let mut door = door::connect(config.pace.address)?;
    let proof = proof::prove(&mut door, &config.property, before, &mut totals)?;
    Ok(Report::new(config, machine, server, &totals, proof))
}
