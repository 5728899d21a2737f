//! What the simulated clients of each service ask for.

mod exchange;
mod games;
mod rooms;
mod travel;

pub(crate) use self::{exchange::Traders, games::Players, rooms::Guests, travel::Travelers};
