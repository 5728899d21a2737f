//! Clocks, timers and the loopback.

use std::{
    io::{self, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use turnstile_load::{pace, validity::LAG_NANOS_MAX};
use turnstile_stats::{
    Histogram,
    units::{Nanos, to_float},
};

use super::{Grade, HealthCheck, told};
use crate::punctual;

/// Reading the clock; the generator does so four times for each request.
const READ_NANOS: (f64, f64) = (100.0, 1_000.0);
const READS: u32 = 200_000;

const INSTANTS: u64 = 1_000;
const GAP: Duration = Duration::from_millis(1);

/// The median of a round trip over the loopback, with one thread at either end.
const ROUND_TRIP_NANOS: (f64, f64) = (100_000.0, 500_000.0);
const ROUND_TRIPS: u32 = 2_000;

pub(super) fn all() -> [HealthCheck; 3] {
    [clock(), timer(), loopback()]
}

fn clock() -> HealthCheck {
    let finding = HealthCheck::new(
        "clock",
        "reading the clock is a call of the system: it is part of every answer, and of our own cost",
    );
    let start = Instant::now();
    for _read in 0..READS {
        std::hint::black_box(Instant::now());
    }
    let each = start.elapsed().as_secs_f64() * 1e9 / f64::from(READS);
    let source = told("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let found = format!(
        "{}, read in {}",
        source.as_deref().unwrap_or("of an unknown source"),
        Nanos(each)
    );
    finding.is(
        Grade::up_to(READ_NANOS.0, READ_NANOS.1, each),
        found,
        "let the system use tsc or kvm-clock (clocksource=tsc), not hpet or acpi_pm",
    )
}

fn timer() -> HealthCheck {
    let finding = HealthCheck::new(
        "timer",
        "requests leave late by as much, and an open loop says so with every answer",
    );
    let late = match pace::lateness(INSTANTS, GAP) {
        Ok(late) => late,
        Err(error) => {
            let found = format!("it cannot be set: {error}");
            return finding.is(
                Grade::Bad,
                found,
                "run outside of the sandbox that forbids timerfd",
            );
        }
    };
    let p99 = to_float(late.quantile(0.99));
    let fine = to_float(punctual::LAG_NANOS_MAX);
    finding.is(
        Grade::up_to(fine, to_float(LAG_NANOS_MAX), p99),
        format!("late by {}", spread(&late)),
        "use --rt, stop what else runs here, or take another machine",
    )
}

fn loopback() -> HealthCheck {
    let finding = HealthCheck::new(
        "loopback",
        "a large part of every answer is the way there and back, and being woken",
    );
    match round_trips() {
        Ok(times) => finding.is(
            Grade::up_to(
                ROUND_TRIP_NANOS.0,
                ROUND_TRIP_NANOS.1,
                to_float(times.quantile(0.5)),
            ),
            format!("there and back in {}", spread(&times)),
            "stop what else runs here; look for filters (nftables) on the loopback",
        ),
        Err(error) => finding.is(
            Grade::Bad,
            format!("no server can be reached: {error}"),
            "allow connections to 127.0.0.1",
        ),
    }
}

/// A byte to another thread and back, over and over.
fn round_trips() -> io::Result<Histogram> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let echo = thread::spawn(move || -> io::Result<()> {
        let (mut stream, _peer) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut byte = [0];
        while stream.read(&mut byte)? > 0 {
            stream.write_all(&byte)?;
        }
        Ok(())
    });
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut times = Histogram::new();
    for _trip in 0..ROUND_TRIPS {
        let sent = Instant::now();
        stream.write_all(&[1])?;
        stream.read_exact(&mut [0])?;
        times.record(u64::try_from(sent.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    drop(stream);
    echo.join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    Ok(times)
}

fn spread(times: &Histogram) -> String {
    let [median, p99, most] =
        [0.5, 0.99, 1.0].map(|quantile| Nanos(to_float(times.quantile(quantile))));
    format!("{median} (p99 {p99}, at most {most})")
}
