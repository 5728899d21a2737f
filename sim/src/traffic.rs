//! What the simulated clients of each service ask for.

mod exchange;
mod games;
mod rooms;
mod seats;
mod travel;

pub(crate) use self::{
    exchange::ExchangeClients, games::GamesClients, rooms::RoomsClients, seats::SeatsClients,
    travel::TravelClients,
};
