//! The rooms workload: visitors who book and cancel, and the proof that the server did neither
//! more nor less than it acknowledged.
//!
//! Every load of rooms has the same user, a [`RoomVisitor`]; its plan says what it asks for. A run of
//! [`Apart`] checks at its end what the visitors remember. [`crate::rooms::check`] has plans that
//! compete, and a witness for every answer.

mod answer;
pub mod check;
pub mod plan;
mod proof;
mod visitor;
mod what;
mod workload;

pub use crate::mix::{InvalidMix, Mix};
pub(crate) use answer::RoomNames;
pub use plan::Apart;
pub use proof::Proof;
pub use visitor::{Ask, RoomVisitor};
pub use what::{Booking, Kept, What};
pub use workload::BookingLoad;

use turnstile_client::{Connection, resp::Value};

use crate::{
    Error, LoadReport, door,
    error::unfit,
    pace::{self, Pace, Progress},
    point,
};

/// An open property, in which every room name exists. `dev` has it, and other servers get it.
pub const PROPERTY: &str = "bench";

/// What to drive, and how hard.
#[derive(Clone, Debug)]
pub struct Config {
    /// How the RESP door is driven of a server that nobody else writes to: the proof counts
    /// everything. Same seed, same server state, same answers: the same bytes are sent.
    pub pace: Pace,
    /// Visitors; each has a connection of its own.
    pub users: usize,
    pub mix: Mix,
}

/// Runs visitors against the server, then proves what was acknowledged.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not tell its counters.
/// What the server did wrong is in the report's proof.
pub fn run(
    config: &Config,
    progress: &mut dyn FnMut(&Progress),
) -> Result<LoadReport<Proof>, Error> {
    let mut door = door::connect(&config.pace.address)?;
    open_property(&mut door)?;
    let (server, before) = door::info(&mut door)?;
    let totals = pace::run(&config.pace, visitors(config, before.position), progress)?;
    // A new connection: the server may have been killed and started again meanwhile.
    let mut door = door::connect_again(&config.pace.address)?;
    let proof = proof::prove(&mut door, before, &totals)?;
    let point = point::point("rooms", &config.pace, &totals, vec![proof.rule()]);
    Ok(LoadReport {
        server: Some(server),
        proof,
        point,
    })
}

/// Makes the property, where the server does not have it.
pub(crate) fn open_property(door: &mut Connection) -> Result<(), Error> {
    let property = PROPERTY.as_bytes();
    let (arrival, departure) = (b"2027-01-01", b"2027-01-02");
    let found = door.command(&[b"ROOMS.GET-AVAILABILITY", property, arrival, departure])?;
    if door::refusal(&found) != Some("unknown_property") {
        return Ok(());
    }
    let made = door.command(&[b"ROOMS.ADD-PROPERTY", property, b"OPEN"])?;
    match made {
        Value::Error(_) => Err(unfit("ROOMS.ADD-PROPERTY", &made)),
        _ => Ok(()),
    }
}

/// The visitors of a run that begins at this position of the server: nobody asks for what another does,
/// in no run against the same server.
#[must_use]
pub fn visitors(config: &Config, position: u64) -> Vec<RoomVisitor<Apart>> {
    let names = RoomNames::new("", plan::APART_NIGHTS);
    let visitor = |number| {
        let user = u64::try_from(number).expect("users are bounded");
        let plan = Apart::new(config.pace.seed, (user, config.users), config.mix);
        let names = names.with_stem(&format!("lab{position}-u{number}-"));
        RoomVisitor::new(PROPERTY, names, plan, None)
    };
    (0..config.users).map(visitor).collect()
}
