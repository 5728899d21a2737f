//! The loop itself: settings, errors, lost connections.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    thread,
    time::Duration,
};

use turnstile_load::{
    Error, foreign,
    pace::{
        self, Answer, Ended, Garbled, Law, Length, Pace, ParsedAnswer, Profile, Progress, Rhythm,
        User,
    },
};

use crate::{
    repeater::Repeater,
    toy::{Fault, Toy},
};

fn pace(address: SocketAddr, milliseconds: u64) -> Pace {
    Pace::closed(address, Duration::ZERO, Duration::from_millis(milliseconds))
}

/// What four users come to who say this: how many answers were timed, how many were errors, and how many
/// requests were never answered.
fn say(toy: &Toy, command: &str) -> (u64, u64, u64) {
    let pace = Pace {
        threads: 3,
        pipeline: 8,
        ..pace(toy.address, 120)
    };
    let users = vec![Repeater::new(command); 4];
    let totals = pace::run(&pace, users, &mut |_progress| {}).unwrap();
    let operation = &totals.tally.operations[0];
    (
        totals.times().count(),
        operation.errors.total(),
        operation.unknown,
    )
}

#[test]
fn any_command_is_driven_and_errors_are_counted_apart() {
    let toy = Toy::start(Fault::None);
    let (timed, errors, unknown) = say(&toy, "PING");
    assert!(timed > 0);
    assert_eq!((errors, unknown), (0, 0));
    let (timed, errors, unknown) = say(&toy, "NONSENSE");
    assert!(errors > 0);
    assert_eq!((timed, unknown), (0, 0));
}

/// A late error counted twice: an objective for errors then saw twice as many.
#[test]
fn an_answer_is_late_or_an_error_and_not_both() {
    let toy = Toy::start(Fault::None);
    for (command, are_late) in [("PING", true), ("NONSENSE", false)] {
        let pace = Pace {
            deadline: Some(Duration::ZERO),
            ..pace(toy.address, 50)
        };
        let users = vec![Repeater::new(command)];
        let totals = pace::run(&pace, users, &mut |_progress| {}).unwrap();
        let operation = &totals.tally.operations[0];
        assert!(operation.done + operation.errors.total() > 0, "{command}");
        assert_eq!(operation.late > 0, are_late, "{command}");
    }
}

#[test]
fn the_warm_up_is_driven_but_not_timed() {
    let toy = Toy::start(Fault::None);
    let mut pace = pace(toy.address, 20);
    pace.length = Length::Fixed {
        warm_up: Duration::from_millis(400),
        duration: Duration::from_millis(20),
    };
    let users = vec![Repeater::new("PING")];
    let totals = pace::run(&pace, users, &mut |_progress| {}).unwrap();
    let (timed, done) = (totals.times().count(), totals.tally.operations[0].done);
    assert!(timed < done / 2, "{timed} of {done}");
}

#[test]
fn what_is_no_answer_costs_the_connection() {
    let (timed, errors, unknown) = say(&Toy::start(Fault::None), "GARBLE");
    assert!(unknown > 0);
    assert_eq!((timed, errors), (0, 0));
}

#[test]
fn as_many_requests_are_under_way_as_the_pipeline_is_deep() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Nothing is answered before there are eight requests.
    let peer = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut requests = [0; 8 * 14];
        while stream.read_exact(&mut requests).is_ok() {
            stream.write_all(&b"+PONG\r\n".repeat(8)).unwrap();
        }
    });
    let mut pace = pace(address, 100);
    pace.pipeline = 8;
    let users = vec![Repeater::new("PING")];
    let totals = pace::run(&pace, users, &mut |_progress| {}).unwrap();
    peer.join().unwrap();
    let command = &totals.tally.operations[0];
    assert!(command.done > 0 && command.done.is_multiple_of(8));
    assert_eq!((command.unknown, totals.slots), (0, 8));
}

#[test]
fn a_server_that_goes_away_is_counted_and_not_hidden() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        drop(listener);
        let mut request = [0; 14];
        for _ in 0..10 {
            stream.read_exact(&mut request).unwrap();
            stream.write_all(b"+PONG\r\n").unwrap();
        }
        // The eleventh is read and never answered.
        stream.read_exact(&mut request).unwrap();
    });
    let users = vec![Repeater::new("PING")];
    let totals = pace::run(&pace(address, 1_000), users, &mut |_progress| {}).unwrap();
    peer.join().unwrap();
    let command = &totals.tally.operations[0];
    assert_eq!((command.done, command.unknown), (10, 1));
    assert_eq!(totals.tally.connections_lost, 1);
    assert!(totals.tally.connects_failed > 0);
    assert!(!totals.figures().little.holds());
}

#[test]
fn progress_is_told_while_it_runs() {
    let toy = Toy::start(Fault::None);
    let mut told: Vec<Progress> = Vec::new();
    let users = vec![Repeater::new("PING"); 3];
    let mut progress = |progress: &Progress| told.push(*progress);
    let totals = pace::run(&pace(toy.address, 700), users, &mut progress).unwrap();
    let last = told.last().expect("700 ms have room for progress");
    assert!(last.answered > 0 && last.answered <= totals.tally.operations[0].done);
    assert_eq!(last.planned, Duration::from_millis(700));
    assert!(told.is_sorted_by(|one, next| one.answered <= next.answered));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let toy = Toy::start(Fault::None);
    let sound = pace(toy.address, 10);
    let user = || Repeater::new("PING");
    let rows = [
        (sound.clone(), vec![], "there are 1 to 50,000 users"),
        (
            Pace {
                threads: 0,
                ..sound.clone()
            },
            vec![user()],
            "there is at least one thread",
        ),
        (
            Pace {
                pipeline: 0,
                ..sound.clone()
            },
            vec![user()],
            "the pipeline is 1 to 1,024 deep",
        ),
        (
            Pace {
                pipeline: 1_025,
                ..sound.clone()
            },
            vec![user()],
            "the pipeline is 1 to 1,024 deep",
        ),
        (
            Pace {
                length: Length::Fixed {
                    warm_up: Duration::ZERO,
                    duration: Duration::ZERO,
                },
                ..sound
            },
            vec![user()],
            "the measured window is longer than nothing",
        ),
    ];
    for (pace, users, reason) in rows {
        let error = pace::run(&pace, users, &mut |_progress| {}).unwrap_err();
        assert_eq!(error.to_string(), reason);
    }
    let error = foreign::run_resp(&pace(toy.address, 10), 1, &[], &mut |_progress| {}).unwrap_err();
    assert!(matches!(error, Error::Setting(_)));
}

#[test]
fn nobody_listening_is_an_error_before_the_start() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let users = vec![Repeater::new("PING")];
    let error = pace::run(&pace(address, 10), users, &mut |_progress| {}).unwrap_err();
    assert!(matches!(error, Error::Connect { user: 0, .. }), "{error}");
}

/// A user who asks once.
#[derive(Debug)]
struct Once(Option<Repeater>);

impl User for Once {
    type Ask = ();

    const OPERATIONS: &'static [&'static str] = Repeater::OPERATIONS;

    const REQUEST_BYTES_MAX: usize = Repeater::REQUEST_BYTES_MAX;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<()> {
        self.0.take()?.ask(out)
    }

    fn operation((): &()) -> usize {
        0
    }

    fn hear<'a>(&mut self, (): &(), bytes: &'a [u8]) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        Repeater::new("PING").hear(&(), bytes)
    }
}

/// Three threads had a user each, and the fourth user was never there.
#[test]
fn as_many_users_are_there_in_turn_as_were_asked_for_whatever_the_threads() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Nothing is answered before there are four users.
    let peer = thread::spawn(move || {
        let there: Vec<_> = listener.incoming().take(4).map(Result::unwrap).collect();
        for mut stream in there {
            stream.read_exact(&mut [0; 14]).unwrap();
            stream.write_all(b"+PONG\r\n").unwrap();
        }
    });
    let pace = Pace {
        threads: 3,
        patience: Some(Duration::from_secs(20)),
        ..pace(address, 60_000)
    };
    let users = (0..4).map(|_| Once(Some(Repeater::new("PING")))).collect();
    let totals = pace::run_in_turn(&pace, users, 4, &mut |_progress| {}).unwrap();
    assert_eq!(totals.tally.operations[0].done, 4);
    peer.join().unwrap();
}

/// A user who always begins a pair of requests, and remembers when each was due.
#[derive(Debug)]
struct Pairs {
    asked: usize,
    first: (u64, u64),
    response: Vec<u64>,
    /// What comes of each pair.
    ends: Answer<'static>,
}

impl Pairs {
    fn new(ends: Answer<'static>) -> Self {
        Self {
            asked: 0,
            first: (0, 0),
            response: Vec::with_capacity(1 << 16),
            ends,
        }
    }
}

impl User for Pairs {
    type Ask = ();

    const OPERATIONS: &'static [&'static str] = &["ping"];

    const WHOLES: &'static [&'static str] = &["pair"];

    const REQUEST_BYTES_MAX: usize = 16;

    fn goes_on(&self) -> bool {
        !self.asked.is_multiple_of(2)
    }

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

    fn heard(&mut self, (): &(), due: u64, free: u64) -> Option<Ended> {
        self.response.push(due);
        if self.goes_on() {
            self.first = (due, free);
            return None;
        }
        let (due, free) = self.first;
        Some(Ended {
            whole: 0,
            due,
            free,
            measured: true,
            answer: self.ends,
        })
    }
}

#[test]
fn in_an_open_loop_a_frozen_server_is_charged_for_all_that_was_due_meanwhile() {
    const FROZEN: Duration = Duration::from_millis(60);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        let mut request = [0; 5];
        // The first answer comes late; nobody sends anything that could wake this channel.
        let (_never, nothing) = std::sync::mpsc::channel::<()>();
        let mut frozen = Some(FROZEN);
        while stream.read_exact(&mut request).is_ok() {
            if let Some(frozen) = frozen.take() {
                nothing.recv_timeout(frozen).unwrap_err();
            }
            stream.write_all(b"PONG\n").unwrap();
        }
    });
    let due: Vec<u64> = (0..40).map(|number| number * 1_000_000).collect();
    let pace = Pace {
        rhythm: Rhythm::Open {
            law: Law::Trace(due.clone().into()),
            rate: Profile::constant(1_000.0),
        },
        ..pace(address, 10_000)
    };
    let users = vec![Pairs::new(Answer::Done)];
    let totals = pace::run(&pace, users, &mut |_progress| {}).unwrap();
    peer.join().unwrap();
    // Each pair was due at its own instant, whatever was answered.
    let begun = totals.users[0].response.iter().step_by(2).copied();
    assert_eq!(begun.collect::<Vec<u64>>(), due);
    // The last was due after 39 ms and answered after 60 at the earliest.
    let least = 20_900_000;
    let pairs = &totals.tally.wholes[0];
    assert_eq!((pairs.done, pairs.response.count()), (40, 40));
    assert!(pairs.response.quantile(0.0) >= least, "{pairs:?}");
    // Only the first waited for its answer alone; the others for their user.
    assert!(pairs.service.mean() < pairs.response.mean(), "{pairs:?}");
    assert!(totals.figures().split.backlog > 0.0);
    // What is measured are pairs; only their first requests were due at an instant.
    let bins = totals.bins.iter().map(|bin| u64::from(bin.answered));
    assert_eq!((totals.times().count(), bins.sum::<u64>()), (40, 40));
    assert_eq!((totals.planned, totals.tally.lag.count()), (Some(40), 40));
}

/// Where each request of a pair is answered at once, until the process ends.
fn pongs() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let (mut stream, mut request) = (stream.unwrap(), [0; 5]);
                while stream.read_exact(&mut request).is_ok() {
                    stream.write_all(b"PONG\n").unwrap();
                }
            });
        }
    });
    address
}

/// A late refused whole was not late, but a late refused request was.
#[test]
fn a_whole_is_late_whether_done_or_refused_and_an_error_is_not() {
    let address = pongs();
    let rows = [
        (Answer::Done, true),
        (Answer::Refused(b"sold_out"), true),
        (Answer::Error(b"ERR"), false),
    ];
    for (ends, are_late) in rows {
        let pace = Pace {
            deadline: Some(Duration::ZERO),
            ..pace(address, 50)
        };
        let totals = pace::run(&pace, vec![Pairs::new(ends)], &mut |_| {}).unwrap();
        let pairs = &totals.tally.wholes[0];
        let ended = pairs.done + pairs.refused.total() + pairs.errors.total();
        assert!(ended > 0, "{ends:?}");
        assert_eq!(pairs.late, if are_late { ended } else { 0 }, "{ends:?}");
    }
}

#[test]
fn who_is_within_a_pair_finishes_it_when_the_window_is_over() {
    let address = pongs();
    let user = || Pairs::new(Answer::Done);
    let totals = pace::run(&pace(address, 50), vec![user(), user()], &mut |_| {}).unwrap();
    for user in &totals.users {
        assert!(
            user.asked > 0 && user.asked.is_multiple_of(2),
            "{}",
            user.asked
        );
    }
    let pipelined = Pace {
        pipeline: 2,
        ..pace(address, 50)
    };
    let error = pace::run(&pipelined, vec![user()], &mut |_| {}).unwrap_err();
    let reason = "who makes a whole of requests has one under way: no pipeline";
    assert_eq!(error.to_string(), reason);
}

#[test]
fn who_hears_nothing_for_too_long_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let pace = Pace {
        patience: Some(Duration::from_millis(50)),
        ..pace(silent.local_addr().unwrap(), 60_000)
    };
    let users = vec![Repeater::new("PING")];
    let totals = pace::run(&pace, users, &mut |_progress| {}).unwrap();
    assert_eq!(totals.tally.operations[0].unknown, 1);
}
