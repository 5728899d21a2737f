//! What ten thousand players take who are connected, have played, and rest.

mod guests;

use std::{thread, time::Duration};

use anyhow::Result;
use turnstile_client::descriptors;

use self::guests::Door;
use crate::{
    ground::{Ground, tell},
    process::bytes_each,
    ratio::{Bound, Ratio},
    section::{MeasuredRow, Section, SubjectMetric},
    server::{Kind, Server, ServerDurability},
};

const PLAYERS: u32 = 10_000;

/// What they may take together, in MiB.
const MOST_MIB: f64 = 100.0;

const MIB: f64 = 1_024.0 * 1_024.0;

/// For so long nobody says anything: long enough that the server gives back what it can.
const REST: Duration = Duration::from_secs(7);

const DOORS: [(&str, Door); 3] = [
    ("the ancestor's wire", Door::Wire),
    ("RESP", Door::Resp),
    ("WebSocket", Door::WebSocket),
];

const FIGURES: [&str; 2] = ["right after, MiB", "at rest, MiB"];

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    // One more for each player here; the server does the same for itself.
    descriptors::allow(u64::from(PLAYERS) + 128)?;
    let mut grown = vec![Vec::new(); DOORS.len()];
    let title = "Ten thousand connected players";
    let mut section = Section::between_probes(ground, title, || {
        for _ in 0..ground.rounds() {
            for ((name, door), grown) in DOORS.iter().zip(&mut grown) {
                let mib = sample(ground, *door)?;
                tell(&format!(
                    "Memory, {name}: {:.1} MiB, {:.1} MiB at rest",
                    mib[0], mib[1]
                ))?;
                grown.push(mib);
            }
        }
        let setting = format!(
            "{PLAYERS} players in pairs, each on a connection of its own, who have played one game of \
             seven moves and stay: by how much the resident memory of a server in memory has grown, their \
             standings included, right after and after {} s of rest; {} rounds",
            REST.as_secs(),
            ground.rounds()
        );
        let subjects = DOORS.iter().zip(&grown).map(|((name, _), grown)| {
            let figures = FIGURES.iter().enumerate().map(|(at, figure)| {
                let values = grown.iter().map(|mib: &[f64; 2]| mib[at]);
                SubjectMetric::new(*figure, values.collect())
            });
            MeasuredRow::new(format!("turnstile memory, {name}"), figures.collect())
        });
        Ok((setting, subjects.collect()))
    })?;
    for ((name, _), grown) in DOORS.iter().zip(&grown) {
        let most: Vec<f64> = grown.iter().map(|mib| mib[0].max(mib[1])).collect();
        section.claim_ratio(
            &format!("{PLAYERS} players on {name}: MiB of the server"),
            Ratio::spread(&most),
            Bound::AtMost(MOST_MIB),
        );
    }
    Ok(section)
}

fn sample(ground: &Ground, door: Door) -> Result<[f64; 2]> {
    let server = ground.start(Kind::Turnstile(ServerDurability::Memory))?;
    let before = mib(&server)?;
    let guests = door.seat(&server, PLAYERS)?;
    let right_after = mib(&server)? - before;
    thread::park_timeout(REST);
    let at_rest = mib(&server)? - before;
    drop(guests);
    Ok([right_after, at_rest])
}

fn mib(server: &Server) -> Result<f64> {
    Ok(bytes_each(server.resident_bytes()?, 1)? / MIB)
}
