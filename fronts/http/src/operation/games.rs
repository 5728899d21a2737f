//! The operations of games.

use super::{
    EVENTS, Method, Operation, PAGED, RECEIPT, Success, command, document, read, with_problems,
    with_query,
};

/// Something that is done by a player, or for one.
const fn done(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    body: Option<&'static str>,
    success: Success,
) -> Operation {
    with_problems(
        command(Method::Post, path, id, summary, body, success),
        &[400, 409, 413, 415, 421, 422],
    )
}

/// Something that is done in a match.
const fn deed(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    body: &'static str,
) -> Operation {
    with_problems(
        done(path, id, summary, Some(body), Success::Json("GamesActed")),
        &[400, 403, 404, 409, 410, 413, 415, 421, 422],
    )
}

const fn versioned(operation: Operation) -> Operation {
    with_problems(operation, &[304, 400, 404])
}

/// Of what is the same as nothing where there is nothing.
const fn always(operation: Operation) -> Operation {
    with_problems(operation, &[400])
}

pub(super) const OPERATIONS: &[Operation] = &[
    done(
        "/v1/games/challenges",
        "challenge",
        "Name somebody to play with; the match begins when both have named each other, and whoever \
         did so first moves first",
        Some("Challenge"),
        Success::Made("GamesPaired"),
    ),
    done(
        "/v1/games/seeks",
        "seek",
        "Ask for anybody of about the same strength; the longer the wait, the further apart the two \
         may be",
        Some("Search"),
        Success::Made("GamesPaired"),
    ),
    always(with_query(
        read(
            "/v1/games/tickets",
            "listTickets",
            "Everybody who looks for anybody to play `game` with, and why they still wait",
            &[],
            "GamesTickets",
        ),
        &["game!"],
    )),
    done(
        "/v1/games/matches",
        "beginMatch",
        "Begin a match of two who need not be asked",
        Some("NewMatch"),
        Success::Made("GamesPaired"),
    ),
    always(read(
        "/v1/games/matches",
        "listMatches",
        "The matches that are played, by their numbers",
        PAGED,
        "GamesMatches",
    )),
    versioned(read(
        "/v1/games/matches/{match}",
        "getMatch",
        "A match; also one that was over not long ago",
        &[],
        "GamesMatch",
    )),
    deed(
        "/v1/games/matches/{match}/moves",
        "move",
        "Move; a move that was meant for another state is refused as `stale`, with the state",
        "Move",
    ),
    deed(
        "/v1/games/matches/{match}/resign",
        "resign",
        "Give up",
        "PlayerNamed",
    ),
    deed(
        "/v1/games/matches/{match}/abort",
        "abortMatch",
        "End a match in which not both have moved; it does not count",
        "PlayerNamed",
    ),
    deed(
        "/v1/games/matches/{match}/draw",
        "draw",
        "Offer a draw, or accept or decline the other's",
        "DrawAnswer",
    ),
    deed(
        "/v1/games/matches/{match}/claim",
        "claimWin",
        "Win a match of which the other has been away, or late with a move, for long enough",
        "PlayerNamed",
    ),
    Operation {
        query: &["since", "format"],
        problems: &[400, 404, 503],
        ..document(
            "/v1/games/matches/{match}/events",
            "matchEvents",
            "Watch a match, from its state on to its end: as server-sent events, or as lines of JSON \
             (`application/x-ndjson`, or `format=ndjson`); resumes after Last-Event-ID or `since`",
            &[EVENTS, "application/x-ndjson"],
        )
    },
    read(
        "/v1/games/players/{player}",
        "getPlayer",
        "What a player does",
        &[],
        "GamesPlayer",
    ),
    with_problems(
        done(
            "/v1/games/players/{player}/withdraw",
            "withdrawPlayer",
            "Wait no longer, for an opponent or for anybody",
            None,
            RECEIPT,
        ),
        &[400, 409, 421, 422],
    ),
    versioned(read(
        "/v1/games/players/{player}/stats",
        "getStanding",
        "What a player has won, lost and drawn, and the ratings",
        &[],
        "GamesStanding",
    )),
    always(read(
        "/v1/games/players/{player}/opponents",
        "listOpponents",
        "Those a player has met, the one met first latest first",
        PAGED,
        "GamesOpponents",
    )),
    with_problems(
        read(
            "/v1/games/players/{player}/opponents/{opponent}",
            "getTally",
            "What a player has won from an opponent, and lost",
            &[],
            "GamesAgainst",
        ),
        &[304, 400],
    ),
    always(read(
        "/v1/games/leaderboards/{measure}",
        "getLeaders",
        "The best by `elo`, `glicko` or matches `won`",
        PAGED,
        "GamesLeaders",
    )),
    read(
        "/v1/games/leaderboards/{measure}/around/{player}",
        "getAround",
        "A player on a leaderboard, with `each_side` before and as many after",
        &["each_side"],
        "GamesAround",
    ),
    always(read(
        "/v1/games/totals",
        "gamesTotals",
        "How much there is",
        &[],
        "GamesTotals",
    )),
    Operation {
        query: &["since"],
        problems: &[400, 503],
        ..document(
            "/v1/games/events",
            "gamesEvents",
            "Follow what happens, as server-sent events; resumes after Last-Event-ID or `since`",
            &[EVENTS],
        )
    },
    Operation {
        query: &["player!", "since"],
        success: Success::Protocol("WebSocket: see docs/games-feed.md"),
        problems: &[400, 403, 426, 503],
        ..document(
            "/v1/games/play",
            "play",
            "Be a player on one WebSocket: connected while it is open, told of every change, moving \
             by messages",
            &[],
        )
    },
];
