//! Points as they are recorded of servers with one known bottleneck each.

use turnstile_result::{Bins, Distribution, Process, Stands, Station, Validity, Verdict};

use super::*;

/// What was seen at one number of users.
struct Seen<'a> {
    users: u32,
    throughput: f64,
    /// Busy servers of each resource, and how many there are.
    busy: &'a [(&'a str, f64, f64)],
    /// Running, before a lock, at a disk, asleep.
    stands: [f64; 4],
    run_delay: f64,
}

const QUIET: Seen<'static> = Seen {
    users: 1,
    throughput: 1.0,
    busy: &[],
    stands: [0.0; 4],
    run_delay: 0.0,
};

/// Four seconds of it, a little uneven.
fn point(seen: &Seen<'_>) -> Point {
    let mut point = Point::blank("resp");
    point.load = OfferedLoad::Closed {
        users: seen.users,
        pipeline: 1,
        think_ns: None,
    };
    point.throughput = seen.throughput;
    point.window_s = 4.0;
    let wave = |bin: u32| 1.0 + 0.02 * f64::from(bin % 7) - 0.06;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "answers are few and positive"
    )]
    let answered = (0..40).map(|bin| (seen.throughput * wave(bin) * 100.0).round() as u64);
    point.bins = Bins {
        // Ten seconds each, so that slow servers are even enough.
        width_ns: 100_000_000_000,
        answered: answered.collect(),
        ..Bins::default()
    };
    point.times.response = Distribution::default();
    point.resources.stands = Some(Stands {
        looks: 200,
        running: seen.stands[0],
        lock: seen.stands[1],
        disk: seen.stands[2],
        asleep: seen.stands[3],
        elsewhere: 1.0,
    });
    for &(name, busy, servers) in seen.busy {
        #[expect(clippy::cast_possible_truncation, reason = "a share of time")]
        let bins = (0..40).map(|bin| (busy * wave(bin)) as f32).collect();
        point.resources.stations.push(Station {
            resource: name.to_owned(),
            servers,
            busy,
            bins,
        });
    }
    point.resources.processes.push(Process {
        role: "server".to_owned(),
        user: seen.busy.first().map_or(0.0, |(_, busy, _)| *busy),
        run_delay: Some(seen.run_delay),
        ..Process::default()
    });
    point
}

/// Of a server at 8, 16 and 32 users.
fn found(seen: &[Seen<'_>; 3]) -> Bottleneck {
    let points: Vec<Point> = seen.iter().map(point).collect();
    let points: Vec<&Point> = points.iter().collect();
    of(&points, 1).unwrap()
}

/// That a server whose throughput stays, with this at all loads, is held back by this.
fn check(busy: &[(&str, f64, f64)], stands: [f64; 4], run_delay: f64, named: &str) -> Bottleneck {
    let at = |users: u32| Seen {
        users,
        throughput: if users == 8 {
            400.0
        } else {
            500.0 + f64::from(users) / 100.0
        },
        busy,
        // Who is alone waits for nobody.
        stands: if users == 8 {
            [1.0, 0.0, 0.0, 0.0]
        } else {
            stands
        },
        run_delay,
    };
    let bottleneck = found(&[8, 16, 32].map(at));
    assert_eq!(bottleneck.named, named, "{bottleneck:?}");
    assert!(bottleneck.probability > 0.95, "{bottleneck:?}");
    assert_eq!(bottleneck.users, 32);
    assert!(!bottleneck.why.is_empty() && !bottleneck.cure.is_empty());
    bottleneck
}

#[test]
fn what_is_full_is_named() {
    let none = [1.0, 0.0, 0.0, 0.0];
    let generator = ("generator thread", 0.2, 1.0);
    check(
        &[
            ("server cpu", 1.9, 2.0),
            ("server thread", 0.95, 1.0),
            generator,
        ],
        none,
        0.0,
        "server cpu",
    );
    check(
        &[
            ("server cpu", 0.97, 1.0),
            ("server thread", 0.97, 1.0),
            generator,
        ],
        none,
        0.0,
        "server cpu",
    );
    check(
        &[
            ("server cpu", 1.1, 4.0),
            ("server thread", 0.98, 1.0),
            generator,
        ],
        none,
        0.0,
        "server thread",
    );
    check(
        &[("server cpu", 0.2, 2.0), ("database cpu", 1.9, 2.0)],
        none,
        0.0,
        "database cpu",
    );
    check(
        &[("server cpu", 0.4, 2.0), ("generator thread", 0.99, 1.0)],
        none,
        0.0,
        "generator thread",
    );
    check(
        &[("server thread", 0.3, 1.0), ("log", 0.6, 1.0)],
        none,
        0.0,
        "log",
    );
    check(
        &[("server thread", 0.6, 1.0), ("log", 0.35, 1.0)],
        none,
        0.0,
        "server thread",
    );
}

#[test]
fn a_disk_that_others_keep_busy_is_not_named() {
    let busy = [("server cpu", 0.3, 2.0), ("disk", 0.97, 1.0)];
    check(&busy, [1.0, 0.0, 0.9, 0.0], 0.0, "disk");
    check(&busy, [1.0, 0.0, 0.0, 0.0], 0.0, "unseen");
}

#[test]
fn where_nothing_is_full_the_threads_say_what_they_wait_for() {
    let busy = [("server cpu", 0.1, 4.0), ("generator thread", 0.1, 1.0)];
    check(&busy, [0.1, 0.0, 0.0, 0.9], 0.0, "sleep");
    check(&busy, [0.1, 0.0, 0.9, 0.0], 0.0, "disk");
    check(&busy, [0.1, 0.0, 0.0, 0.0], 0.0, "unseen");
    check(
        &[("server cpu", 0.4, 1.0)],
        [1.0, 0.0, 0.0, 0.0],
        0.6,
        "neighbours",
    );
}

/// What the server computes, what its threads are at, what is named, and how the chain begins.
type Chain = (f64, [f64; 4], &'static str, &'static str);

#[rustfmt::skip]
const CHAINS: [Chain; 13] = [
    // One at a time, and what it does.
    (1.0, [1.0, 30.0, 0.0, 0.0], "lock", "lock, held while computing"),
    (0.1, [0.0, 30.0, 0.0, 1.0], "lock", "lock, held while asleep"),
    (0.1, [0.0, 30.0, 0.9, 0.0], "disk", "lock, held while at the disk"),
    // The larger part of its time.
    (0.4, [0.4, 13.0, 0.5, 0.0], "disk", "lock, held while at the disk"),
    (0.5, [0.5, 13.0, 0.4, 0.0], "lock", "lock, held while computing"),
    // Those who wait for a processor do not compute.
    (0.2, [3.0, 13.0, 0.7, 0.0], "disk", "lock, held while at the disk"),
    // So many at a time.
    (1.0, [0.1, 27.0, 0.0, 4.0], "slots", "slots, held while asleep"),
    (0.3, [0.3, 27.0, 1.8, 0.0], "disk", "slots, held while at the disk"),
    (2.9, [2.9, 27.0, 0.0, 0.1], "slots", "slots, held while computing"),
    // Somebody else of the server writes meanwhile.
    (0.1, [0.1, 30.0, 0.3, 1.0], "lock", "lock, held while asleep"),
    (0.2, [0.1, 27.0, 1.0, 3.0], "slots", "slots, held while asleep"),
    // Who has it does something elsewhere.
    (0.1, [0.1, 30.0, 0.2, 0.0], "lock", "lock, held while waiting for what cannot be seen"),
    // So few wait that it is no queue: whoever is at the disk is there for itself.
    (0.6, [0.6, 2.0, 0.7, 0.0], "disk", "2.0 of the server's threads wait for others"),
];

#[test]
fn what_threads_wait_for_is_followed_to_its_end() {
    for (computes, stands, named, why) in CHAINS {
        let busy = [("server cpu", computes, 4.0), ("disk", 0.08, 1.0)];
        let found = check(&busy, stands, 0.0, named);
        assert!(found.why.starts_with(why), "{found:?}");
    }
}

/// A server of many threads that uses so much of the processors, whose threads waited for so much, and
/// what others used meanwhile.
fn crowd(used: f64, waited: f64, others: Option<f64>) -> String {
    let busy = [("server cpu", used, 1.0)];
    let at = |users: u32| {
        let mut point = point(&Seen {
            users,
            throughput: 500.0,
            busy: &busy,
            stands: QUIET.stands,
            run_delay: waited,
        });
        point.resources.others = others;
        point
    };
    let points = [8, 16, 32].map(at);
    of(&points.each_ref(), 1).unwrap().named
}

#[test]
fn neighbours_have_taken_no_more_than_they_used() {
    let rows = [
        (0.3, 0.9, Some(0.7), "neighbours"),
        (0.4, 0.6, None, "neighbours"),
        // Its own threads waited for each other.
        (0.4, 0.6, Some(0.1), "unseen"),
        (0.4, 3.0, Some(0.3), "unseen"),
        // Others had another processor.
        (0.5, 0.1, Some(0.9), "unseen"),
    ];
    for (used, waited, others, named) in rows {
        let found = crowd(used, waited, others);
        assert_eq!(found, named, "{used} {waited} {others:?}");
    }
}

/// What the server computes within the kernel and what beside it, how many are at the disk, and what is
/// named.
#[test]
fn a_call_that_waits_for_the_disk_computes_too() {
    let rows = [
        (0.3, 0.0, 0.25, "disk"),
        (0.3, 0.5, 0.25, "lock"),
        // The kernel does more than one that waits so little there: it sends, for example.
        (0.7, 0.1, 0.1, "lock"),
        (0.7, 0.0, 0.0, "lock"),
    ];
    for (kernel, beside, disk, named) in rows {
        let busy = [("server cpu", beside, 2.0)];
        let at = |users: u32| {
            let mut point = point(&Seen {
                users,
                throughput: 500.0,
                busy: &busy,
                stands: [0.3, f64::from(users) - 8.0, disk, 0.0],
                run_delay: 0.2,
            });
            point.resources.processes[0].system = kernel;
            point
        };
        let points = [8, 16, 32].map(at);
        let found = of(&points.each_ref(), 1).unwrap();
        assert_eq!(found.named, named, "{kernel} {beside} {disk}: {found:?}");
    }
}

/// Half of the time of a lock is at the disk or computing, and its threads wait so much for a processor.
#[test]
fn who_waits_for_a_processor_is_at_nothing_unseen() {
    let busy = [("server cpu", 0.2, 1.0)];
    for (run_delay, named) in [(0.3, "disk"), (0.0, "lock")] {
        check(&busy, [0.3, 13.0, 0.3, 0.0], run_delay, named);
    }
}

#[test]
fn what_those_are_at_who_have_their_turn_is_asked_of_all_runs_that_did_as_much() {
    let busy = [("server cpu", 0.3, 4.0)];
    let at = |users: u32, throughput: f64, stands: [f64; 4]| Seen {
        users,
        throughput,
        busy: &busy,
        stands,
        run_delay: 0.0,
    };
    let full = at(16, 500.0, [0.3, 14.0, 1.0, 0.0]);
    // Few looks, and at most of them nobody was at the disk.
    let unlucky = || at(32, 505.0, [0.3, 30.0, 0.2, 0.0]);
    let few = at(8, 500.0, [0.3, 5.0, 1.0, 0.0]);
    assert_eq!(found(&[few, full, unlucky()]).named, "disk");
    let other = at(8, 200.0, [0.3, 5.0, 1.0, 0.0]);
    let idle = at(16, 400.0, [0.3, 14.0, 1.0, 0.0]);
    assert_eq!(found(&[other, idle, unlucky()]).named, "lock");
}

/// How sure it is of who limits depends on the looks, too: of few of which half were elsewhere, little
/// can be said.
#[test]
fn few_looks_make_less_sure_than_many() {
    let at = |users: u32, looks: u32| {
        let mut point = point(&Seen {
            users,
            throughput: 500.0,
            busy: &[("server cpu", 0.1, 4.0)],
            stands: if users == 8 {
                [0.1, 0.0, 0.6, 0.0]
            } else {
                [0.1, 14.0, 0.6, 0.0]
            },
            run_delay: 0.0,
        });
        if let Some(stands) = &mut point.resources.stands {
            stands.looks = looks;
        }
        point
    };
    let sure = |looks: u32| {
        let points = [8, 16, 32].map(|users| at(users, looks));
        let points: Vec<&Point> = points.iter().collect();
        let bottleneck = of(&points, 1).unwrap();
        assert_eq!(bottleneck.named, "disk", "{bottleneck:?}");
        bottleneck.probability
    };
    let (few, many) = (sure(5), sure(5_000));
    assert!(many > 0.99, "{many}");
    assert!((0.5..0.95).contains(&few), "{few}");
}

/// A server that answers after a time whatever the load.
fn delayed(has_ack: bool) -> Bottleneck {
    let at = |users: u32| Seen {
        users,
        throughput: f64::from(users) * 20.0,
        busy: &[("server cpu", 0.05, 2.0)],
        ..QUIET
    };
    let mut points: Vec<Point> = [8, 16, 32].iter().map(|&users| point(&at(users))).collect();
    if has_ack {
        points[2].verdict = Verdict::Invalid;
        points[2].validity.push(Validity {
            check: "delayed_ack".to_owned(),
            outcome: Outcome::Fails,
            found: String::new(),
            cure: None,
        });
    }
    let points: Vec<&Point> = points.iter().collect();
    of(&points, 1).unwrap()
}

#[test]
fn a_delay_that_no_load_changes_is_told_from_what_is_full() {
    let found = delayed(false);
    assert_eq!((&*found.named, found.probability > 0.95), ("users", true));
    assert_eq!(delayed(true).named, "delayed ack");
}

#[test]
fn idle_threads_of_a_pool_are_no_lock() {
    let at = |users: u32| Seen {
        users,
        throughput: 500.0,
        busy: &[("server cpu", 0.2, 2.0)],
        stands: [0.2, 40.0, 0.0, 0.0],
        run_delay: 0.0,
    };
    assert_eq!(found(&[8, 16, 32].map(at)).named, "unseen");
}

#[test]
fn demand_background_and_share_of_each_suspect_are_told() {
    let rows = [(8, 400.0), (16, 700.0), (32, 900.0)];
    let busy: Vec<[(&str, f64, f64); 1]> = rows
        .iter()
        .map(|(_, throughput)| [("server cpu", 0.05 + throughput * 0.001, 1.0)])
        .collect();
    let mut seen = Vec::new();
    for ((users, throughput), busy) in rows.iter().zip(&busy) {
        seen.push(Seen {
            users: *users,
            throughput: *throughput,
            busy,
            ..QUIET
        });
    }
    let points: Vec<Point> = seen.iter().map(point).collect();
    let points: Vec<&Point> = points.iter().collect();
    let bottleneck = of(&points, 1).unwrap();
    let [cpu] = &bottleneck.suspects[..] else {
        panic!("{bottleneck:?}");
    };
    assert!((cpu.used.estimate - 0.95).abs() < 0.01, "{cpu:?}");
    assert!((cpu.busy_ns.estimate / 1e6 - 1.0).abs() < 0.05, "{cpu:?}");
    assert!((cpu.background - 0.05).abs() < 0.03, "{cpu:?}");
    assert!(cpu.probability > 0.99, "{cpu:?}");
}

/// A server whose only processor is full at 8, 16 and 32 users; these of its points are invalid.
fn spoilt(invalid: [bool; 3], generator: f64) -> Bottleneck {
    let at = |(users, invalid): (u32, bool)| {
        let mut point = point(&Seen {
            users,
            throughput: 500.0,
            busy: &[
                ("server cpu", 0.97, 1.0),
                ("generator thread", generator, 1.0),
            ],
            ..QUIET
        });
        if invalid {
            point.verdict = Verdict::Invalid;
            point.validity.push(Validity {
                check: "run_delay".to_owned(),
                outcome: Outcome::Fails,
                found: "the generator was runnable but not running 11 % of the time".to_owned(),
                cure: Some("take another machine".to_owned()),
            });
        }
        point
    };
    let points: Vec<Point> = [8, 16, 32].into_iter().zip(invalid).map(at).collect();
    of(&points.iter().collect::<Vec<_>>(), 1).unwrap()
}

#[test]
fn invalid_points_name_nothing_and_say_why() {
    for invalid in [[true; 3], [false, false, true], [true, true, false]] {
        let found = spoilt(invalid, 0.2);
        let count = invalid.iter().filter(|invalid| **invalid).count();
        assert_eq!(
            (&*found.named, found.probability, found.is_known()),
            ("nothing", 0.0, false)
        );
        let is = if count == 1 { "is" } else { "are" };
        let why = format!(
            "{count} of 3 points {is} invalid: the generator was runnable but not running 11 % of the \
             time"
        );
        assert_eq!(
            (found.why, found.cure.as_str()),
            (why, "take another machine")
        );
        assert!(
            found
                .suspects
                .iter()
                .all(|suspect| suspect.probability <= 0.0)
        );
    }
    // That the generator is to blame can be told, for that is what the invalid points show.
    let full = spoilt([true; 3], 0.99);
    assert_eq!((&*full.named, full.is_known()), ("generator thread", false));
}

#[test]
fn a_point_that_is_invalid_among_enough_others_is_left_out_and_told() {
    let found = spoilt([true, false, false], 0.2);
    assert_eq!((&*found.named, found.is_known()), ("server cpu", true));
    assert!(
        found
            .why
            .ends_with("; 1 of 3 points is invalid and left out"),
        "{found:?}"
    );
}

#[test]
fn a_name_and_its_row_in_the_table_have_one_probability() {
    let none = [1.0, 0.0, 0.0, 0.0];
    for busy in [
        // A loop of two halves, of which neither is full alone.
        [("server thread", 0.3, 1.0), ("log", 0.6, 1.0)],
        [("server cpu", 0.97, 1.0), ("generator thread", 0.2, 1.0)],
    ] {
        let named = if busy[1].0 == "log" {
            "log"
        } else {
            "server cpu"
        };
        let found = check(&busy, none, 0.0, named);
        let mut rows = found.suspects.iter();
        let row = rows.find(|row| row.resource == named).unwrap();
        assert_eq!(row.probability.to_bits(), found.probability.to_bits());
    }
}

#[test]
fn one_point_and_points_without_resources_say_nothing() {
    let seen = point(&QUIET);
    assert_eq!(of(&[&seen], 1), None);
    assert_eq!(of(&[], 1), None);
}
