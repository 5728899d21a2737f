//! The seats workload: buyers who book adjacent seats of one show and cancel, and the proof that no seat
//! was sold twice.
//!
//! Every load of seats has the same user, a [`Buyer`]; its plan says what it asks for. A run of [`ApartBuying`]
//! checks at its end what the buyers remember. [`crate::seats::check`] has a plan that competes, and a
//! witness for every answer.

mod answer;
mod buyer;
pub mod check;
pub(crate) mod plan;
mod proof;
mod show;
mod workload;

pub(crate) use buyer::Buyer;
pub(crate) use plan::ApartBuying;
pub use proof::Proof;
pub(crate) use show::{RunShow, ShowPlan};
pub use workload::TicketLoad;

use crate::{
    Error, LoadReport,
    again::Keyed,
    door,
    pace::{self, Pace, Progress},
    point,
};

/// The show of a plain run.
const PLAN: ShowPlan = ShowPlan {
    sections: 10,
    rows: 40,
    row_seats: 50,
};

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
    let mut door = door::connect(&pace.address)?;
    let facts = door::facts(&mut door, "seats")?;
    let name = format!("lab{}", facts.count("position")?);
    let show = RunShow::open(&mut door, name, PLAN)?;
    let buyer = |number| Keyed::plain(Buyer::new(&show, ApartBuying::new(pace, users, number)));
    let buyers = (0..users).map(buyer).collect();
    let totals = pace::run(pace, buyers, progress)?;
    // A new connection: the server may have been killed and started again meanwhile.
    let mut door = door::connect_again(&pace.address)?;
    let proof = proof::prove(&mut door, &show, &totals)?;
    Ok(LoadReport {
        server: Some(facts.server()?),
        point: point::point("seats", pace, &totals, vec![proof.rule()]),
        proof,
    })
}
