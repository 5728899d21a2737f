//! The clock of all decisions: the wall clock, without its jumps.
//!
//! Logged time must never go back, so a jump that is taken at once cannot be taken back. The clock
//! therefore compares the wall clock with a steady one, which nobody can set and which goes on while
//! the machine is suspended ([why so](../../../docs/decisions/0019-logged-time-takes-no-jumps.md)).

use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use turnstile_types::Timestamp;

/// A wall clock that is ahead by so much or less is followed at once: people and time services set
/// clocks by seconds. A larger step is a jump.
pub(crate) const JUMP_MS: u64 = 60_000;

/// After a jump forward the clock gains one part in so many until it has caught up: six seconds a
/// minute. A hold or a key loses at most a tenth of its time by that.
const SLEW: u32 = 10;

/// What both clocks say at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) wall: Timestamp,
    /// Since some fixed instant.
    pub(crate) steady: Duration,
}

/// How far the clock is from the wall clock, for whoever watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockStatus {
    /// The wall clock minus logged time, in milliseconds: positive after a jump forward, negative
    /// while logged time is ahead.
    pub offset_ms: i64,
    /// Jumps of more than a minute since the start.
    pub jumps: u64,
}

/// A metric: its name, its kind, its help, and where its value is read.
type ClockMetric = (
    &'static str,
    &'static str,
    &'static str,
    fn(&ClockStatus) -> u64,
);

/// What `/metrics` shows of it.
pub(crate) const METRICS: [ClockMetric; 2] = [
    (
        "clock_jumps_total",
        "counter",
        "Jumps of the wall clock by more than a minute.",
        |clock| clock.jumps,
    ),
    (
        "clock_offset_seconds",
        "gauge",
        "How far logged time is from the wall clock, either way, in whole seconds.",
        |clock| clock.offset_ms.unsigned_abs() / 1_000,
    ),
];

/// How the clock goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// As the wall clock does.
    Follows,
    /// As the steady clock does: the wall clock is behind.
    Waits,
    /// A little faster than the steady clock: the wall clock has jumped ahead.
    CatchesUp,
}

/// It owns the time that decisions are made at. It starts from the wall clock or from the last logged
/// time, whichever is later, and goes on from its base by the steady clock unless it follows the
/// wall clock. Its own time never goes back.
#[derive(Debug)]
pub(crate) struct DecisionClock {
    source: fn() -> Reading,
    /// What it said when the course or the base last changed, and the steady clock then.
    base: Timestamp,
    base_steady: Duration,
    course: Course,
    status: ClockStatus,
}

impl DecisionClock {
    /// A clock that goes on after the last logged time. However long ago that is, a start takes the
    /// wall clock as it is: the server may have been down for so long.
    pub(crate) fn start(last: Timestamp, source: fn() -> Reading) -> Self {
        let Reading { wall, steady } = source();
        let behind_ms = last.ms_since(wall);
        if behind_ms > JUMP_MS {
            tracing::warn!(
                behind_ms,
                "the wall clock is behind the last logged time: logged time goes on from there by the \
                 steady clock"
            );
        }
        Self {
            source,
            base: wall.max(last),
            base_steady: steady,
            course: if behind_ms > 0 {
                Course::Waits
            } else {
                Course::Follows
            },
            status: ClockStatus {
                offset_ms: offset(wall, wall.max(last)),
                jumps: u64::from(behind_ms > JUMP_MS),
            },
        }
    }

    /// The time now. The log says when a jump begins and when it is over.
    pub(crate) fn read(&mut self) -> Timestamp {
        let Reading { wall, steady } = (self.source)();
        let (now, course) = self.judge(wall, steady);
        let ahead_ms = wall.ms_since(now);
        let behind_ms = now.ms_since(wall);
        if course != self.course {
            match course {
                Course::CatchesUp => {
                    self.status.jumps += 1;
                    tracing::warn!(
                        ahead_ms,
                        "the wall clock has jumped ahead: logged time catches up by six seconds a \
                         minute, so that nothing expires at once; a restart takes the wall clock as it is"
                    );
                }
                Course::Waits if behind_ms > JUMP_MS => {
                    self.status.jumps += 1;
                    tracing::warn!(
                        behind_ms,
                        "the wall clock has jumped back: logged time goes on by the steady clock"
                    );
                }
                Course::Follows => tracing::info!("logged time follows the wall clock again"),
                Course::Waits => {}
            }
        }
        if course != self.course || course == Course::Follows {
            (self.base, self.base_steady, self.course) = (now, steady, course);
        }
        self.status.offset_ms = offset(wall, now);
        now
    }

    /// The time now, for whoever only looks.
    pub(crate) fn peek(&self) -> Timestamp {
        let Reading { wall, steady } = (self.source)();
        self.judge(wall, steady).0
    }

    pub(crate) const fn status(&self) -> ClockStatus {
        self.status
    }

    fn judge(&self, wall: Timestamp, steady: Duration) -> (Timestamp, Course) {
        let mut passed = steady.saturating_sub(self.base_steady);
        if self.course == Course::CatchesUp {
            passed += passed / SLEW;
        }
        let passed_ms = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        let continued = self.base.plus_ms(passed_ms);
        if wall < continued {
            (continued, Course::Waits)
        } else if wall.ms_since(continued) <= JUMP_MS {
            (wall, Course::Follows)
        } else {
            (continued, Course::CatchesUp)
        }
    }
}

fn offset(wall: Timestamp, now: Timestamp) -> i64 {
    let signed = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
    signed(wall.ms_since(now)) - signed(now.ms_since(wall))
}

/// A number that another run of the process does not have: its time of start, in microseconds.
pub(crate) fn run_number() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_micros()).unwrap_or_default()
}

/// Both clocks of the system.
pub(crate) fn system() -> Reading {
    let steady = clock_gettime(ClockId::Boottime);
    Reading {
        wall: wall_clock(),
        steady: Duration::try_from(steady).unwrap_or_default(),
    }
}

/// The time of day.
fn wall_clock() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    const HOUR_MS: u64 = 3_600_000;
    const YEAR_MS: u64 = 365 * 24 * HOUR_MS;
    const BEGIN: Timestamp = Timestamp(1_780_272_000_000);

    thread_local! {
        /// The wall clock, and the steady one, in milliseconds.
        static CLOCKS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    }

    /// Clocks that a test sets.
    pub(crate) fn told() -> Reading {
        let (wall, steady) = CLOCKS.get();
        Reading {
            wall: Timestamp(wall),
            steady: Duration::from_millis(steady),
        }
    }

    pub(crate) fn set(wall: Timestamp, steady_ms: u64) {
        CLOCKS.set((wall.0, steady_ms));
    }

    /// Both clocks go on together.
    fn pass(ms: u64) {
        let (wall, steady) = CLOCKS.get();
        CLOCKS.set((wall + ms, steady + ms));
    }

    /// Somebody sets the wall clock.
    pub(crate) fn jump(ms: i64) {
        let (wall, steady) = CLOCKS.get();
        CLOCKS.set((wall.checked_add_signed(ms).unwrap(), steady));
    }

    fn signed(ms: u64) -> i64 {
        i64::try_from(ms).unwrap()
    }

    fn clock(last: Timestamp) -> DecisionClock {
        set(BEGIN, 5_000);
        DecisionClock::start(last, told)
    }

    #[test]
    fn the_wall_clock_is_followed_also_when_it_is_set_by_up_to_a_minute() {
        let mut clock = clock(Timestamp(0));
        pass(1_500);
        assert_eq!(clock.read(), BEGIN.plus_ms(1_500));
        jump(signed(JUMP_MS));
        assert_eq!(clock.read(), BEGIN.plus_ms(1_500 + JUMP_MS));
        assert_eq!(clock.status(), ClockStatus::default());
    }

    /// Logged time stood still until the wall clock had come there again: a hold of three seconds was
    /// held until the next year, and it said so.
    #[test]
    fn a_jump_ahead_that_is_taken_back_neither_stops_time_nor_moves_it() {
        let mut clock = clock(Timestamp(0));
        assert_eq!(clock.read(), BEGIN);
        jump(signed(YEAR_MS));
        assert_eq!(clock.read(), BEGIN);
        assert_eq!(clock.status().jumps, 1);
        assert_eq!(clock.status().offset_ms, signed(YEAR_MS));
        pass(60_000);
        assert_eq!(clock.read(), BEGIN.plus_ms(66_000), "six seconds a minute");
        jump(-signed(YEAR_MS));
        assert_eq!(clock.read(), BEGIN.plus_ms(66_000));
        pass(3_000);
        assert_eq!(
            clock.read(),
            BEGIN.plus_ms(69_000),
            "three seconds are three seconds"
        );
        assert_eq!(clock.status().offset_ms, -6_000);
        assert_eq!(clock.status().jumps, 1);
    }

    #[test]
    fn a_jump_ahead_that_stays_is_caught_up_with() {
        let mut clock = clock(Timestamp(0));
        jump(signed(HOUR_MS));
        assert_eq!(clock.read(), BEGIN);
        // Nine hours and fifty minutes of ten, less the last minute.
        pass(590 * 60_000 - 1_000);
        assert_eq!(
            clock.peek(),
            BEGIN.plus_ms((590 * 60_000 - 1_000) / 10 * 11)
        );
        pass(1_000);
        assert_eq!(clock.read(), told().wall);
        assert_eq!(clock.status().offset_ms, 0);
        pass(7);
        assert_eq!(clock.read(), told().wall);
    }

    #[test]
    fn time_goes_on_by_the_steady_clock_while_the_wall_clock_is_behind() {
        let mut clock = clock(Timestamp(0));
        jump(-signed(YEAR_MS));
        for second in 1..=100 {
            pass(1_000);
            assert_eq!(clock.read(), BEGIN.plus_ms(second * 1_000));
        }
        assert_eq!(clock.status().jumps, 1);
        jump(signed(YEAR_MS));
        pass(1_000);
        assert_eq!(clock.read(), told().wall);
    }

    /// Over a restart the log was ahead still, and time stood still.
    #[test]
    fn a_start_goes_on_from_the_last_logged_time_or_from_a_later_wall_clock() {
        let last = BEGIN.plus_ms(YEAR_MS);
        let mut ahead = clock(last);
        pass(3_000);
        assert_eq!(ahead.read(), last.plus_ms(3_000));
        assert_eq!(ahead.status().offset_ms, -signed(YEAR_MS));
        let mut down_for_long = clock(Timestamp(BEGIN.0 - YEAR_MS));
        assert_eq!(down_for_long.read(), BEGIN);
        assert_eq!(down_for_long.status(), ClockStatus::default());
    }
}
