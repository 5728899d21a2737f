//! The five tables that the ancestors' authors published, under the same laws.

use std::fmt;

use serde::Serialize;
use turnstile_published::{BOOKING_MYSQL, BOOKING_REDIS, MeanTimes, SOURCES, TRAVEL_OPS, travel};

use crate::{Audit, AuditFinding, Law, Point, Series, Settings, Table};

/// All five.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// With the name of each table.
    pub audits: Vec<(String, Audit)>,
}

/// Audits the published tables. `tolerance` as in [`Settings`].
///
/// # Panics
/// Never: the tables are well formed, as tests show.
#[must_use]
pub fn published(tolerance: f64) -> Published {
    let audits = SOURCES.map(|source| {
        let settings = Settings {
            closed: true,
            think: 0.0,
            tolerance,
        };
        let audit = if source == TRAVEL_OPS {
            parts(settings)
        } else {
            let table = Table::read(source.text).expect("published tables are well formed");
            Audit::of(&table, settings)
        };
        (source.name.to_owned(), audit)
    });
    Published {
        audits: audits.into(),
    }
}

/// One client's means: its transaction must take what its requests take.
fn parts(settings: Settings) -> Audit {
    let points = (1..).zip(travel()).map(|(line, (managers, times))| Point {
        line,
        name: format!(
            "{managers}: start + 4 query + 3 reserve + commit = {:.3} ms of {} ms",
            times.composed(),
            times.transaction
        ),
        users: None,
        throughput: None,
        response: None,
        little: None,
        findings: composition(&times, settings.tolerance)
            .into_iter()
            .collect(),
    });
    Audit {
        settings,
        series: vec![Series {
            name: String::new(),
            points: points.collect(),
        }],
        unused: Vec::new(),
    }
}

fn composition(times: &MeanTimes, tolerance: f64) -> Option<AuditFinding> {
    let (parts, whole) = (times.composed(), times.transaction);
    ((parts - whole).abs() > tolerance * whole).then(|| {
        let why = format!("the parts take {parts:.3} ms, {whole} ms is printed for the whole");
        AuditFinding::broken(Law::Composition, why)
    })
}

impl Published {
    /// How many points break a law.
    #[must_use]
    pub fn broken(&self) -> usize {
        self.audits.iter().map(|(_, audit)| audit.broken()).sum()
    }

    /// Of the points of the two booking reports, those that break Little's law, and all.
    #[must_use]
    pub fn bookings(&self) -> (usize, usize) {
        let bookings = [BOOKING_MYSQL.name, BOOKING_REDIS.name];
        let audits = self.audits.iter();
        let audits = audits.filter(|(name, _)| bookings.contains(&name.as_str()));
        audits.fold((0, 0), |(broken, all), (_, audit)| {
            (
                broken + audit.breaking(Law::Little),
                all + audit.points().count(),
            )
        })
    }
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((name, audit), source) in self.audits.iter().zip(SOURCES) {
            let provenance = source.provenance();
            writeln!(
                f,
                "{name}
{provenance}
{audit}
"
            )?;
        }
        let (broken, all) = self.bookings();
        let tolerance = self
            .audits
            .first()
            .map_or(0.0, |(_, audit)| audit.settings.tolerance);
        write!(
            f,
            "{broken} of the {all} booking points break Little's law by more than {:.0} %",
            tolerance * 100.0
        )
    }
}
