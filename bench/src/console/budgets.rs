//! What each page weighs, how fast it is there, and whether it stays responsive while its service is busy.

use std::time::Duration;

use anyhow::Result;

use super::{
    load::{CommandSource, MatchFlow, SteadyLoad, Trips, connect},
    page::Page,
    world,
};
use crate::{
    ground::tell,
    ratio::{Bound, Ratio},
    section::{MeasuredRow, Section, SubjectMetric},
    server::Server,
};

/// Updates a second of each service.
pub(super) const UPDATES: u64 = 100;

/// How much slower the core is while a page opens.
const SLOWER: u32 = 4;

/// Every page, with what it needs to show something.
pub(super) fn pages() -> [String; 9] {
    let (hotel, from) = (world::HOTEL, world::FROM);
    [
        "overview?range=60".to_owned(),
        format!("rooms?property={hotel}&from={from}&nights=60"),
        format!("exchange?symbol={}&account=north&span=1", world::SYMBOL),
        format!("seats?show={}", world::SHOW),
        "games".to_owned(),
        "travel".to_owned(),
        "access".to_owned(),
        "lab".to_owned(),
        "try".to_owned(),
    ]
}

const WEIGHT: &str = "weight, KiB";
const PAINT: &str = "first paint, ms";
const HEADING: &str = "heading, ms";
const OPENING: &str = "tasks > 50 ms as it opens";
const UPDATING: &str = "tasks > 50 ms as it updates";
const LONGEST: &str = "the longest of them, ms";
const NODES: &str = "nodes";

/// Everything that the page has loaded of the console itself, as it was sent: compressed.
const WEIGH: &str = "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')] \
    .filter(one => one.name.includes('/console/')) \
    .reduce((sum, one) => sum + one.encodedBodySize, 0) / 1024";

const FIRST_PAINT: &str =
    "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? window.shown";

/// Loads of all services, at so many commands a second each.
pub(super) fn busy(server: &Server, rate: u64) -> Result<SteadyLoad> {
    let mut connection = connect(server.resp())?;
    let hotel = world::hotel(&mut connection, world::HOTEL, world::SEASON, 2)?;
    let theatre = world::theatre(&mut connection)?;
    let market = world::market(&mut connection)?;
    let sources: [Box<dyn CommandSource>; 5] = [
        Box::new(hotel),
        Box::new(market),
        Box::new(theatre),
        Box::new(MatchFlow::new()),
        Box::new(Trips::default()),
    ];
    SteadyLoad::start(server.resp(), sources.map(|source| (rate, source)).into())
}

pub(super) fn measure(server: &Server, rounds: usize, watched: Duration) -> Result<Section> {
    let load = busy(server, UPDATES)?;
    let mut page = Page::start(server.doors().http, [1_280, 800]);
    let mut rows = Vec::new();
    for name in pages() {
        let mut all = Vec::new();
        for _ in 0..rounds {
            all.push(look(&mut page, &name, watched)?);
        }
        let names = [WEIGHT, PAINT, HEADING, OPENING, UPDATING, LONGEST, NODES];
        let figures = names.iter().enumerate().map(|(place, figure)| {
            SubjectMetric::new(*figure, all.iter().map(|one| one[place]).collect())
        });
        let title = name.split('?').next().unwrap_or(&name);
        let row = MeasuredRow::new(title, figures.collect());
        tell(&format!("{row:?}"))?;
        rows.push(row);
    }
    let setting = format!(
        "Each page opens {rounds} times in Chromium without a cache, on a core that is made {SLOWER} times \
         slower, in a window of 1,280 x 800; then it is watched for {} s at full speed while each service \
         decides {UPDATES} commands a second. The weight is that of the console's files as they are sent. \
         The browser reports tasks that take more than 50 ms",
        watched.as_secs()
    );
    let mut section = Section::new("Pages", setting, rows);
    load.stop()?;
    claim(&mut section);
    Ok(section)
}

/// One round, as the figures are named.
fn look(page: &mut Page, name: &str, watched: Duration) -> Result<[f64; 7]> {
    page.throttle(SLOWER);
    page.open(name)?;
    page.wait(Duration::from_secs(1));
    let weight = page.number(WEIGH)?;
    let paint = page.number(FIRST_PAINT)?;
    let heading = page.number("window.shown")?;
    page.throttle(1);
    page.wait(Duration::from_secs(1));
    let opening = page.long_tasks()?;
    page.wait(watched);
    let updating = page.long_tasks()?;
    let [_, nodes] = page.memory()?;
    Ok([
        weight,
        paint,
        heading,
        count(&opening),
        count(&updating),
        longest(&updating),
        nodes,
    ])
}

#[expect(clippy::cast_precision_loss, reason = "there are few")]
pub(super) fn count(tasks: &[f64]) -> f64 {
    tasks.len() as f64
}

pub(super) fn longest(tasks: &[f64]) -> f64 {
    tasks.iter().copied().fold(0.0, f64::max)
}

/// Judges the page that is worst.
fn claim(section: &mut Section) {
    let bounds = [
        ("weight of the heaviest page, KiB", WEIGHT, 200.0),
        ("first paint of the slowest page, ms", PAINT, 1_000.0),
        ("tasks > 50 ms of the busiest page", UPDATING, 0.0),
    ];
    for (target, figure, most) in bounds {
        let spreads = section
            .subjects
            .iter()
            .map(|row| Ratio::spread(row.values(figure)));
        let worst = spreads.max_by(|one, other| one.median.total_cmp(&other.median));
        let worst = worst.expect("there are pages");
        section.claim_ratio(target, worst, Bound::AtMost(most));
    }
}
