//! The latest events of a replay, for those who follow a feed across a restart.

use std::collections::VecDeque;

use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_rooms::Rooms;
use turnstile_travel::Travel;
use turnstile_types::{Hosts, Machine, Position};

use crate::Services;

/// How many events of one service are kept.
const EVENTS_MAX: usize = 65_536;

/// The latest events of one service, and after which position none is missing.
#[derive(Debug)]
pub(crate) struct Recent<M: Machine> {
    events: VecDeque<M::Event>,
    complete_after: Position,
}

impl<M: Machine> Recent<M> {
    pub(crate) const fn after(position: Position) -> Self {
        Self {
            events: VecDeque::new(),
            complete_after: position,
        }
    }

    pub(crate) const fn complete_after(&self) -> Position {
        self.complete_after
    }

    fn take_from(&mut self, machine: &mut M) {
        machine.drain_events(&mut |event| {
            if self.events.len() == EVENTS_MAX
                && let Some(dropped) = self.events.pop_front()
            {
                self.complete_after = M::place_of(&dropped).0;
            }
            self.events.push_back(event);
        });
    }

    /// Of the record whose event was dropped last, later events may be there: they go too.
    fn finish(&mut self) {
        let after = self.complete_after;
        self.events.retain(|event| M::place_of(event).0 > after);
    }

    pub(crate) fn drain(&mut self, take: &mut dyn FnMut(M::Event)) {
        self.events.drain(..).for_each(take);
    }
}

/// Those of every service.
#[derive(Debug)]
pub(crate) struct Recents {
    pub(crate) rooms: Recent<Rooms>,
    pub(crate) exchange: Recent<Exchange>,
    pub(crate) travel: Recent<Travel>,
    pub(crate) games: Recent<Games>,
}

impl Recents {
    pub(crate) const fn after(position: Position) -> Self {
        Self {
            rooms: Recent::after(position),
            exchange: Recent::after(position),
            travel: Recent::after(position),
            games: Recent::after(position),
        }
    }

    pub(crate) fn take_from(&mut self, services: &mut Services) {
        self.rooms.take_from(services.machine_mut());
        self.exchange.take_from(services.machine_mut());
        self.travel.take_from(services.machine_mut());
        self.games.take_from(services.machine_mut());
    }

    pub(crate) fn finish(&mut self) {
        self.rooms.finish();
        self.exchange.finish();
        self.travel.finish();
        self.games.finish();
    }
}
