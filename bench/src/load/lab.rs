//! The lab as a load: `lab rooms -c 50` is `turnstile lab run rooms -c 50` on the generator's core.

use std::{fs, process::Stdio};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;
use turnstile_result::{Operation, Outcome, Point, Rule, Run, Validity, Verdict};
use turnstile_stats::units::to_float;

use super::{CLIENT_US, COUNT, DATABASE_US, Measures, RATE, REFUSED_PERCENT, SERVER_US, Target};
use crate::{pin, program, server::Protection};

/// What the lab may end with: [`measures`] looks at why a point is invalid.
pub(crate) const EXIT_CODES: [u8; 3] = [
    Verdict::Fine.exit_code(),
    Verdict::Unsteady.exit_code(),
    Verdict::Invalid.exit_code(),
];

/// Checks of the lab that may fail: the generator has one core, and fills it.
const OF_GENERATOR: [&str; 4] = ["generator_busy", "generator_lag", "run_delay", "steal"];

pub(super) fn drive(words: &[&str], target: Target<'_>) -> Result<Measures> {
    let Protection { key_file, ca } = target.protection;
    ensure!(
        key_file.is_none() && ca.is_none(),
        "measure servers with keys or TLS by redis-benchmark"
    );
    let (&what, words) = words.split_first().context("lab, and a workload")?;
    let folder = TempDir::new()?;
    let mut lab = pin::command(target.core, target.turnstile);
    lab.args(["lab", "run"]);
    let doors = target.doors;
    let has = |option: &str, value: &str| words.windows(2).any(|pair| pair == [option, value]);
    let named = match what {
        "rooms" => vec![("--resp", doors.resp)],
        "exchange" if has("--door", "xml") => vec![("--resp", doors.resp), ("--xml", doors.xml)],
        "exchange" => vec![("--resp", doors.resp)],
        "travel" => vec![("--travel", doors.lines), ("--resp", doors.resp)],
        "games" if has("--door", "resp") => vec![("--resp", doors.resp)],
        "games" => vec![("--games-arena", doors.arena)],
        "resp" => Vec::new(),
        other => anyhow::bail!("the lab has no workload `{other}`"),
    };
    if what == "resp" {
        lab.arg(format!("resp://{}", doors.resp));
    } else {
        lab.arg(what);
    }
    for (option, address) in named {
        lab.args([option, &address.to_string()]);
    }
    lab.args(["-t", "1", "-q", "-o"])
        .arg(folder.path())
        .args(words);
    let child = program::spawn(lab.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    program::finish(child, &lab, &EXIT_CODES)?;
    let file = folder.path().join("run.json");
    let run = fs::read(&file).with_context(|| format!("{lab:?} wrote no result"))?;
    let run = Run::read(&run)?;
    let point = run.points.last().context("the lab measured no point")?;
    let mut measures = measures(point)?;
    if what == "resp" {
        // The lab does not know what a reply of a server of others means.
        measures.remove(REFUSED_PERCENT);
    }
    Ok(measures)
}

/// What a point says: `mean ms` and `p50 us` of the response, `NAME us` for the median of an operation,
/// and CPU times for each answer or, where several requests make a whole, for each whole.
pub(crate) fn measures(point: &Point) -> Result<Measures> {
    ensure_sound(point)?;
    let mut measures = Measures::new();
    let mut add = |name: &str, value: f64| measures.insert(name.to_owned(), value);
    add(RATE, point.throughput);
    let response = &point.times.response;
    add("mean ms", response.mean_ns / 1e6);
    if let Some(p50) = response.at(0.5) {
        add("p50 us", to_float(p50) / 1e3);
    }
    for Operation { name, response, .. } in &point.operations {
        if let Some(p50) = response.at(0.5) {
            add(&format!("{name} us"), to_float(p50) / 1e3);
        }
    }
    for process in &point.resources.processes {
        let name = match process.role.as_str() {
            "server" => SERVER_US,
            "generator" => CLIENT_US,
            "database" => DATABASE_US,
            _ => continue,
        };
        add(name, process.cpu_per_answer_ns / 1e3);
    }
    let asked = point.operations.iter();
    let asked = asked.map(|one| (one.done, one.refused.values().sum::<u64>()));
    let (done, refused) = asked.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    ensure!(done > 0, "no request was done");
    add(
        REFUSED_PERCENT,
        100.0 * to_float(refused) / to_float(done + refused),
    );
    add(COUNT, to_float(done + refused));
    if let Some(whole) = point.wholes.first() {
        let no = whole
            .refused
            .values()
            .chain(whole.errors.values())
            .sum::<u64>();
        ensure!(whole.done > 0, "no {} was done", whole.name);
        add(
            "aborted %",
            100.0 * to_float(no) / to_float(whole.done + no),
        );
        add(COUNT, to_float(whole.done));
    }
    Ok(measures)
}

/// Refuses a point whose server was not measured as a server that works.
fn ensure_sound(point: &Point) -> Result<()> {
    for rule in &point.proof {
        let Rule { rule, outcome, .. } = rule;
        ensure!(*outcome == Outcome::Holds, "{rule}: {outcome:?}");
    }
    let failed = point.validity.iter();
    let failed: Vec<&Validity> = failed.filter(|one| one.outcome == Outcome::Fails).collect();
    // Of a generator that others keep from its core, part of the users' time is not measured.
    let is_starved = failed
        .iter()
        .any(|one| ["run_delay", "steal"].contains(&one.check.as_str()));
    for Validity { check, found, .. } in failed {
        let may_fail = OF_GENERATOR.contains(&check.as_str()) || check == "little" && is_starved;
        ensure!(may_fail, "{check}: {found}");
    }
    let of_all = |count: fn(&Operation) -> u64| point.operations.iter().map(count).sum::<u64>();
    let errors = of_all(|one| one.errors.values().sum());
    ensure!(errors == 0, "{errors} requests were answered by an error");
    let unknown = of_all(|one| one.unknown);
    ensure!(unknown == 0, "{unknown} requests were not answered");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use turnstile_result::{Operation, Outcome, Point, Process, Rule, Validity, Whole};

    use super::{OF_GENERATOR, measures};

    fn point() -> Point {
        let mut point = Point::blank("rooms");
        point.throughput = 5.0;
        point.times.response.mean_ns = 2e6;
        point.operations.push(Operation {
            name: "book".to_owned(),
            done: 30,
            refused: BTreeMap::from([("sold_out".to_owned(), 10)]),
            errors: BTreeMap::new(),
            unknown: 0,
            late: 0,
            response: turnstile_result::Distribution::default(),
        });
        point.resources.processes.push(Process {
            role: "server".to_owned(),
            cpu_per_answer_ns: 1_500.0,
            ..Process::default()
        });
        point
    }

    #[test]
    fn a_point_is_read_by_the_names_of_its_figures() {
        let mut point = point();
        let said = |point: &Point| {
            let all = measures(point).unwrap();
            let all: Vec<(String, f64)> = all.into_iter().collect();
            all
        };
        let expect = |rows: &[(&str, f64)]| -> Vec<(String, f64)> {
            rows.iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect()
        };
        let plain = [
            ("count", 40.0),
            ("mean ms", 2.0),
            ("rate", 5.0),
            ("refused %", 25.0),
            ("server us", 1.5),
        ];
        assert_eq!(said(&point), expect(&plain));
        point.wholes.push(Whole {
            name: "transaction".to_owned(),
            done: 6,
            refused: BTreeMap::from([("deadlock".to_owned(), 2)]),
            errors: BTreeMap::new(),
            late: 0,
            response: turnstile_result::Distribution::default(),
            service: turnstile_result::Distribution::default(),
        });
        let wholes = [("aborted %", 25.0), ("count", 6.0)];
        assert_eq!(said(&point), expect(&[&wholes, &plain[1..]].concat()));
    }

    #[test]
    fn a_point_counts_only_where_all_but_the_generator_is_sound() {
        let told = |spoil: &dyn Fn(&mut Point)| {
            let mut point = point();
            spoil(&mut point);
            measures(&point).map_or_else(|error| error.to_string(), |_| "fine".to_owned())
        };
        let check = |names: &[&str], outcome| {
            let checks = names.iter().map(|name| Validity {
                check: (*name).to_owned(),
                outcome,
                found: "what was found".to_owned(),
                cure: None,
            });
            told(&|point| point.validity = checks.clone().collect())
        };
        assert_eq!(check(&["connections"], Outcome::Holds), "fine");
        assert_eq!(check(&OF_GENERATOR, Outcome::Fails), "fine");
        assert_eq!(check(&["little", "run_delay"], Outcome::Fails), "fine");
        let of_server = "little: what was found";
        assert_eq!(
            check(&["little", "generator_busy"], Outcome::Fails),
            of_server
        );
        let of_server = "connections: what was found";
        assert_eq!(
            check(&["run_delay", "connections"], Outcome::Fails),
            of_server
        );
        let proof = |outcome| {
            let rule = Rule {
                rule: "sold once".to_owned(),
                outcome,
                violations: Vec::new(),
                found: Vec::new(),
            };
            told(&|point| point.proof = vec![rule.clone()])
        };
        assert_eq!(proof(Outcome::Holds), "fine");
        assert_eq!(proof(Outcome::NotTestable), "sold once: NotTestable");
        let unknown = told(&|point| point.operations[0].unknown = 2);
        assert_eq!(unknown, "2 requests were not answered");
    }

    #[test]
    fn answers_by_errors_are_no_measurement() {
        let mut point = point();
        point.operations[0].errors = BTreeMap::from([("ERR".to_owned(), 1)]);
        assert!(measures(&point).is_err());
        assert!(measures(&Point::blank("rooms")).is_err());
    }
}
