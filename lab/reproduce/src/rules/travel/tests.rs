//! Columns with known truth, and what becomes of each claim.

use super::*;
use crate::{
    Storage,
    rules::bookings::tests::{check, column},
};

/// Three runs' response times of start, query, reserve, commit and the whole, in milliseconds.
fn parts(series: &str, times: [f64; 5]) -> SeriesColumn {
    let mut found = column(Storage::Embedded, &[]);
    for (x, time) in (1_u32..).zip(times) {
        for run in [0.99, 1.0, 1.01] {
            let mut one = column(Storage::Embedded, &[(series, &[(f64::from(x), 1.0)])]);
            one.figures[0].response = time / 1e3 * run;
            found.figures.append(&mut one.figures);
        }
    }
    found
}

fn both_ways(name: &str, several: [f64; 5]) -> SeriesColumn {
    let mut both = parts(ONE, [0.3, 0.5, 0.6, 0.6, 5.0]);
    name.clone_into(&mut both.name);
    both.figures.extend(parts(SEVERAL, several).figures);
    both
}

#[test]
fn managers_in_processes_of_their_own_are_compared_with_one() {
    let together = both_ways("one process", [0.3, 0.5, 0.4, 0.55, 4.9]);
    let apart = both_ways("five processes", [0.3, 0.9, 1.1, 2.4, 9.5]);
    check(
        &ops(&[together.clone(), apart.clone()]),
        &[
            (Fate::Confirmed, "5.008 of 5.02 ms"),
            (Fate::Confirmed, "in one process, 1.90"),
            (Fate::Confirmed, "in five processes: start 1.00"),
            (Fate::Confirmed, "with several"),
            (Fate::NotTestable, "not testable here, because"),
        ],
    );
    // Where five processes were not measured with one manager, they say nothing.
    let mut only_several = parts(SEVERAL, [3.0, 9.0, 11.0, 24.0, 95.0]);
    "five processes".clone_into(&mut only_several.name);
    check(
        &ops(&[together, only_several])[1..4],
        &[
            (Fate::Refuted, "0.98"),
            (Fate::Refuted, "in one process: start 1.00"),
            (Fate::Refuted, "in one process it takes 100.00"),
        ],
    );
    check(
        &ops(&[parts(ONE, [0.3, 0.5, 0.6, 0.6, 5.0])])[1..2],
        &[(Fate::NotTestable, "several managers were not measured")],
    );
    let mut two_runs = apart;
    let place = two_runs
        .figures
        .iter()
        .position(|one| one.series == SEVERAL);
    for figure in &mut two_runs.figures[place.unwrap()..] {
        figure.is_usable = figure.response < 1e-9;
    }
    let few = (
        Fate::NotTestable,
        "five processes, several managers: too few valid points: 0",
    );
    check(&ops(&[two_runs])[1..4], &[few; 3]);
}

const CLIENTS: [u32; 4] = [2, 4, 6, 8];

/// Each number of clients at some rates: the response there, in milliseconds, and what is carried.
fn rates(response: fn(f64, f64) -> f64, carried: fn(f64) -> f64) -> SeriesColumn {
    let mut found = column(Storage::Embedded, &[]);
    for clients in CLIENTS {
        let name = format!("{clients} clients");
        for rate in [50.0, 100.0, 1_000.0, 2_000.0, 4_000.0, CLOSED] {
            let throughput = if rate > CLOSED {
                carried(rate)
            } else {
                1_000.0
            };
            let mut one = column(Storage::Embedded, &[(&name, &[(rate, throughput)])]);
            let time = response(f64::from(clients), rate) / 1e3;
            let figure = &mut one.figures[0];
            (figure.response, figure.response_range) = (time, Some((time * 0.98, time * 1.02)));
            figure.slots = vec![time, time, time, time * 3.0, time];
            found.figures.append(&mut one.figures);
        }
    }
    found
}

/// As theirs: 5 ms, twice that at 1,000 a second, then in proportion to the clients.
fn theirs_at(clients: f64, rate: f64) -> f64 {
    if rate > CLOSED && rate <= 100.0 {
        5.0
    } else if rate > CLOSED {
        10.0
    } else {
        4.0 * clients
    }
}

#[test]
fn a_server_that_is_saturated_as_theirs_confirms_what_they_say() {
    let mut found = rates(theirs_at, |rate| rate.min(1_000.0));
    // Less than was due is answered: that is no reason to leave these out.
    for figure in &mut found.figures {
        let is_beyond = figure.x > 1_000.0;
        (figure.is_usable, figure.is_behind) = (!is_beyond, is_beyond);
    }
    check(
        &rate(&[found]),
        &[
            (Fate::Confirmed, "at 100 a second 5.00ms"),
            (Fate::Confirmed, "it is 2.00"),
            (
                Fate::Confirmed,
                "of 8 valid points above it 0 carry what is offered",
            ),
            (Fate::Confirmed, "with the power 1.00"),
            (Fate::Confirmed, "it increases 1.60"),
            (Fate::Confirmed, "3.0 times with 2 clients"),
        ],
    );
}

#[test]
fn a_fast_server_refutes_it() {
    let mut found = rates(
        |clients, rate| {
            if rate > CLOSED {
                0.2 + clients / 10.0
            } else {
                1.0
            }
        },
        |rate| rate,
    );
    for figure in &mut found.figures {
        figure.slots = vec![1.0; 5];
        figure.throughput_range = Some((figure.throughput * 0.99, figure.throughput * 1.01));
    }
    check(
        &rate(&[found]),
        &[
            (Fate::Refuted, "at 100 a second 400us"),
            (Fate::Refuted, "it is 1.00"),
            (
                Fate::Refuted,
                "8 carry what is offered: 8 clients carry 4 000/s of 4000 offered",
            ),
            (Fate::Refuted, "with the power 0.00"),
            (Fate::Refuted, "it increases 2.50"),
            (Fate::Refuted, "1.0 times with 2 clients"),
        ],
    );
}

#[test]
fn two_numbers_of_clients_are_too_few() {
    let mut found = rates(theirs_at, |rate| rate);
    for figure in &mut found.figures {
        figure.is_usable = clients(&figure.series) < 6.0 && figure.x <= 1_000.0;
    }
    let few = (Fate::NotTestable, "too few valid points");
    check(&rate(&[found]), &[few; 6]);
}
