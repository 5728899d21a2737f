//! Arguments to commands and queries of games.

use turnstile_games::{Command, Deed, MatchId, Measure, Query};

use super::{Invalid, Verb, words::Words};
use crate::{
    Arguments,
    words::{PAGE, Read},
};

/// What leaders are ordered by when nothing is said.
const MEASURE: Measure = Measure::Elo;

/// How many are shown on each side of somebody when nothing is said.
const EACH_SIDE: u16 = 5;

/// One request to games.
pub type Request<'a> = crate::Request<'a, Command, Query>;

/// Reads the arguments of a request whose words the catalogue has counted.
///
/// # Errors
/// The first argument that is not what it should be.
#[inline]
pub fn parse<'a>(verb: Verb, arguments: Arguments<'a, '_>) -> Result<Request<'a>, Invalid> {
    let name_words = match verb {
        Verb::OfferDraw | Verb::AcceptDraw | Verb::DeclineDraw => 2,
        _ => 1,
    };
    let words = &mut Words::behind(name_words, verb, arguments);
    match verb {
        Verb::Move => step(words),
        Verb::Resign => act(words, Deed::Resign),
        Verb::Abort => act(words, Deed::Abort),
        Verb::OfferDraw => act(words, Deed::OfferDraw),
        Verb::AcceptDraw => act(words, Deed::AcceptDraw),
        Verb::DeclineDraw => act(words, Deed::DeclineDraw),
        Verb::ClaimWin => act(words, Deed::ClaimWin),
        Verb::Challenge
        | Verb::Seek
        | Verb::Withdraw
        | Verb::Begin
        | Verb::Connect
        | Verb::Disconnect
        | Verb::Report => {
            let command = command(verb, words)?;
            let key = words.only_key()?;
            Ok(Request::Command { command, key })
        }
        Verb::Matches | Verb::Opponents | Verb::Leaders | Verb::Around => {
            listing(verb, words).map(Request::Query)
        }
        Verb::Match
        | Verb::Player
        | Verb::Tickets
        | Verb::Standing
        | Verb::Against
        | Verb::Totals => query(verb, words).map(Request::Query),
    }
}

/// A move.
fn step<'a>(words: &mut Words<'a, '_>) -> Read<Request<'a>, Verb> {
    let match_id = words.match_id("match")?;
    let player = words.player("player")?;
    let ply = words.number("ply")?;
    let choice = words.number("choice")?;
    let (mut claim, mut key) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"CLAIM" => words.set(&mut claim, "CLAIM", Words::claim)?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => return Err(words.no_option()),
        }
    }
    let command = Command::Act {
        match_id,
        player,
        deed: Deed::Move { ply, choice, claim },
    };
    Ok(Request::Command { command, key })
}

fn act<'a>(words: &mut Words<'a, '_>, deed: Deed) -> Read<Request<'a>, Verb> {
    let command = Command::Act {
        match_id: words.match_id("match")?,
        player: words.player("player")?,
        deed,
    };
    let key = words.only_key()?;
    Ok(Request::Command { command, key })
}

fn command(verb: Verb, words: &mut Words<'_, '_>) -> Read<Command, Verb> {
    Ok(match verb {
        Verb::Challenge => Command::Challenge {
            player: words.player("player")?,
            opponent: words.player("opponent")?,
            game: words.game()?,
        },
        Verb::Seek => Command::Seek {
            player: words.player("player")?,
            game: words.game()?,
        },
        Verb::Withdraw => Command::Withdraw {
            player: words.player("player")?,
        },
        Verb::Begin => Command::Begin {
            players: [words.player("first")?, words.player("second")?],
            game: words.game()?,
        },
        Verb::Connect => Command::Connect {
            player: words.player("player")?,
        },
        Verb::Disconnect => Command::Disconnect {
            player: words.player("player")?,
        },
        _ => Command::Report {
            players: [words.player("first")?, words.player("second")?],
            verdict: words.verdict()?,
        },
    })
}

/// A query without options. The catalogue has counted its words, and nothing is left of them.
fn query(verb: Verb, words: &mut Words<'_, '_>) -> Read<Query, Verb> {
    Ok(match verb {
        Verb::Match => Query::Match {
            match_id: words.match_id("match")?,
        },
        Verb::Player => Query::Player {
            player: words.player("player")?,
        },
        Verb::Tickets => Query::Tickets {
            game: words.game()?,
        },
        Verb::Standing => Query::Standing {
            player: words.player("player")?,
        },
        Verb::Against => Query::Against {
            player: words.player("player")?,
            opponent: words.player("opponent")?,
        },
        _ => Query::Totals,
    })
}

fn listing(verb: Verb, words: &mut Words<'_, '_>) -> Read<Query, Verb> {
    match verb {
        Verb::Matches => matches(words),
        Verb::Opponents => opponents(words),
        Verb::Leaders => leaders(words),
        _ => around(words),
    }
}

fn matches(words: &mut Words<'_, '_>) -> Read<Query, Verb> {
    let (mut after, mut limit): (Option<MatchId>, _) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"AFTER" => words.set(&mut after, "AFTER", Words::match_id)?,
            b"LIMIT" => words.set(&mut limit, "LIMIT", Words::length)?,
            _ => return Err(words.no_option()),
        }
    }
    let limit = limit.unwrap_or(PAGE);
    Ok(Query::Matches { after, limit })
}

fn opponents(words: &mut Words<'_, '_>) -> Read<Query, Verb> {
    let player = words.player("player")?;
    let (mut cursor, mut limit) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"LIMIT" => words.set(&mut limit, "LIMIT", Words::length)?,
            b"CURSOR" => words.set(&mut cursor, "CURSOR", Words::opponent)?,
            _ => return Err(words.no_option()),
        }
    }
    Ok(Query::Opponents {
        player,
        cursor,
        limit: limit.unwrap_or(PAGE),
    })
}

fn leaders(words: &mut Words<'_, '_>) -> Read<Query, Verb> {
    let (mut measure, mut cursor, mut limit) = (None, None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"BY" => words.set(&mut measure, "BY", Words::measure)?,
            b"LIMIT" => words.set(&mut limit, "LIMIT", Words::length)?,
            b"CURSOR" => words.set(&mut cursor, "CURSOR", Words::rung)?,
            _ => return Err(words.no_option()),
        }
    }
    Ok(Query::Leaders {
        measure: measure.unwrap_or(MEASURE),
        cursor,
        limit: limit.unwrap_or(PAGE),
    })
}

fn around(words: &mut Words<'_, '_>) -> Read<Query, Verb> {
    let player = words.player("player")?;
    let (mut measure, mut each_side) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"BY" => words.set(&mut measure, "BY", Words::measure)?,
            b"EACHSIDE" => words.set(&mut each_side, "EACHSIDE", Words::each_side)?,
            _ => return Err(words.no_option()),
        }
    }
    Ok(Query::Around {
        measure: measure.unwrap_or(MEASURE),
        player,
        each_side: each_side.unwrap_or(EACH_SIDE),
    })
}
