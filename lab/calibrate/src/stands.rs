//! Where requests stood for how long, so that who made them late can be named.

use std::{fmt, iter::Sum, ops::AddAssign};

use serde::Serialize;
use turnstile_stats::units::{Count, Nanos, to_float};

use crate::{diary::Page, server::Served};

/// Where a request and its answer stood beside the server's own delay, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Whereabouts {
    /// Due, and not asked.
    pub unasked: u64,
    /// Asked, and the server looked and did not find it: the system had it in its hands.
    pub carried: u64,
    /// Until the server's thread, asleep, being woken or not run, looked and read it.
    pub unread: u64,
    /// To be answered, and not answered.
    pub unanswered: u64,
    /// Answered, and the generator looked and did not find it.
    pub carried_back: u64,
    /// Until the generator's thread looked and heard it.
    pub unheard: u64,
}

/// The requests of some runs that took longer than is allowed, and where they stood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LateRequests {
    /// How many.
    pub requests: u64,
    /// By how much all of them together were off from the truth, in nanoseconds.
    pub over_ns: u64,
    pub stands: Whereabouts,
}

impl Whereabouts {
    /// Of a request that was due then, in nanoseconds since the server's epoch, as both ends wrote it
    /// down.
    #[must_use]
    pub fn of(due: u64, page: &Page, served: &Served) -> Self {
        // A look before it was sent says nothing, and none is later than the one that found it.
        let sent = page.asked;
        let looked = served.looked.clamp(sent.min(served.came), served.came);
        let looked_back = page.looked.clamp(served.left.min(page.heard), page.heard);
        Self {
            unasked: sent.saturating_sub(due),
            carried: looked.saturating_sub(sent),
            unread: served.came - looked,
            unanswered: served.left.saturating_sub(served.due),
            carried_back: looked_back.saturating_sub(served.left),
            unheard: page.heard - looked_back,
        }
    }

    /// All of it together.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.of_generator() + self.of_server() + self.of_system()
    }

    /// While the generator's thread had to do something.
    #[must_use]
    pub const fn of_generator(&self) -> u64 {
        self.unasked + self.unheard
    }

    /// While the server's thread had to.
    #[must_use]
    pub const fn of_server(&self) -> u64 {
        self.unread + self.unanswered
    }

    /// While the one who was to get it looked for it.
    #[must_use]
    pub const fn of_system(&self) -> u64 {
        self.carried + self.carried_back
    }
}

impl AddAssign for Whereabouts {
    fn add_assign(&mut self, other: Self) {
        self.unasked += other.unasked;
        self.carried += other.carried;
        self.unread += other.unread;
        self.unanswered += other.unanswered;
        self.carried_back += other.carried_back;
        self.unheard += other.unheard;
    }
}

impl LateRequests {
    /// One that stood there and was off by so much.
    #[must_use]
    pub const fn one(over_ns: u64, stands: Whereabouts) -> Self {
        Self {
            requests: 1,
            over_ns,
            stands,
        }
    }
}

impl AddAssign for LateRequests {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.over_ns += other.over_ns;
        self.stands += other.stands;
    }
}

impl Sum for LateRequests {
    fn sum<I: Iterator<Item = Self>>(lates: I) -> Self {
        lates.fold(Self::default(), |mut sum, late| {
            sum += late;
            sum
        })
    }
}

impl fmt::Display for LateRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.requests == 0 {
            return f.write_str("nothing was late by more than is allowed");
        }
        let all = to_float(self.stands.sum().max(1));
        let share = |part: u64| 100.0 * to_float(part) / all;
        let stands = &self.stands;
        write!(
            f,
            "{} late by more than is allowed, on average by {}: of where they stood {:.0} % was the \
             generator's thread ({:.0} % before it asked, {:.0} % before it heard), {:.0} % the server's \
             ({:.0} % before it read, {:.0} % before it answered), {:.0} % the system's, with packets \
             that a thread was looking for ({:.0} % there, {:.0} % back)",
            Count(self.requests),
            Nanos(to_float(self.over_ns) / to_float(self.requests)),
            share(stands.of_generator()),
            share(stands.unasked),
            share(stands.unheard),
            share(stands.of_server()),
            share(stands.unread),
            share(stands.unanswered),
            share(stands.of_system()),
            share(stands.carried),
            share(stands.carried_back)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{LateRequests, Whereabouts};
    use crate::{diary::Page, server::Served};

    /// Due at 100, asked at 103, read at 120 and to be answered at 220, which it was at 227, and heard
    /// at 250. The server last looked in vain at `looked`, the generator at `looked_back`.
    fn stands(looked: u64, looked_back: u64) -> Whereabouts {
        let served = Served {
            number: 0,
            looked,
            came: 120,
            due: 220,
            left: 227,
        };
        let page = Page {
            asked: 103,
            looked: looked_back,
            heard: 250,
        };
        Whereabouts::of(100, &page, &served)
    }

    #[test]
    fn each_nanosecond_is_somebodys() {
        let blank = Whereabouts {
            unasked: 3,
            unanswered: 7,
            ..Whereabouts::default()
        };
        let rows = [
            ("both looked all the time", (119, 249), (16, 1, 22, 1)),
            ("both slept", (50, 60), (0, 17, 0, 23)),
            ("they looked once meanwhile", (110, 230), (7, 10, 3, 20)),
            (
                "a look that is later than what it found",
                (130, 260),
                (17, 0, 23, 0),
            ),
        ];
        for (who, (looked, looked_back), (carried, unread, carried_back, unheard)) in rows {
            let found = stands(looked, looked_back);
            let expected = Whereabouts {
                carried,
                unread,
                carried_back,
                unheard,
                ..blank
            };
            assert_eq!(found, expected, "{who}");
            assert_eq!(found.sum(), 150 - 100, "{who}: all but the delay of 100");
        }
    }

    #[test]
    fn the_late_are_told_by_who_had_them() {
        let late: LateRequests = [stands(119, 249), stands(50, 60)]
            .map(|stands| LateRequests::one(50, stands))
            .into_iter()
            .sum();
        assert_eq!(
            (late.requests, late.over_ns, late.stands.sum()),
            (2, 100, 100)
        );
        assert_eq!(
            late.to_string(),
            "2 late by more than is allowed, on average by 50ns: of where they stood 30 % was the \
             generator's thread (6 % before it asked, 24 % before it heard), 32 % the server's (18 % \
             before it read, 14 % before it answered), 38 % the system's, with packets that a thread was \
             looking for (16 % there, 22 % back)"
        );
        assert_eq!(
            LateRequests::default().to_string(),
            "nothing was late by more than is allowed"
        );
    }
}
