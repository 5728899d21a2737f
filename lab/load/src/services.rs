//! The list of services that the lab drives.

use crate::{
    exchange::TradingLoad, games::Games, rooms::BookingLoad, seats::TicketLoad,
    travel::JourneyLoad, workload::Service,
};

/// All services, in the order in which help texts and errors name them.
pub static SERVICES: [&dyn Service; 5] = [
    &BookingLoad,
    &TradingLoad,
    &JourneyLoad,
    &Games,
    &TicketLoad,
];
