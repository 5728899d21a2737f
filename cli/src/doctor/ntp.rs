//! Whether a time service keeps the clock of this machine.

use std::{io, mem::MaybeUninit, time::Duration};

use turnstile_stats::units::Nanos;

use super::{Health, Symptom};

const CLOCK: &str = "runbooks.md#the-clock-jumped";

/// A service that keeps a clock knows it better.
const ERROR_MOST: Duration = Duration::from_secs(1);

/// What the system says of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockDiscipline {
    is_kept: bool,
    /// How far the clock may be from the right time, by the service's own account.
    estimated_error: Duration,
}

/// The clock of this machine, as its time service sees it.
pub(super) fn kept() -> Symptom {
    let (health, found) = match read() {
        Ok(discipline) => discipline.judge(),
        Err(error) => (
            Health::Note,
            format!("the system does not tell whether it is kept: {error}"),
        ),
    };
    Symptom::new("time service", CLOCK, health, found)
}

#[expect(unsafe_code, reason = "the call has no safe name")]
fn read() -> io::Result<ClockDiscipline> {
    let mut told = MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: the system fills the structure, of which any bytes are a value. Without a mode it sets nothing.
    let (state, told) = unsafe { (libc::adjtimex(told.as_mut_ptr()), told.assume_init()) };
    if state < 0 {
        return Err(io::Error::last_os_error());
    }
    let micros = u64::try_from(told.esterror).unwrap_or(u64::MAX);
    Ok(ClockDiscipline {
        is_kept: state != libc::TIME_ERROR && told.status & libc::STA_UNSYNC == 0,
        estimated_error: Duration::from_micros(micros),
    })
}

impl ClockDiscipline {
    fn judge(self) -> (Health, String) {
        let error = Nanos(self.estimated_error.as_secs_f64() * 1e9);
        if !self.is_kept {
            return (
                Health::Note,
                "none keeps the clock: it drifts, and holds and keys expire by it".to_owned(),
            );
        }
        (
            Health::note_if(self.estimated_error > ERROR_MOST),
            format!("the clock is kept, with an estimated error of {error}"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_well_when_a_service_keeps_it_closely() {
        let health = |is_kept, millis| {
            let estimated_error = Duration::from_millis(millis);
            let discipline = ClockDiscipline {
                is_kept,
                estimated_error,
            };
            discipline.judge().0
        };
        assert_eq!(health(true, 3), Health::Ok);
        assert_eq!(health(true, 3_000), Health::Note);
        assert_eq!(health(false, 0), Health::Note);
        assert!(!kept().found.contains("does not tell"), "{:?}", kept());
    }
}
