//! Pages that stay open while the server decides 1,000 commands a second: their memory must not grow.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::{
    load::{SteadyLoad, connect},
    page::Page,
    world,
};
use crate::{
    ground::tell,
    ratio::{Bound, Ratio},
    section::{MeasuredRow, Section, SubjectMetric},
    server::Server,
};

/// Events a second of rooms, and as many of the exchange.
const EVENTS: u64 = 500;

/// How much more the last quarter may take than the second: the charts of the overview keep an hour.
const GROWTH: Bound = Bound::AtMost(1.25);

const MINUTE: Duration = Duration::from_secs(60);

/// The quarters by name; the first is that of warming up.
const QUARTERS: [&str; 4] = [
    "first quarter",
    "second quarter",
    "third quarter",
    "last quarter",
];

pub(super) fn measure(server: &Server, minutes: usize) -> Result<Section> {
    ensure!(minutes >= 4, "--minutes is at least 4: a quarter is one");
    let mut connection = connect(server.resp())?;
    let hotel = world::hotel(&mut connection, world::HOTEL, world::SEASON, 2)?;
    let market = world::market(&mut connection)?;
    let pages = [
        "overview?range=3600".to_owned(),
        format!(
            "rooms?property={}&from={}&nights=60",
            world::HOTEL,
            world::FROM
        ),
    ];
    let mut opened = Vec::new();
    for name in &pages {
        let mut page = Page::start(server.doors().http, [1_280, 800]);
        page.open(name)?;
        page.forget_requests();
        opened.push(page);
    }
    let load = SteadyLoad::start(
        server.resp(),
        vec![(EVENTS, Box::new(hotel)), (EVENTS, Box::new(market))],
    )?;
    let mut series: Vec<Vec<f64>> = vec![Vec::new(); 5];
    for minute in 1..=minutes {
        opened[0].wait(MINUTE);
        let mut seen = Vec::new();
        for page in &mut opened {
            page.until("document.body.innerText.includes('live')")?;
            seen.extend(page.memory()?);
        }
        seen.push(megabytes(server.resident_bytes()?)?);
        tell(&format!("minute {minute}: {seen:.2?}"))?;
        for (values, value) in series.iter_mut().zip(seen) {
            values.push(value);
        }
    }
    let sent = load.stop()?;
    let names = [
        "overview: heap, MiB",
        "overview: nodes",
        "rooms: heap, MiB",
        "rooms: nodes",
        "server: resident, MiB",
    ];
    let rows = names
        .into_iter()
        .zip(&series)
        .map(|(name, values)| MeasuredRow::new(name, quarters(values)));
    let setting = format!(
        "{minutes} minutes. The server decided {sent} commands, {EVENTS} a second of rooms and of the exchange \
         each, while two browsers showed overview and rooms. Once a minute the browser collects its garbage and \
         counts; a cell shows the median of a quarter of the minutes (lowest .. highest)"
    );
    let mut section = Section::new("An hour of events", setting, rows.collect());
    for (name, values) in names.into_iter().zip(&series).take(4) {
        section.claim_ratio(
            &format!("{name}, last quarter / second"),
            growth(values),
            GROWTH,
        );
    }
    Ok(section)
}

fn quarters(values: &[f64]) -> Vec<SubjectMetric> {
    let quarter = |number: usize| {
        let [from, to] = [number, number + 1].map(|place| values.len() * place / 4);
        values[from..to].to_vec()
    };
    let named = QUARTERS.into_iter().enumerate();
    named
        .map(|(number, name)| SubjectMetric::new(name, quarter(number)))
        .collect()
}

/// What the middle of the last quarter is to that of the second.
fn growth(values: &[f64]) -> Ratio {
    let quarters = MeasuredRow::new("", quarters(values));
    let median = |number: usize| Ratio::spread(quarters.values(QUARTERS[number])).median;
    Ratio::spread(&[median(3) / median(1)])
}

fn megabytes(bytes: u64) -> Result<f64> {
    Ok(f64::from(u32::try_from(bytes / 1_024)?) / 1_024.0)
}

#[cfg(test)]
mod tests {
    use super::growth;

    #[test]
    fn the_last_quarter_is_compared_with_the_second() {
        let values = [1.0, 90.0, 4.0, 6.0, 7.0, 2.0, 9.0, 11.0];
        assert_eq!(growth(&values).median, 2.0);
    }
}
