//! A run with every field set.

use std::collections::BTreeMap;

use turnstile_result::{
    Arrivals, Asked, Better, Bins, Bottleneck, Capacity, Change, Checked, Comparison, Curve,
    Distribution, Machine, Metric, Objective, OfferedLoad, Operation, OtherRules, Outcome, Point,
    Pressure, Probe, Process, ResourceDemand, Resources, Rule, Run, SCHEMA, Server, Shape, Split,
    Stage, Stall, Stands, Station, Steady, Suspect, Sweep, Target, Times, Usl, Validity, Verdict,
    Whole,
};
use turnstile_stats::{
    Histogram, Interval,
    distance::{Distance, PairedEffect},
    fit::AndersonDarling,
    operational::{Check, Law},
    pairs,
};

pub(crate) fn run() -> Run {
    Run {
        schema: SCHEMA,
        lab: "0.1.0".to_owned(),
        began: "2026-01-31T12:00:00Z".to_owned(),
        took_s: 31.25,
        asked: asked(),
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
        points: loads().into_iter().map(point).collect(),
        sweep: Some(sweep()),
        capacity: Some(capacity()),
        comparison: Some(comparison()),
        bottleneck: Some(bottleneck()),
        objectives: vec![Objective {
            asked: "p99<50ms".to_owned(),
            point: 0,
            outcome: Outcome::Holds,
            found: "p99 1.02ms".to_owned(),
        }],
        verdict: Verdict::Fine,
        exit_code: 0,
    }
}

fn asked() -> Asked {
    let line = ["turnstile", "lab", "run", "rooms", "-c", "8"];
    let setting = ("mix".to_owned(), "book=70,cancel=30".to_owned());
    Asked {
        command: "run".to_owned(),
        line: line.map(str::to_owned).to_vec(),
        workload: "rooms".to_owned(),
        settings: BTreeMap::from([setting]),
        target: Target {
            address: "127.0.0.1:8479".to_owned(),
            own: true,
            tls: true,
            authenticated: true,
        },
        seed: 1,
        threads: 1,
        precision: Some(0.01),
        point_s_max: 300.0,
        pinned: BTreeMap::from([("server".to_owned(), vec![0])]),
    }
}

/// Every kind of load and of arrivals.
fn loads() -> Vec<OfferedLoad> {
    let laws = [
        Arrivals::Fixed,
        Arrivals::Poisson,
        Arrivals::Jitter { share: 0.01 },
        Arrivals::Burst { size: 10 },
        Arrivals::Trace {
            file: "trace.csv".to_owned(),
        },
    ];
    let open = laws.into_iter().map(|arrivals| OfferedLoad::Open {
        rate: 1_000.0,
        arrivals,
        connections: 50,
        deadline_ns: Some(1_000_000_000),
    });
    let closed = OfferedLoad::Closed {
        users: 8,
        pipeline: 1,
        think_ns: Some(1e6),
    };
    let count = OfferedLoad::Count {
        users: 8,
        requests: 1_000,
    };
    [closed, count].into_iter().chain(open).collect()
}

fn distribution() -> Distribution {
    let mut histogram = Histogram::new();
    for step in 1..=40 {
        histogram.record(step * 1_000);
    }
    Distribution::of(&histogram)
}

fn point(load: OfferedLoad) -> Point {
    Point {
        series: "rooms".to_owned(),
        repeat: 0,
        load,
        cores: Some(1),
        quota: Some(0.5),
        began_s: 0.0,
        warm_up_s: 1.5,
        window_s: 18.5,
        throughput: 9_410.1,
        throughput_interval: Some(Interval::about(9_410.1, 70.3)),
        response_interval: Some(Interval::about(850_000.0, 6_000.0)),
        p99_interval: Some(Interval::about(1_020_000.0, 9_000.0)),
        steady: Steady {
            steady: true,
            from_bin: 15,
            why: "steady after 1.5 s".to_owned(),
        },
        times: Times {
            response: distribution(),
            service: distribution(),
            lag: distribution(),
            wait: distribution(),
        },
        split: Split {
            backlog_ns: 0.0,
            lag_ns: 31.4,
            sending_ns: 2_500.0,
            answering_ns: 840_000.5,
            reading_ns: 120.0,
        },
        operations: vec![operation()],
        wholes: vec![whole()],
        bins: Bins {
            width_ns: 100_000_000,
            answered: vec![900, 940, 941],
            response_ns: vec![880_000, 851_000, 850_000],
            failed: vec![0, 0, 1],
        },
        connections_lost: 1,
        connects_failed: 2,
        reconnects: 0,
        planned: Some(174_000),
        arrivals: Some(AndersonDarling {
            samples: 500,
            statistic: 1.5,
            chance: 0.25,
        }),
        censored: Some(distribution()),
        resources: resources(),
        laws: vec![Check::equal(Law::Little, 8.0, 7.99, 0.0)],
        validity: vec![Validity {
            check: "generator_lag".to_owned(),
            outcome: Outcome::Fails,
            found: "p99 of 900us, the limit is 200us".to_owned(),
            cure: Some("give the generator a processor of its own: --pin gen=1".to_owned()),
        }],
        proof: vec![Rule {
            rule: "every booking that was acknowledged stands".to_owned(),
            outcome: Outcome::Fails,
            violations: vec!["R0 is not there".to_owned()],
            found: vec!["1 000 sold, 0 cancelled".to_owned()],
        }],
        check: Some(checked()),
        verdict: Verdict::Invalid,
    }
}

fn checked() -> Checked {
    Checked {
        replayed: 1_000,
        readings: 0,
        unknown: 0,
        checking_ns: 450.5,
        keeping_ns: 0.0,
        kept_bytes: 0,
    }
}

fn words(word: &str, count: u64) -> BTreeMap<String, u64> {
    BTreeMap::from([(word.to_owned(), count)])
}

fn operation() -> Operation {
    Operation {
        name: "book".to_owned(),
        done: 1_000,
        refused: words("sold_out", 70),
        errors: words("BUSY", 3),
        unknown: 1,
        late: 2,
        response: distribution(),
    }
}

fn whole() -> Whole {
    Whole {
        name: "journey".to_owned(),
        done: 100,
        refused: words("deadlock", 7),
        errors: words("ERR", 1),
        late: 2,
        response: distribution(),
        service: distribution(),
    }
}

fn resources() -> Resources {
    let stall = Stall {
        some: 0.02,
        full: 0.0,
    };
    Resources {
        processes: vec![Process {
            role: "server".to_owned(),
            pid: 4_711,
            threads: 3,
            user: 0.5,
            system: 0.25,
            run_delay: Some(0.001),
            memory_bytes: 64 << 20,
            disk_written: Some(1_048_576.0),
            disk_read: Some(0.0),
            busy: vec![0.5, 0.75],
            cpu_per_answer_ns: 79_702.0,
        }],
        pressure: Some(Pressure {
            cpu: stall,
            memory: stall,
            io: stall,
        }),
        steal: Some(0.01),
        busy: Some(0.6),
        others: Some(0.25),
        network_bytes: Some(2_000_000.0),
        disk_busy: Some(0.9),
        stations: vec![Station {
            resource: "server cpu".to_owned(),
            servers: 0.5,
            busy: 0.75,
            bins: vec![0.5, 0.75],
        }],
        stands: Some(Stands {
            looks: 40,
            running: 0.75,
            lock: 1.0,
            disk: 0.25,
            asleep: 0.5,
            elsewhere: 0.5,
        }),
    }
}

fn sweep() -> Sweep {
    let usl = Usl {
        rate: Interval::about(4_300.0, 20.0),
        sigma: Interval::about(0.46, 0.01),
        kappa: Interval::about(0.001, 0.000_2),
        peak: Some(23.2),
    };
    Sweep {
        axis: "users".to_owned(),
        curves: vec![Curve {
            cores: Some(1),
            quota: Some(0.5),
            points: vec![0],
            stopped: "twice the users brought surely less than 5 % more".to_owned(),
            capacity: Some(Interval::about(9_430.0, 75.0)),
            lone_ns: Some(Interval::about(233_000.0, 1_400.0)),
            knee: Some(Interval::about(2.2, 0.2)),
            demands: vec![ResourceDemand {
                resource: "server cpu".to_owned(),
                busy_ns: Interval::about(106_000.0, 900.0),
                servers: 0.5,
                capacity: Some(Interval::about(9_433.0, 80.0)),
            }],
            other_rules: OtherRules {
                two_segments: Some(2.3),
                kneedle: Some(8.0),
                share_of_most: Some(8.0),
            },
            usl: Some(usl),
        }],
        scaling: Some(usl),
    }
}

fn bottleneck() -> Bottleneck {
    Bottleneck {
        users: 40,
        named: "server cpu".to_owned(),
        probability: 0.99,
        why: "98 % of 0.5 processors".to_owned(),
        cure: "more processors".to_owned(),
        suspects: vec![Suspect {
            resource: "server cpu".to_owned(),
            servers: 0.5,
            busy_ns: Interval::about(106_000.0, 900.0),
            background: 0.01,
            used: Interval::about(0.98, 0.01),
            probability: 0.99,
        }],
        stages: vec![Stage {
            name: "log".to_owned(),
            users: 12.5,
        }],
        changes: vec![Change {
            changed: "quota of 0.4 processors".to_owned(),
            resources: vec!["server cpu".to_owned()],
            factor: Some(0.8),
            throughput: Interval::about(0.81, 0.01),
            elasticity: Some(Interval::about(0.94, 0.05)),
            pairs: vec![(0, 1)],
        }],
        confirmed: Some(true),
    }
}

fn capacity() -> Capacity {
    Capacity {
        objectives: vec!["p99<20ms".to_owned()],
        rate: Some(Interval::about(8_100.0, 100.0)),
        probes: vec![Probe {
            rate: 8_000.0,
            point: 0,
            met: Some(true),
        }],
        stopped: "the interval is within 3 %".to_owned(),
    }
}

fn comparison() -> Comparison {
    Comparison {
        a: "old".to_owned(),
        b: "new".to_owned(),
        interleaved: true,
        margin: 0.02,
        pairs: vec![(0, 1)],
        metrics: vec![Metric {
            name: "throughput".to_owned(),
            unit: "1/s".to_owned(),
            better: Better::Higher,
            values: vec![(9_400.0, 9_500.0)],
            ratio: Interval::about(1.01, 0.02),
            chance: 0.2,
            chance_by_signs: Some(0.25),
            chance_of_all: 0.4,
            verdict: pairs::Verdict::CannotTell { more_pairs: 3 },
        }],
        shape: vec![Shape {
            quantile: 0.99,
            ratio: Interval::about(1.0, 0.1),
        }],
        apart: Some(PairedEffect {
            distance: Distance {
                share: 0.125,
                at_ns: 1_023_999,
            },
            chance: Some(0.25),
        }),
    }
}
