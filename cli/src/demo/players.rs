//! Players in pairs at the arena, compared with the scores afterwards.

use std::{num::NonZeroU64, path::Path, time::Duration};

use anyhow::Context as _;
use turnstile_embedded::recount_games;
use turnstile_load::{games, pace::Pace};
use turnstile_stats::units::{Count, Nanos, PerSecond};

use super::Amounts;
use crate::{child::Server, exit::Coded, lab, terminal::Table};

/// Connections, each a player.
const PLAYERS: usize = 32;

/// The number of the first.
const FIRST_PLAYER: u32 = 1;

/// How long the arena may say nothing to anybody.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lets them play, and compares what each was told with what it has played.
///
/// # Errors
/// A game was not counted, or not once: a violation.
pub(super) fn play(server: &Server, amounts: &Amounts, table: &mut Table) -> anyhow::Result<()> {
    let arena = server.arena().context("the server named no arena")?;
    let config = games::Config {
        door: games::Door::Wire,
        pace: Pace {
            threads: lab::default_threads().get(),
            patience: Some(PATIENCE),
            ..Pace::closed(arena, Duration::ZERO, Duration::ZERO)
        },
        players: vec![PLAYERS],
        first_player: FIRST_PLAYER,
        iterations: NonZeroU64::new(amounts.games),
    };
    let report = games::run(&config, &mut |_progress| {}).context("the players")?;
    if let Some(coded) = Coded::of_verdict(report.verdict()) {
        return Err(coded.because(&format!("the games: {report}")).into());
    }
    for level in &report.levels {
        let proof = &level.load.proof;
        table.row(
            "players",
            format_args!(
                "{} games over the unframed wire, {} player-games/s, {} a game",
                Count(proof.games),
                PerSecond(level.throughput),
                Nanos(level.times.mean)
            ),
        );
        table.row(
            "  counted",
            format_args!(
                "{} played = {} won + {} lost + {} drawn",
                Count(proof.played),
                Count(proof.won),
                Count(proof.lost),
                Count(proof.drawn)
            ),
        );
    }
    Ok(())
}

/// Counts again, in another way, what the journal of a server that has stopped says of all games.
///
/// # Errors
/// The statistics say something else: a violation.
pub(super) fn recount(directory: &Path, table: &mut Table) -> anyhow::Result<()> {
    let recounted = recount_games(directory)
        .map_err(|error| anyhow::anyhow!("{}: {error}", directory.display()))?;
    if let Some(difference) = recounted.differences.first() {
        return Err(Coded::violation(format!("the scores: {difference}")).into());
    }
    table.row(
        "  recounted",
        format_args!("{} results, 0 differences", Count(recounted.results)),
    );
    Ok(())
}
