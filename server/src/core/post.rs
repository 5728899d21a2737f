//! The post: lines to the other processes of travel, and what goes over them when.

mod switchboard;

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use turnstile_parcels::put_parcel;
use turnstile_travel::{Desk, Travel};

use crate::{
    core::fault_points::FaultPoints,
    limits::{DIAL_REST_MAX, DIAL_REST_MIN, GREETINGS_PER_LIFETIME, POST_BATCH},
};

pub(crate) use switchboard::{DeskMessage, Dispatched, Fate, Switchboard};

/// Where the other processes of travel are.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// Where this process listens for its middleware, if it plays desks only.
    pub door: Option<SocketAddr>,
    /// Where the desks listen that are not played here, if this is the middleware.
    pub desks: Vec<(Desk, SocketAddr)>,
    /// Whether clients may have processes of travel end themselves; see [`HAS_FAULT_POINTS`].
    ///
    /// [`HAS_FAULT_POINTS`]: crate::HAS_FAULT_POINTS
    pub fault_points: bool,
}

/// What was put on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Put {
    /// How many parcels.
    pub(crate) count: u64,
    /// How many bytes, from the first on, need not wait for the open group.
    pub(crate) ahead: usize,
}

/// One line as its end here sees it.
///
/// A line outlives its connections. With each new one, and with each new life of either end,
/// everything that the peer has not acknowledged is sent again. The parcels themselves are kept by
/// the machine; here is only how far they have been sent.
#[derive(Debug)]
pub(crate) struct Route {
    /// Where the peer listens, if it is dialed from here.
    address: Option<SocketAddr>,
    /// The connection.
    pub(crate) place: Option<usize>,
    /// Whether both ends have said hello on it.
    is_met: bool,
    /// The lives in which `sent` counts.
    lives: Option<(u64, u64)>,
    /// The last parcel that was put on the connection.
    sent: u64,
    /// How many parcels of the peer it knows to be taken.
    told: u64,
    /// What had been sent a period ago.
    mark: u64,
    greets_at: Instant,
    dials_at: Instant,
    /// How long it rests before the next dial.
    rest: Duration,
}

impl Route {
    pub(crate) fn new(address: Option<SocketAddr>) -> Self {
        let now = Instant::now();
        Self {
            address,
            place: None,
            is_met: false,
            lives: None,
            sent: 0,
            told: 0,
            mark: 0,
            greets_at: now,
            dials_at: now,
            rest: DIAL_REST_MIN,
        }
    }

    /// The address to dial, when it is time to.
    pub(crate) fn dials(&self, now: Instant) -> Option<SocketAddr> {
        let is_due = self.place.is_none() && self.dials_at <= now;
        self.address.filter(|_| is_due)
    }

    /// How long the loop may sleep before there is something to do.
    pub(crate) fn until_due(&self, now: Instant) -> Option<Duration> {
        let due = if self.is_met {
            Some(self.greets_at)
        } else {
            let waits = self.place.is_none() && self.address.is_some();
            waits.then_some(self.dials_at)
        };
        due.map(|due| due.saturating_duration_since(now))
    }

    /// Both ends have said hello on this connection; answers with the connection before it.
    pub(crate) fn meet(&mut self, place: usize) -> Option<usize> {
        if self.is_met && self.place == Some(place) {
            return None;
        }
        self.is_met = true;
        self.lives = None;
        self.rest = DIAL_REST_MIN;
        self.place.replace(place).filter(|&before| before != place)
    }

    /// The connection at this place has ended, or never was one.
    pub(crate) fn lose(&mut self, now: Instant) {
        self.place = None;
        self.is_met = false;
        self.dials_at = now + self.rest;
        self.rest = (self.rest * 2).min(DIAL_REST_MAX);
    }

    /// The connection, once both ends have said hello.
    pub(crate) const fn met(&self) -> Option<usize> {
        if self.is_met { self.place } else { None }
    }

    /// Appends what is to be sent, about as much as there is room for.
    pub(crate) fn put(
        &mut self,
        (travel, fault_points): (&Travel, &mut FaultPoints),
        (desk, now): (Desk, Instant),
        room: usize,
        out: &mut Vec<u8>,
    ) -> Put {
        let mut greets = self.turns_over(travel, desk, now);
        let begin = out.len();
        let end = begin.saturating_add(room);
        let (mut count, mut ahead, mut waits) = (0, 0, false);
        while out.len() < end {
            let parcels = travel.parcels(desk, self.sent, POST_BATCH);
            if parcels.is_empty() {
                break;
            }
            for parcel in parcels {
                self.sent = parcel.number;
                fault_points.put(&parcel);
                waits |= parcel.waits_for_its_group();
                put_parcel(out, parcel);
                count += 1;
                if !waits {
                    ahead = out.len() - begin;
                }
            }
        }
        greets &= count == 0;
        let greeting = travel.greeting(desk);
        if greets || count > 0 {
            self.told = greeting.received;
        }
        if greets {
            put_parcel(out, greeting);
            count += 1;
        }
        Put { count, ahead }
    }

    /// Begins anew when a life or a period is over. Answers whether the peer is to hear something,
    /// be it a greeting.
    fn turns_over(&mut self, travel: &Travel, desk: Desk, now: Instant) -> bool {
        let settings = travel.settings();
        let period = (settings.lifetime_ms / GREETINGS_PER_LIFETIME).max(1);
        let greeting = travel.greeting(desk);
        let lives = (greeting.life, greeting.peer_life);
        if self.lives != Some(lives) {
            (self.lives, self.sent, self.mark) = (Some(lives), 0, 0);
            self.greets_at = now + Duration::from_millis(period);
            return true;
        }
        if now < self.greets_at {
            return false;
        }
        self.greets_at = now + Duration::from_millis(period);
        let mark = std::mem::replace(&mut self.mark, self.sent);
        let oldest = travel.parcels(desk, 0, 1);
        if oldest.first().is_some_and(|oldest| oldest.number <= mark) {
            self.sent = 0;
        }
        settings.roles.coordinator || self.told != greeting.received
    }
}

#[cfg(test)]
mod tests;
