//! When requests are asked: schedules, thoughts, stages, deadlines.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::Duration,
};

use turnstile_load::pace::{
    self, Answer, Garbled, Law, Length, Pace, ParsedAnswer, Profile, Rhythm, Think, Totals, User,
};

/// A user that counts what it asks.
#[derive(Clone, Debug, Default)]
struct Pinger {
    asked: u64,
}

impl User for Pinger {
    type Ask = ();

    const OPERATIONS: &'static [&'static str] = &["ping"];

    const REQUEST_BYTES_MAX: usize = 8;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<()> {
        self.asked += 1;
        out.extend_from_slice(b"PING\n");
        Some(())
    }

    fn operation((): &()) -> usize {
        0
    }

    fn hear<'a>(&mut self, (): &(), bytes: &'a [u8]) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let whole = bytes.starts_with(b"PONG\n");
        Ok(whole.then_some(ParsedAnswer {
            length: 5,
            answer: Answer::Done,
        }))
    }
}

/// A server that answers at once, but the first request of each connection after `frozen`.
fn listen(frozen: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer(stream.unwrap(), frozen));
        }
    });
    address
}

fn answer(mut stream: TcpStream, frozen: Duration) {
    stream.set_nodelay(true).unwrap();
    let mut request = [0; 5];
    // Nobody sends anything that could wake this channel.
    let (_never, nothing) = mpsc::channel::<()>();
    let mut frozen = Some(frozen);
    while stream.read_exact(&mut request).is_ok() {
        if let Some(frozen) = frozen.take() {
            nothing.recv_timeout(frozen).unwrap_err();
        }
        // Whoever asked may have gone.
        if stream.write_all(b"PONG\n").is_err() {
            return;
        }
    }
}

fn open(rate: f64) -> Rhythm {
    Rhythm::Open {
        law: Law::Fixed,
        rate: Profile::constant(rate),
    }
}

fn run(rhythm: Rhythm, frozen: u64, milliseconds: u64, users: usize) -> Totals<Pinger> {
    let pace = Pace {
        rhythm,
        deadline: Some(Duration::from_millis(frozen.max(5) / 2)),
        threads: 2,
        ..Pace::closed(
            listen(Duration::from_millis(frozen)),
            Duration::ZERO,
            Duration::from_millis(milliseconds),
        )
    };
    pace::run(&pace, vec![Pinger::default(); users], &mut |_progress| {}).unwrap()
}

#[test]
fn every_arrival_of_an_open_loop_is_asked_for_or_counted_as_waiting() {
    let totals = run(open(2_000.0), 0, 400, 4);
    let done = &totals.tally.operations[0];
    assert_eq!(totals.planned, Some(800));
    let waiting = totals.tally.censored.count();
    assert_eq!(done.times.count() + waiting, 800, "{done:?}");
    assert_eq!(totals.tally.lag.count(), done.times.count());
    assert_eq!(totals.tally.wait.count(), done.times.count());
    let asked: Vec<u64> = totals.users.iter().map(|user| user.asked).collect();
    assert!(asked.iter().all(|&asked| asked > 0), "{asked:?}");
    assert_eq!(totals.bins.len(), 4);
}

#[test]
fn a_server_slower_than_the_schedule_is_charged_for_the_line_before_it() {
    // One connection, on which the first answer comes after the end.
    let totals = run(open(1_000.0), 400, 100, 1);
    let done = &totals.tally.operations[0];
    assert_eq!((done.done, done.times.count(), done.late), (1, 0, 1));
    let censored = &totals.tally.censored;
    assert_eq!(censored.count(), 100, "{censored:?}");
    // They were due in each of the 100 milliseconds before the end.
    assert!(censored.quantile(0.0) <= 1_001_000, "{censored:?}");
    assert!(censored.quantile(1.0) >= 99_900_000, "{censored:?}");
    // Of those who came while it was frozen, each had to wait for the connection.
    let totals = run(open(1_000.0), 60, 1_000, 1);
    let wait = &totals.tally.wait;
    assert!(wait.quantile(1.0) >= 58_000_000, "{wait:?}");
    assert!(totals.figures().split.backlog > 0.0);
    assert!(totals.tally.operations[0].late > 0, "{totals:?}");
}

#[test]
fn who_thinks_asks_no_sooner() {
    let think = Think::Fixed(Duration::from_millis(20));
    let rhythm = Rhythm::Closed {
        think,
        stages: None,
    };
    let totals = run(rhythm, 0, 200, 3);
    for user in &totals.users {
        // After 20, 40, ... 180 ms; an answer takes longer than nothing.
        assert!((1..=9).contains(&user.asked), "{user:?}");
    }
    let done = &totals.tally.operations[0];
    assert_eq!(totals.tally.lag.count(), done.times.count());
    let random = Rhythm::Closed {
        think: Think::Exponential(Duration::from_millis(2)),
        stages: None,
    };
    let asked: Vec<u64> = run(random, 0, 200, 3)
        .users
        .iter()
        .map(|user| user.asked)
        .collect();
    assert!(
        asked.iter().all(|asked| (5..=200).contains(asked)),
        "{asked:?}"
    );
}

#[test]
fn of_stages_as_many_users_ask_as_there_are_at_the_time() {
    // From nobody to two, and down again.
    let stages = Profile::of_stages(&[(0.1, 2.0), (0.1, 0.0)]).unwrap();
    let rhythm = Rhythm::Closed {
        think: Think::None,
        stages: Some(stages),
    };
    let totals = run(rhythm, 0, 60_000, 4);
    let asking = totals.users.iter().filter(|user| user.asked > 0);
    assert_eq!(asking.count(), 2);
    // Nobody will ever come back: the run does not wait for its end, and is measured until then.
    assert!(totals.took < Duration::from_secs(60), "{:?}", totals.took);
    ends_early(&totals);
}

#[test]
fn a_trace_is_over_when_its_last_request_is_answered() {
    let trace: Vec<u64> = (0..50).map(|number| number * 1_000_000).collect();
    let rhythm = Rhythm::Open {
        law: Law::Trace(trace.into()),
        rate: Profile::constant(1.0),
    };
    let totals = run(rhythm, 0, 60_000, 3);
    assert_eq!(
        (totals.tally.operations[0].done, totals.planned),
        (50, Some(50))
    );
    assert!(totals.took < Duration::from_secs(60), "{:?}", totals.took);
    ends_early(&totals);
}

/// The answers of a run that is over before its time were divided by the time that it was given.
#[track_caller]
fn ends_early(totals: &Totals<Pinger>) {
    let (took, window) = (totals.took, totals.window);
    assert!(
        took <= window && window < Duration::from_secs(60),
        "{took:?} {window:?}"
    );
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    let sound = Pace::closed(address, Duration::ZERO, Duration::from_secs(1));
    let precise = |relative, most| Pace {
        length: Length::Precise {
            relative,
            most: Duration::from_secs(most),
        },
        ..sound.clone()
    };
    let thoughtful = Pace {
        pipeline: 2,
        rhythm: Rhythm::Closed {
            think: Think::Fixed(Duration::from_secs(1)),
            stages: None,
        },
        ..sound.clone()
    };
    let rows = [
        (precise(0.0, 1), "a precision is a share above 0"),
        (
            precise(0.1, 0),
            "the measured window is longer than nothing",
        ),
        (precise(0.1, 86_401), "a run takes a day at most"),
        (
            thoughtful,
            "who thinks has one request under way: no pipeline",
        ),
    ];
    for (pace, reason) in rows {
        let users = vec![Pinger::default()];
        let error = pace::run(&pace, users, &mut |_progress| {}).unwrap_err();
        assert_eq!(error.to_string(), reason);
    }
}
