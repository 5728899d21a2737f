//! The list of services that the lab drives.

use crate::{
    exchange::Exchange, games::Games, rooms::Rooms, seats::Seats, travel::Travel, workload::Service,
};

/// All services, in the order in which help texts and errors name them.
pub static SERVICES: [&dyn Service; 5] = [&Rooms, &Exchange, &Travel, &Games, &Seats];
