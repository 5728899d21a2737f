//! Players on the ancestor's wire, beside the ancestor and beside an arena that does nothing.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::relay::Relay;
use crate::{
    driver::us_each,
    ground::{Ground, tell},
    pin,
    process::Neighbours,
    program,
    ratio::{Bound, Ratio},
    section::{Figure, Section, Subject},
    server::{Durability, Kind},
};

const FIGURES: [&str; 4] = [
    "game, ms",
    "player-games/s",
    "server CPU, us/player-game",
    "client CPU, us/player-game",
];

/// One run: the figures, in their order.
type Run = [f64; FIGURES.len()];

/// So many who play at a time.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    title: &'static str,
    players: u32,
    /// Games of each player.
    games: u32,
    /// What the ancestor took for a game with so many, in milliseconds.
    ancestor_ms: f64,
}

/// Who is played at.
#[derive(Clone, Copy, Debug)]
enum Arena {
    Turnstile(Durability),
    Relay,
}

/// An arena, and whether the client's sockets send at once.
const SUBJECTS: [(&str, Arena, bool); 5] = [
    (
        "turnstile sync, clients with TCP_NODELAY",
        Arena::Turnstile(Durability::Sync),
        true,
    ),
    (
        "turnstile sync, clients' sockets as the ancestor's",
        Arena::Turnstile(Durability::Sync),
        false,
    ),
    (
        "turnstile memory, clients with TCP_NODELAY",
        Arena::Turnstile(Durability::Memory),
        true,
    ),
    (
        "messages passed on, clients with TCP_NODELAY",
        Arena::Relay,
        true,
    ),
    (
        "messages passed on, clients' sockets as the ancestor's",
        Arena::Relay,
        false,
    ),
];

pub(super) fn two(ground: &Ground) -> Result<Section> {
    // It published no row for two; this is what it takes on an idle loopback.
    measure(
        ground,
        Crowd {
            title: "Ancestor's wire, 2 players",
            players: 2,
            games: 1_500,
            ancestor_ms: 88.0,
        },
    )
}

pub(super) fn ten(ground: &Ground) -> Result<Section> {
    measure(
        ground,
        Crowd {
            title: "Ancestor's wire, 10 players",
            players: 10,
            games: 1_000,
            ancestor_ms: 79.5,
        },
    )
}

pub(super) fn hundred(ground: &Ground) -> Result<Section> {
    measure(
        ground,
        Crowd {
            title: "Ancestor's wire, 100 players",
            players: 100,
            games: 400,
            ancestor_ms: 71.2,
        },
    )
}

pub(super) fn two_thousand(ground: &Ground) -> Result<Section> {
    measure(
        ground,
        Crowd {
            title: "Ancestor's wire, 2,000 players",
            players: 2_000,
            games: 30,
            ancestor_ms: 79.0,
        },
    )
}

fn measure(ground: &Ground, crowd: Crowd) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); SUBJECTS.len()];
    for round in 0..ground.rounds() {
        for turn in 0..SUBJECTS.len() {
            let at = (turn + round) % SUBJECTS.len();
            let (name, arena, no_delay) = SUBJECTS[at];
            let run = sample(ground, crowd, arena, no_delay)?;
            let [ms, rate, server, client] = run;
            tell(&format!(
                "{}: {name}: {ms:.2} ms, {rate:.0}/s, CPU {server:.2} us server, {client:.2} us \
                 client",
                crowd.title
            ))?;
            runs[at].push(run);
        }
    }
    let subjects = SUBJECTS.iter().zip(&runs);
    let mut section = Section {
        title: crowd.title,
        setting: format!(
            "{} players in pairs, {} games each, by `lab run games` on one core; a player-game is a \
             game of one of its two players, {} rounds",
            crowd.players,
            crowd.games,
            ground.rounds()
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects
            .map(|((name, _, _), runs)| Subject {
                name: (*name).to_owned(),
                figures: FIGURES
                    .iter()
                    .enumerate()
                    .map(|(at, name)| Figure {
                        name,
                        values: runs.iter().map(|run| run[at]).collect(),
                    })
                    .collect(),
            })
            .collect(),
        claims: Vec::new(),
    };
    claim(&mut section, crowd, &runs);
    Ok(section)
}

fn claim(section: &mut Section, crowd: Crowd, runs: &[Vec<Run>]) {
    let values = |subject: usize, figure: usize| -> Vec<f64> {
        runs[subject].iter().map(|run| run[figure]).collect()
    };
    let (players, ancestor_ms) = (crowd.players, crowd.ancestor_ms);
    let ancestor = vec![ancestor_ms; runs[0].len()];
    for (subject, sockets) in ["with TCP_NODELAY", "sockets as the ancestor's"]
        .into_iter()
        .enumerate()
    {
        section.claim_ratio(
            &format!("{players} players, {sockets}: a game / the ancestor's {ancestor_ms} ms"),
            Ratio::of(&values(subject, 0), &ancestor),
            Bound::AtMost(0.1),
        );
    }
    section.claim_ratio(
        &format!("{players} players: server CPU of a game / messages passed on"),
        Ratio::of(&values(0, 2), &values(3, 2)),
        Bound::None,
    );
    // Little's law: so many who never rest play so often in so much time.
    let needed = f64::from(players) / (ancestor_ms / 10.0 / 1e3);
    let most = |subject: usize, figure: usize| -> Vec<f64> {
        let cores = values(subject, figure);
        cores.iter().map(|us| 1e6 / us).collect()
    };
    let needed = vec![needed; runs[0].len()];
    for (what, subject, figure) in [
        ("a core of our server can", 0, 2),
        ("a core can pass on", 3, 2),
        ("a core of clients can", 0, 3),
    ] {
        section.claim_ratio(
            &format!(
                "{players} players: player-games/s that a tenth of the ancestor's time needs / \
                 what {what}"
            ),
            Ratio::of(&needed, &most(subject, figure)),
            Bound::None,
        );
    }
}

fn sample(ground: &Ground, crowd: Crowd, arena: Arena, no_delay: bool) -> Result<Run> {
    match arena {
        Arena::Turnstile(durability) => {
            let server = ground.start(Kind::Turnstile(durability))?;
            let cpu = server.cpu()?;
            let run = play(ground, crowd, server.arena(), no_delay)
                .with_context(|| server.last_words().unwrap_or_default())?;
            Ok(with_cpu(run, crowd, server.cpu()? - cpu))
        }
        Arena::Relay => {
            let relay = Relay::start()?;
            let run = play(ground, crowd, relay.address, no_delay)?;
            Ok(with_cpu(run, crowd, relay.end()?))
        }
    }
}

fn with_cpu([ms, rate, client]: [f64; 3], crowd: Crowd, cpu: Duration) -> Run {
    [ms, rate, us_each(cpu, crowd.players * crowd.games), client]
}

/// Mean time of a game in milliseconds, player-games a second, and the generator's CPU time for each.
fn play(ground: &Ground, crowd: Crowd, address: SocketAddr, no_delay: bool) -> Result<[f64; 3]> {
    let report = NamedTempFile::new()?;
    let mut command = pin::command(pin::CLIENT_CORE, &ground.turnstile);
    command
        .args(["lab", "run", "games", "-t", "1"])
        .args(["--games-arena", &address.to_string()])
        .args(["-c", &crowd.players.to_string()])
        .args(["-i", &crowd.games.to_string()])
        .args((!no_delay).then_some("--nagle"))
        .arg("--json")
        .arg(report.path());
    program::run(&mut command)?;
    let report = std::fs::read_to_string(report.path())?;
    let figures = parse(&report).with_context(|| format!("no figures in {report:?}"))?;
    ensure!(figures[1] > 0.0, "nobody has played");
    Ok(figures)
}

fn parse(report: &str) -> Option<[f64; 3]> {
    let report: Value = serde_json::from_str(report).ok()?;
    let level = report.get("levels")?.get(0)?;
    let number = |value: &Value| value.as_f64();
    Some([
        number(level.get("times")?.get("mean")?)? / 1e6,
        number(level.get("throughput")?)?,
        number(level.get("cpu_per_game")?)? / 1e3,
    ])
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_figures_of_a_level_are_read_in_their_units() {
        let report = r#"{"levels": [{"players": 2, "throughput": 5000.5,
            "times": {"count": 10, "mean": 420000.0}, "cpu_per_game": 6500.0}]}"#;
        assert_eq!(parse(report), Some([0.42, 5_000.5, 6.5]));
        assert_eq!(parse(r#"{"levels": []}"#), None);
        assert_eq!(parse(""), None);
    }
}
