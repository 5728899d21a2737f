//! What the simulated clients of each service ask for.

mod access;
mod exchange;
mod games;
mod rooms;
mod seats;
mod travel;

pub(crate) use self::{
    access::{AccessClients, access_keys},
    exchange::ExchangeClients,
    games::GamesClients,
    rooms::RoomsClients,
    seats::SeatsClients,
    travel::TravelClients,
};
