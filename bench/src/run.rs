//! Runs a section of a scenario: every subject in each round, in rotated order, each on a new server.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::{
    database::{Empty, Home, OwnServers},
    ground::{Ground, tell},
    load::{self, COUNT, DATABASE_US, Measures, REFUSED_PERCENT, SERVER_US, Target, fill, trips},
    pin::{CLIENT_CORE, SERVER_CORE},
    probe::{MachineProbe, syncs_at_once_us},
    ratio::Ratio,
    scenario::{Core, Floor, Part, Row},
    section::{MeasuredRow, Section, SubjectMetric},
    server::{DoorAddresses, MessageRelay, Protection, Server},
};

/// Customers, flights, cars and rooms that trips are booked of, under the names that scenarios use.
const TRIPS: [&str; 6] = [
    "1 TRAVEL.START",
    "1024 TRAVEL.ADD-CUSTOMER __id__ CUSTOMER 9000__n__",
    "1024 TRAVEL.ADD-ITEM __id__ flight-9000__n__ 100000000 100",
    "1024 TRAVEL.ADD-ITEM __id__ car-L__n__ 100000000 50",
    "1024 TRAVEL.ADD-ITEM __id__ room-L__n__ 100000000 80",
    "1 TRAVEL.COMMIT __id__",
];

/// The largest share of refused requests that counts as none: where rooms are drawn, some are drawn again.
const REFUSED_PERCENT_MAX: f64 = 2.0;

/// Measures a section.
pub(crate) fn measure(ground: &Ground, part: &Part) -> Result<Section> {
    let rounds = if ground.quick {
        part.rounds.div_ceil(2)
    } else {
        part.rounds
    };
    let mut section = Section::between_probes(ground, part.title.as_str(), || {
        let mut stage = Stage::new(ground, part);
        for round in 0..rounds {
            stage.round(round)?;
        }
        let mut setting = part.setting.replace("{rounds}", &rounds.to_string());
        if !stage.durabilities.is_empty() {
            let said: Vec<String> = stage.durabilities.into_iter().collect();
            setting = format!("{setting}. As each says of itself: {}", said.join("; "));
        }
        let subjects = part.subjects.iter().zip(stage.figures);
        let subjects = subjects.map(|(row, figures)| subject(part, row, figures));
        Ok((setting, subjects.collect()))
    })?;
    for aim in &part.claims {
        let mut ours = Vec::new();
        for key in &aim.of {
            ours.extend_from_slice(section.subjects[part.place(key)?].values(&aim.figure));
        }
        let peers = match aim.per.parse() {
            Ok(number) => vec![number; ours.len()],
            Err(_key) => section.subjects[part.place(&aim.per)?]
                .values(&aim.figure)
                .to_vec(),
        };
        let ratio = Ratio::of(&ours, &peers);
        section.claim_ratio(&aim.target, ratio, aim.bound()?);
    }
    Ok(section)
}

fn subject(part: &Part, row: &Row, mut figures: BTreeMap<&str, Vec<f64>>) -> MeasuredRow {
    let labels = part.figures.iter().map(|column| column.label.as_str());
    let figures = labels.map(|label| {
        let values = figures.remove(label).unwrap_or_default();
        SubjectMetric::new(label, values)
    });
    MeasuredRow::new(row.name.as_str(), figures.collect())
}

/// What a section needs while it runs, and what it has measured.
struct Stage<'a> {
    ground: &'a Ground,
    part: &'a Part,
    databases: OwnServers,
    /// For each subject, each figure round by round.
    figures: Vec<BTreeMap<&'a str, Vec<f64>>>,
    /// What each back end says of its durability.
    durabilities: BTreeSet<String>,
}

impl<'a> Stage<'a> {
    fn new(ground: &'a Ground, part: &'a Part) -> Self {
        Self {
            ground,
            part,
            databases: OwnServers::default(),
            figures: vec![BTreeMap::new(); part.subjects.len()],
            durabilities: BTreeSet::new(),
        }
    }

    fn round(&mut self, round: usize) -> Result<()> {
        let part = self.part;
        let has_floor = part.subjects.iter().any(|row| !row.floor.is_empty());
        let mut probes = Vec::new();
        let count = part.subjects.len();
        for turn in 0..count {
            let at = (turn + round) % count;
            let row = &part.subjects[at];
            if !row.floor.is_empty() {
                continue;
            }
            if has_floor {
                probes.push(Bare::probe(self.ground)?);
            }
            let measures = self.sample(row).with_context(|| row.name.clone())?;
            let shown: Vec<String> = measures
                .iter()
                .map(|(name, value)| format!("{name} {value:.2}"))
                .collect();
            tell(&format!(
                "{}: {}: {}",
                part.title,
                row.name,
                shown.join(", ")
            ))?;
            for column in &part.figures {
                if column.measure == REFUSED_PERCENT && !measures.contains_key(REFUSED_PERCENT) {
                    continue;
                }
                let value = value(&measures, &column.measure)?;
                let values = self.figures[at].entry(&column.label).or_default();
                values.push(value * column.factor);
            }
        }
        if has_floor {
            probes.push(Bare::probe(self.ground)?);
            let bare = Bare::mean(&probes);
            for (at, row) in part.subjects.iter().enumerate() {
                for floor in &row.floor {
                    let us = bare.needs(floor, row.core, self.ground)?;
                    self.figures[at].entry(&floor.figure).or_default().push(us);
                }
            }
        }
        Ok(())
    }

    /// One sample of a subject, on a new server.
    fn sample(&mut self, row: &Row) -> Result<Measures> {
        match row.server.as_str() {
            "" => load::drive(&row.load, self.target(row, None, None)),
            "postgres" => {
                let empty = self.databases.empty(Home::Postgres, self.ground)?;
                let empty = empty.context("PostgreSQL has databases")?;
                trips::prepare(empty.postgres()?, empty.name());
                load::drive(&row.load, self.target(row, None, Some(empty.url())))
            }
            "relay" => {
                let relay = MessageRelay::start()?;
                let doors = DoorAddresses::at(relay.address);
                let mut measures = load::drive(&row.load, self.target(row, Some(doors), None))?;
                let us = relay.end()?.as_secs_f64() * 1e6;
                measures.insert(SERVER_US.to_owned(), us / value(&measures, COUNT)?);
                Ok(measures)
            }
            kind => {
                let kind = kind.parse().map_err(|error: String| anyhow!(error))?;
                let (mut more, mut empty) = (words(&row.arguments), None);
                if let Some(backend) = &row.backend {
                    let home = backend
                        .home
                        .parse()
                        .map_err(|error: String| anyhow!(error))?;
                    empty = self.databases.empty(home, self.ground)?;
                    let url = empty.as_ref().map(|empty| empty.url().to_owned());
                    more.extend(
                        url.into_iter()
                            .flat_map(|url| [format!("--{}-backend", backend.service), url]),
                    );
                }
                let server = self.ground.start_with(kind, &more)?;
                prepare(&server, &self.part.prepare)?;
                prepare(&server, &row.prepare)?;
                let loaded = Reading::of(&server, row, empty.as_ref())?;
                let target = Target {
                    protection: server.protection(),
                    ..self.target(row, Some(server.doors()), None)
                };
                let measures = load::drive(&row.load, target);
                let mut measures =
                    measures.with_context(|| server.last_words().unwrap_or_default())?;
                loaded.add(&server, (row, empty.as_ref()), &mut measures)?;
                if let Some(backend) = &row.backend {
                    let said = durability(&server, &backend.service, empty.is_some())?;
                    self.durabilities
                        .insert(format!("{}: {said}", backend.home));
                }
                Ok(measures)
            }
        }
    }

    fn target<'b>(
        &'b self,
        row: &Row,
        doors: Option<DoorAddresses>,
        database: Option<&'b str>,
    ) -> Target<'b> {
        let nowhere = DoorAddresses::at(([127, 0, 0, 1], 0).into());
        Target {
            doors: doors.unwrap_or(nowhere),
            protection: &Protection::NONE,
            database,
            turnstile: &self.ground.turnstile,
            core: match row.core {
                Core::Client => CLIENT_CORE,
                Core::Server => SERVER_CORE,
            },
        }
    }
}

/// What a server and its database have used and done until some instant.
struct Reading {
    cpu_us: f64,
    database_us: f64,
    groups: u64,
    batches: u64,
    accepted: Option<u64>,
}

impl Reading {
    fn of(server: &Server, row: &Row, database: Option<&Empty<'_>>) -> Result<Self> {
        let us = |time: std::time::Duration| time.as_secs_f64() * 1e6;
        let groups = if server.is_ours() {
            server.groups()?
        } else {
            0
        };
        let batches = match (&row.backend, database) {
            (Some(backend), Some(_)) => {
                server.count(&format!("{}_backend_batches", backend.service))?
            }
            _ => groups,
        };
        Ok(Self {
            cpu_us: us(server.cpu()?),
            database_us: database.map_or(Ok(0.0), |database| database.cpu().map(us))?,
            groups,
            batches,
            accepted: load::counter(&row.load)
                .map(|counter| server.accepted(counter))
                .transpose()?,
        })
    }

    /// Adds what was used since, for each request or transaction of the load.
    fn add(
        self,
        server: &Server,
        (row, database): (&Row, Option<&Empty<'_>>),
        measures: &mut Measures,
    ) -> Result<()> {
        let now = Self::of(server, row, database)?;
        let Some(&count) = measures.get(COUNT) else {
            return Ok(());
        };
        let counted = |before: u64, after: u64| -> Result<f64> {
            Ok(f64::from(u32::try_from(after - before)?))
        };
        if let Some((before, after)) = self.accepted.zip(now.accepted) {
            let refused = refused(counted(before, after)?, count)?;
            measures.insert(REFUSED_PERCENT.to_owned(), refused);
        }
        let syncs = counted(self.groups, now.groups)? / count;
        let batches = counted(self.batches, now.batches)?;
        let five = row.server.ends_with("processes");
        // The lab watches one server, and only while it measures.
        if five || !measures.contains_key(SERVER_US) {
            measures.insert(SERVER_US.to_owned(), (now.cpu_us - self.cpu_us) / count);
        }
        let database_us = (now.database_us - self.database_us) / count;
        let more = [
            (DATABASE_US, database_us),
            ("syncs", syncs),
            ("batch", count / batches.max(1.0)),
        ];
        measures.extend(more.map(|(name, value)| (name.to_owned(), value)));
        Ok(())
    }
}

/// Sends what comes before the load: commands between semicolons, or those with a name.
fn prepare(server: &Server, what: &str) -> Result<()> {
    let lines: Vec<String> = match what {
        "" => return Ok(()),
        "trips" => TRIPS.map(str::to_owned).to_vec(),
        commands => commands
            .split(';')
            .map(|line| line.trim().to_owned())
            .collect(),
    };
    fill::run(&mut server.connect()?, &lines)
}

/// The share of requests that changed nothing, in percent, where it is small: a server that refuses does
/// less than one that is to be measured.
fn refused(accepted: f64, count: f64) -> Result<f64> {
    // wrk may end with answers on the way that it does not count.
    let percent = (1.0 - accepted / count).max(0.0) * 100.0;
    ensure!(
        percent <= REFUSED_PERCENT_MAX,
        "{percent:.1} % of the requests were refused"
    );
    Ok(percent)
}

/// How safely a service is kept, as whatever keeps it says itself.
fn durability(server: &Server, service: &str, in_database: bool) -> Result<String> {
    if !in_database {
        return Ok(format!("durability={}", server.fact("durability")?));
    }
    let fact = |name: &str| server.fact(&format!("{service}_backend_{name}"));
    let settings = fact("durability")?.replace(',', ", ");
    Ok(format!("{}, {settings}", fact("version")?))
}

/// A measure by its name; of `NAME us` the mean of all operations that start so, where there is none of
/// that name.
fn value(measures: &Measures, name: &str) -> Result<f64> {
    if let Some(value) = measures.get(name) {
        return Ok(*value);
    }
    let beginning = name.strip_suffix("us").unwrap_or(name).trim_end();
    let alike = measures
        .iter()
        .filter(|(name, _)| name.starts_with(&format!("{beginning}_")));
    let alike: Vec<f64> = alike.map(|(_, value)| *value).collect();
    ensure!(
        !alike.is_empty(),
        "there is no measure `{name}` in {measures:?}"
    );
    Ok(mean(&alike))
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Microseconds that the bare machine takes.
#[derive(Clone, Copy)]
struct Bare {
    /// A round trip between the two cores, and one on the server's core.
    trip: f64,
    line: f64,
    sync: f64,
}

impl Bare {
    fn probe(ground: &Ground) -> Result<Self> {
        let (apart, together) = (
            ground.probe()?,
            MachineProbe::take_on_one_core(&ground.scratch)?,
        );
        Ok(Self {
            trip: apart.loopback_p50_us,
            line: together.loopback_p50_us,
            sync: apart.sync_p50_us,
        })
    }

    fn mean(probes: &[Self]) -> Self {
        let of = |what: fn(&Self) -> f64| mean(&probes.iter().map(what).collect::<Vec<f64>>());
        Self {
            trip: of(|probe| probe.trip),
            line: of(|probe| probe.line),
            sync: of(|probe| probe.sync),
        }
    }

    fn needs(&self, floor: &Floor, core: Core, ground: &Ground) -> Result<f64> {
        let trip = match core {
            Core::Client => self.trip,
            Core::Server => self.line,
        };
        let us = f64::from(floor.trips) * trip
            + f64::from(floor.lines) * self.line
            + f64::from(floor.syncs) * self.sync;
        if floor.at_once == 0 {
            return Ok(us);
        }
        Ok(us + syncs_at_once_us(&ground.scratch, floor.at_once)?)
    }
}

fn mean(values: &[f64]) -> f64 {
    let count = u32::try_from(values.len()).expect("a few values");
    values.iter().sum::<f64>() / f64::from(count)
}

#[cfg(test)]
mod tests {
    use super::{Measures, refused, value};

    #[test]
    fn a_measure_is_found_by_its_name_or_as_the_mean_of_its_kind() {
        let rows = [("rate", 5.0), ("query_car us", 2.0), ("query_room us", 4.0)];
        let measures: Measures = rows.map(|(name, value)| (name.to_owned(), value)).into();
        assert_eq!(value(&measures, "rate").unwrap(), 5.0);
        assert_eq!(value(&measures, "query us").unwrap(), 3.0);
        assert!(value(&measures, "reserve us").is_err());
    }

    #[test]
    fn what_was_not_accepted_was_refused() {
        let told = |accepted| {
            let percent = refused(accepted, 200.0);
            percent.map_or_else(
                |error| error.to_string(),
                |percent| format!("{percent:.1} %"),
            )
        };
        assert_eq!(told(197.0), "1.5 %");
        assert_eq!(told(210.0), "0.0 %");
        assert_eq!(told(150.0), "25.0 % of the requests were refused");
        assert_eq!(told(0.0), "100.0 % of the requests were refused");
    }
}
