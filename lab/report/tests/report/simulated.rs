//! Runs as the lab would have found them on systems of known truth.

use std::collections::BTreeMap;

use turnstile_result::{
    Arrivals, Asked, Better, Bins, Bottleneck, Capacity, Change, Comparison, Curve, Distribution,
    Machine, Metric, Objective, OfferedLoad, Operation, OtherRules, Outcome, Point, Pressure,
    Probe, Process, ResourceDemand, Resources, Rule, Run, SCHEMA, Server, Shape, Split, Stage,
    Stall, Steady, Suspect, Sweep, Target, Times, Usl, Validity, Verdict,
};
use turnstile_seed::Random;
use turnstile_stats::{
    Histogram, Interval,
    operational::{Check, Law},
    pairs,
    truth::{Network, QueueingStation},
};

/// What a request takes of a processor of the server, and beside it on the way, in seconds.
const DEMANDS: [f64; 2] = [0.000_106, 0.000_127];

/// How many answers each distribution is of.
const SAMPLES: u32 = 20_000;

/// How far noise puts a figure from the truth.
const NOISE: f64 = 0.006;

/// Between 0 and 1.
fn share(random: &mut Random) -> f64 {
    let thousandths = u32::try_from(random.below(1_000_000)).unwrap();
    (f64::from(thousandths) + 0.5) / 1e6
}

fn noisy(random: &mut Random, figure: f64) -> f64 {
    figure * (1.0 + NOISE * (share(random) + share(random) - 1.0))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures of a fixture are positive and small"
)]
fn whole(figure: f64) -> u64 {
    figure as u64
}

/// Durations about a mean in seconds: three tenths of it at least, the rest exponential.
fn distribution(random: &mut Random, mean: f64) -> Distribution {
    let mut histogram = Histogram::new();
    for _ in 0..SAMPLES {
        histogram.record(whole(mean * 1e9 * (0.3 - 0.7 * share(random).ln())));
    }
    Distribution::of(&histogram)
}

fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs
        .iter()
        .map(|(word, count)| ((*word).to_owned(), *count))
        .collect()
}

fn operation(random: &mut Random, name: &str, done: f64, mean: f64) -> Operation {
    Operation {
        name: name.to_owned(),
        done: whole(done),
        refused: counts(if name == "book" {
            &[("sold_out", 412)]
        } else {
            &[]
        }),
        errors: BTreeMap::new(),
        unknown: 0,
        late: 0,
        response: distribution(random, mean),
    }
}

fn bins(random: &mut Random, throughput: f64, mean: f64) -> Bins {
    let warming = (0..200_u32).map(|bin| {
        if bin < 11 {
            0.55 + 0.04 * f64::from(bin)
        } else {
            1.0
        }
    });
    let levels: Vec<f64> = warming
        .map(|level| level * (0.96 + 0.08 * share(random)))
        .collect();
    Bins {
        width_ns: 100_000_000,
        answered: levels
            .iter()
            .map(|level| whole(level * throughput / 10.0))
            .collect(),
        response_ns: levels
            .iter()
            .map(|level| whole(mean * 1e9 / level))
            .collect(),
        failed: vec![0; levels.len()],
    }
}

fn process(role: &str, busy: f64, throughput: f64) -> Process {
    Process {
        role: role.to_owned(),
        pid: 4_711,
        threads: 3,
        user: busy * 0.6,
        system: busy * 0.4,
        run_delay: Some(0.004),
        memory_bytes: 64 << 20,
        disk_written: Some(throughput * 134.0),
        disk_read: Some(0.0),
        busy: Vec::new(),
        cpu_per_answer_ns: busy / throughput * 1e9,
    }
}

fn resources(throughput: f64) -> Resources {
    let stall = |some| Stall { some, full: 0.0 };
    let server = process("server", throughput * DEMANDS[0], throughput);
    let generator = process("generator", throughput * 0.000_008, throughput);
    Resources {
        processes: vec![server, generator],
        pressure: Some(Pressure {
            cpu: stall(0.02),
            memory: stall(0.0),
            io: stall(0.11),
        }),
        steal: Some(0.004),
        busy: Some(0.54),
        others: Some(0.05),
        network_bytes: Some(throughput * 240.0),
        disk_busy: Some(0.35),
        stations: Vec::new(),
        stands: None,
    }
}

fn checks(is_starved: bool) -> Vec<Validity> {
    let check = |name: &str, found: &str| Validity {
        check: name.to_owned(),
        outcome: Outcome::Holds,
        found: found.to_owned(),
        cure: None,
    };
    let mut checks = vec![
        check(
            "generator_lag",
            "p99 41us, the limit is 200us or a hundredth of the response",
        ),
        check("generator_cpu", "8 % of its processor, the limit is 80 %"),
        check("run_delay", "0.4 % of the time, the limit is 1 %"),
        check("errors", "0 of 188 000 requests"),
    ];
    if is_starved {
        checks[2].outcome = Outcome::Fails;
        "11 % of the time runnable but not running, the limit is 1 %"
            .clone_into(&mut checks[2].found);
        let cure = "end the neighbours, or pin server and generator apart: --pin server=0,gen=1";
        checks[2].cure = Some(cure.to_owned());
    }
    checks
}

fn proof() -> Vec<Rule> {
    let rule = |rule: &str| Rule {
        rule: rule.to_owned(),
        outcome: Outcome::Holds,
        violations: Vec::new(),
        found: Vec::new(),
    };
    vec![
        rule("every booking that was acknowledged stands, and no other"),
        rule("no room is sold twice for a night"),
    ]
}

/// A point with this mean response from due and from sent, in seconds.
fn point(
    random: &mut Random,
    load: OfferedLoad,
    throughput: f64,
    (due, sent): (f64, f64),
) -> Point {
    let throughput = noisy(random, throughput);
    let due = noisy(random, due);
    let sent = sent.min(due);
    let response = distribution(random, due);
    let p99 = turnstile_stats::units::to_float(response.at(0.99).unwrap());
    let users = match load {
        OfferedLoad::Closed { users, .. } => f64::from(users),
        OfferedLoad::Open { .. } | OfferedLoad::Count { .. } => throughput * due,
    };
    let bins = bins(random, throughput, due);
    let book = operation(random, "book", throughput * 14.0, due * 1.06);
    let cancel = operation(random, "cancel", throughput * 6.0, due * 0.86);
    Point {
        series: "rooms".to_owned(),
        repeat: 0,
        load,
        cores: None,
        quota: None,
        began_s: 0.0,
        warm_up_s: 1.1,
        window_s: 18.9,
        throughput,
        throughput_interval: Some(Interval::about(throughput, throughput * 0.008)),
        response_interval: Some(Interval::about(response.mean_ns, response.mean_ns * 0.012)),
        p99_interval: Some(Interval::about(p99, p99 * 0.04)),
        steady: Steady {
            steady: true,
            from_bin: 11,
            why: "MSER-5 cuts 1.1 s of 20 s, and there is no slope after that (p = 0.41)"
                .to_owned(),
        },
        split: Split {
            backlog_ns: (due - sent) * 1e9,
            lag_ns: 3_000.0,
            sending_ns: 2_500.0,
            answering_ns: sent * 1e9,
            reading_ns: 120.0,
        },
        times: Times {
            service: distribution(random, sent),
            lag: distribution(random, 0.000_009),
            wait: distribution(random, 0.000_002),
            response,
        },
        operations: vec![book, cancel],
        wholes: Vec::new(),
        bins,
        connections_lost: 0,
        connects_failed: 0,
        reconnects: 0,
        planned: None,
        arrivals: None,
        censored: None,
        resources: resources(throughput),
        laws: vec![Check::equal(
            Law::Little,
            users,
            throughput * due,
            users * 0.01,
        )],
        validity: checks(false),
        proof: proof(),
        check: None,
        verdict: Verdict::Fine,
    }
}

fn run(command: &str, line: &str, points: Vec<Point>) -> Run {
    let line = format!("turnstile lab {command} rooms {line}");
    Run {
        schema: SCHEMA,
        lab: "0.1.0".to_owned(),
        began: "2026-01-31T12:00:00Z".to_owned(),
        took_s: 231.5,
        asked: Asked {
            command: command.to_owned(),
            line: line.split(' ').map(str::to_owned).collect(),
            workload: "rooms".to_owned(),
            settings: BTreeMap::from([("mix".to_owned(), "book=70,cancel=30".to_owned())]),
            target: Target {
                address: "127.0.0.1:8479".to_owned(),
                own: true,
                tls: false,
                authenticated: false,
            },
            seed: 1,
            threads: 1,
            precision: Some(0.01),
            point_s_max: 300.0,
            pinned: BTreeMap::from([
                ("generator".to_owned(), vec![1]),
                ("server".to_owned(), vec![0]),
            ]),
        },
        machine: Machine {
            processor: "a processor".to_owned(),
            cores: 2,
            kernel: "6.1.0".to_owned(),
            load: "0.50".to_owned(),
        },
        server: Some(Server {
            version: "0.1.0".to_owned(),
            durability: "sync".to_owned(),
            back_end: "embedded".to_owned(),
        }),
        points,
        sweep: None,
        capacity: None,
        comparison: None,
        bottleneck: None,
        objectives: Vec::new(),
        verdict: Verdict::Fine,
        exit_code: 0,
    }
}

const fn closed(users: u32) -> OfferedLoad {
    OfferedLoad::Closed {
        users,
        pipeline: 1,
        think_ns: None,
    }
}

/// The point of so many users on so many processors.
fn operating(random: &mut Random, cores: u32, users: u32) -> Point {
    let servers = [usize::try_from(cores).unwrap(), 1_000];
    let stations = DEMANDS.into_iter().zip(servers);
    let network = Network {
        stations: stations
            .map(|(demand, servers)| QueueingStation { demand, servers })
            .collect(),
        think: 0.0,
    };
    let found = network
        .up_to(usize::try_from(users).unwrap())
        .pop()
        .unwrap();
    point(
        random,
        closed(users),
        found.throughput,
        (found.response, found.response),
    )
}

fn curve(cores: Option<u32>, points: std::ops::Range<u32>) -> Curve {
    let capacity = f64::from(cores.unwrap_or(1)) / DEMANDS[0];
    let lone = (DEMANDS[0] + DEMANDS[1]) * 1e9;
    let knee = capacity * lone / 1e9;
    Curve {
        cores,
        quota: None,
        points: points.collect(),
        stopped: "twice the users brought surely less than 5 % more".to_owned(),
        capacity: Some(Interval::about(capacity, capacity * 0.008)),
        lone_ns: Some(Interval::about(lone, lone * 0.006)),
        knee: Some(Interval::about(knee, knee * 0.06)),
        demands: vec![ResourceDemand {
            resource: "server cpu".to_owned(),
            busy_ns: Interval::about(DEMANDS[0] * 1e9, 900.0),
            servers: f64::from(cores.unwrap_or(1)),
            capacity: Some(Interval::about(capacity, capacity * 0.009)),
        }],
        other_rules: OtherRules {
            two_segments: Some(knee * 1.1),
            kneedle: Some(8.0),
            share_of_most: Some(8.0),
        },
        usl: None,
    }
}

/// One load.
pub(crate) fn single() -> Run {
    let mut random = Random::new(1);
    let mut run = run("run", "-c 8", vec![operating(&mut random, 1, 8)]);
    run.objectives.push(Objective {
        asked: "p99<10ms".to_owned(),
        point: 0,
        outcome: Outcome::Holds,
        found: "p99 is 3.11ms".to_owned(),
    });
    run
}

/// Users from 1 to 64, one of the points without use.
pub(crate) fn sweep() -> Run {
    let mut random = Random::new(2);
    let users = [1, 2, 3, 4, 8, 16, 32, 64];
    let mut points: Vec<Point> = users.map(|users| operating(&mut random, 1, users)).into();
    let starved = &mut points[5];
    starved.throughput *= 0.8;
    starved.throughput_interval = None;
    starved.validity = checks(true);
    starved.verdict = Verdict::Invalid;
    let mut run = run("sweep", "-c 1..64 --pin server=0,gen=1", points);
    run.sweep = Some(Sweep {
        axis: "users".to_owned(),
        curves: vec![curve(None, 0..8)],
        scaling: None,
    });
    run
}

/// One, two and four processors of the server, each point three times.
pub(crate) fn cores() -> Run {
    let mut random = Random::new(3);
    let mut points = Vec::new();
    let mut curves = Vec::new();
    for cores in [1, 2, 3, 4] {
        let from = u32::try_from(points.len()).unwrap();
        for users in [1, 4, 16] {
            for repeat in 0..3 {
                points.push(Point {
                    cores: Some(cores),
                    repeat,
                    ..operating(&mut random, cores, users)
                });
            }
        }
        curves.push(curve(
            Some(cores),
            from..u32::try_from(points.len()).unwrap(),
        ));
    }
    let mut run = run("sweep", "-c 1..16 --cores 1,2,3,4 --repeat 3", points);
    run.sweep = Some(Sweep {
        axis: "users".to_owned(),
        curves,
        scaling: Some(Usl {
            rate: Interval::about(9_434.0, 40.0),
            sigma: Interval::about(0.002, 0.002),
            kappa: Interval::about(0.000_1, 0.000_1),
            peak: None,
        }),
    });
    run
}

/// Rates up to where the objective is missed.
pub(crate) fn capacity() -> Run {
    let mut random = Random::new(4);
    let mut points = Vec::new();
    let mut probes = Vec::new();
    for (number, share) in (0..).zip([0.5, 0.7, 0.8, 0.9, 0.95, 0.86]) {
        let rate = f64::round(share / DEMANDS[0]);
        let service = DEMANDS[1] + DEMANDS[0] / (1.0 - share);
        let response = service + DEMANDS[0] * share * share / (1.0 - share).powi(2);
        let load = OfferedLoad::Open {
            rate,
            arrivals: Arrivals::Poisson,
            connections: 50,
            deadline_ns: None,
        };
        points.push(point(&mut random, load, rate, (response, service)));
        probes.push(Probe {
            rate,
            point: number,
            met: (number != 5).then_some(share < 0.88),
        });
    }
    let mut run = run("capacity", "--slo p99<5ms", points);
    run.capacity = Some(Capacity {
        objectives: vec!["p99<5ms".to_owned()],
        rate: Some(Interval {
            low: 7_547.0,
            estimate: 8_113.0,
            high: 8_491.0,
        }),
        probes,
        stopped: "the interval is within 12 %".to_owned(),
    });
    run.verdict = Verdict::Missed;
    run.exit_code = 99;
    run
}

/// Two servers in five pairs, of which the second broke a promise once.
pub(crate) fn comparison() -> Run {
    let mut random = Random::new(5);
    let mut points = Vec::new();
    for repeat in 0..5 {
        for series in ["a", "b"] {
            points.push(Point {
                series: series.to_owned(),
                repeat,
                ..operating(&mut random, 1, 8)
            });
        }
    }
    let broken = &mut points[7];
    broken.proof[1].outcome = Outcome::Fails;
    broken.proof[1].violations =
        vec!["room 101 is sold to ada & <b>bob</b> on 2027-12-24".to_owned()];
    broken.verdict = Verdict::Violated;
    let mut run = run("compare", "old new --pairs 5", points);
    run.comparison = Some(Comparison {
        a: "old".to_owned(),
        b: "new".to_owned(),
        interleaved: true,
        margin: 0.02,
        pairs: (0..5).map(|pair| (2 * pair, 2 * pair + 1)).collect(),
        metrics: vec![
            metric("throughput", 1.003, 0.006, pairs::Verdict::Same),
            metric("response mean", 0.962, 0.008, pairs::Verdict::Lower),
            metric(
                "response p99",
                1.01,
                0.045,
                pairs::Verdict::CannotTell { more_pairs: 12 },
            ),
        ],
        shape: vec![Shape {
            quantile: 0.99,
            ratio: Interval::about(1.01, 0.045),
        }],
        apart: None,
    });
    run.verdict = Verdict::Violated;
    run.exit_code = 97;
    run
}

fn metric(name: &str, ratio: f64, half: f64, verdict: pairs::Verdict) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: "ns".to_owned(),
        better: Better::Lower,
        values: Vec::new(),
        ratio: Interval::about(ratio, half),
        chance: 0.02,
        chance_by_signs: None,
        chance_of_all: 0.06,
        verdict,
    }
}

/// A full processor, named and confirmed.
pub(crate) fn bottleneck() -> Run {
    let mut random = Random::new(6);
    let users = [2, 5, 10, 20, 40];
    let points = users.map(|users| operating(&mut random, 1, users));
    let mut run = run("bottleneck", "-c 40 --confirm", points.to_vec());
    let suspect = |resource: &str, used: f64, probability| Suspect {
        resource: resource.to_owned(),
        servers: 1.0,
        busy_ns: Interval::about(used * 106_000.0, 900.0),
        background: 0.0,
        used: Interval::about(used, 0.01),
        probability,
    };
    let stage = |name: &str, users| Stage {
        name: name.to_owned(),
        users,
    };
    let change = |changed: &str, resource: &str, factor: f64, elasticity: f64| Change {
        changed: changed.to_owned(),
        resources: vec![resource.to_owned()],
        factor: Some(factor),
        throughput: Interval::about(factor.powf(elasticity), 0.01),
        elasticity: Some(Interval::about(elasticity, 0.06)),
        pairs: vec![(4, 4)],
    };
    run.bottleneck = Some(Bottleneck {
        users: 40,
        named: "server cpu".to_owned(),
        probability: 0.99,
        why: "98 % of 1 are busy; of what more users could bring, the last of 40 brought 2 %"
            .to_owned(),
        cure: "less work for a request, or more processors for the server".to_owned(),
        suspects: vec![
            suspect("server cpu", 0.98, 0.99),
            suspect("log", 0.31, 0.0),
            suspect("generator thread", 0.12, 0.0),
        ],
        stages: vec![
            stage("generator", 0.4),
            stage("log", 3.1),
            stage("network and rest of the server", 36.5),
        ],
        changes: vec![
            change(
                "the server within a quota of 0.80 processors",
                "server cpu",
                0.8,
                0.94,
            ),
            change("80 users instead of 40", "users", 2.0, 0.01),
        ],
        confirmed: Some(true),
    });
    run
}

/// All of them, with names.
pub(crate) fn all() -> [(&'static str, Run); 6] {
    [
        ("single", single()),
        ("sweep", sweep()),
        ("cores", cores()),
        ("capacity", capacity()),
        ("comparison", comparison()),
        ("bottleneck", bottleneck()),
    ]
}
