//! The suite that holds a back end to the machine itself: here for rooms, in `exchange` for the
//! exchange.
//!
//! Random histories and crowds of callers go through the back end, and what it answers is compared
//! with what the machine answers to the same. References and positions are the back end's own: each
//! is learned when it is first given, and must then name the same booking for ever.

mod copies;
mod crowd;
mod draw;
pub mod exchange;
mod full;
mod history;
mod keys;
mod oracle;

use std::future::Future;

use turnstile_rooms::{Command, Query, Rooms};

use crate::{Backend, Service};

pub use self::{
    copies::check_copy,
    crowd::check_crowds,
    full::House,
    history::check_histories,
    keys::{check_keys_in_a_crowd, check_keys_of_failures},
};

/// Where back ends to be tried come from.
pub trait Stand<M: Service = Rooms> {
    type Backend: Backend<M>;

    /// One to which nothing has happened yet.
    fn fresh(&self) -> impl Future<Output = Self::Backend>;

    /// One more to the same database as the last fresh one, as another server would have it.
    fn another(&self) -> impl Future<Output = Self::Backend>;
}

fn offers(backend: &impl Backend<Rooms>, command: &Command<'_>) -> bool {
    !backend.unsupported().contains(&command.code())
}

fn answers(backend: &impl Backend<Rooms>, query: &Query) -> bool {
    !backend.unsupported().contains(&query.code())
}
