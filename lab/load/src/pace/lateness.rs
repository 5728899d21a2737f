//! How late the generator would be on this machine if it had nothing to do.

use std::{
    io::{self, ErrorKind},
    time::{Duration, Instant},
};

use mio::{Events, Poll, Token};
use turnstile_stats::Histogram;

use super::desk::nanos;
use crate::alarm::Alarms;

/// Waits for so many instants, one after each `gap`, by the same timer and poller as the generator's
/// threads, and records how late it was for each.
///
/// # Errors
/// The timer or the poller could not be made, or failed.
pub fn lateness(instants: u64, gap: Duration) -> io::Result<Histogram> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1);
    let mut alarms = Alarms::new(poll.registry(), Token(0), 1)?;
    let mut late = Histogram::new();
    let start = Instant::now();
    let now = || nanos(start.elapsed());
    for number in 1..=instants {
        let due = nanos(gap).saturating_mul(number);
        alarms.set(due, 0);
        while alarms.take(now()).is_none() {
            alarms.arm(now(), None, 0)?;
            match poll.poll(&mut events, None) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                Ok(()) | Err(_) => alarms.rang(),
            }
        }
        late.record(now().saturating_sub(due));
    }
    Ok(late)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::lateness;

    #[test]
    fn nobody_is_early_and_every_instant_counts() {
        let late = lateness(20, Duration::from_micros(300)).unwrap();
        assert_eq!(late.count(), 20);
        assert!(late.min() > 0, "{late:?}");
    }
}
