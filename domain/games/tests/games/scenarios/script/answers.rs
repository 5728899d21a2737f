//! Outcomes, answers and events in words.

use std::fmt::Write as _;

use turnstile_games::{
    Absent, ActivityView, Answer, Change, Done, Ending, Event, EventKind, Leader, MatchView,
    PlayerView, Refusal, Seat, Source, Standing, Tally, TicketView, WaitReason,
};

pub(crate) fn done(done: &Done) -> String {
    match done {
        Done::Challenged => "challenged\n".to_owned(),
        Done::Seeking(ticket) => format!("seeking: {}\n", show_ticket(ticket)),
        Done::Withdrawn => "withdrawn\n".to_owned(),
        Done::Begun(state) => format!("begun: {}\n", show(state)),
        Done::Acted(state) => format!("{}\n", show(state)),
        Done::Connected(None) => "connected\n".to_owned(),
        Done::Connected(Some(state)) => format!("connected: {}\n", show(state)),
        Done::Disconnected => "disconnected\n".to_owned(),
        Done::Restarted => "restarted\n".to_owned(),
        Done::Configured => "configured\n".to_owned(),
        Done::Acknowledged => "acknowledged\n".to_owned(),
        Done::Counted([first, second]) => {
            format!("counted\n  {}\n  {}\n", stand(first), stand(second))
        }
    }
}

pub(crate) fn refusal(refusal: &Refusal) -> String {
    let code = refusal.code();
    match refusal {
        Refusal::Over(state) | Refusal::Stale(state) | Refusal::NotYourTurn(state) => {
            format!("refused: {code}: {}\n", show(state))
        }
        Refusal::Playing { player, match_id } => {
            format!("refused: {code}: {player} in {match_id}\n")
        }
        Refusal::Waiting { player } => format!("refused: {code}: {player}\n"),
        Refusal::TooEarly { until } => format!("refused: {code}: {until}\n"),
        Refusal::OutOfOrder { expected } => format!("refused: {code}: {expected}\n"),
        Refusal::Full { limit } => format!("refused: {code}: {limit}\n"),
        Refusal::NotHere
        | Refusal::UnsoundSettings
        | Refusal::ScoresAway
        | Refusal::SamePlayer
        | Refusal::NotWaiting
        | Refusal::NoSuchMatch
        | Refusal::NotSeated
        | Refusal::IllegalMove(_)
        | Refusal::FalseClaim
        | Refusal::NoOffer
        | Refusal::OfferStands
        | Refusal::TooLate
        | Refusal::NothingToClaim => format!("refused: {code}\n"),
    }
}

/// `match 1 of a and b, ply 2, seq 2, x.. .o. ...`, and what else there is to say.
fn show(state: &MatchView) -> String {
    let [first, second] = state.players;
    let mut text = format!("match {} of {first} and {second}", state.id);
    write!(text, ", ply {}, seq {}", state.ply, state.seq).unwrap();
    write!(text, ", {}", board(state)).unwrap();
    if let Some(seat) = state.offer {
        write!(text, ", {} offers a draw", seat.of(&state.players)).unwrap();
    }
    for seat in Seat::BOTH {
        if let Some(since) = seat.of(&state.away) {
            let player = seat.of(&state.players);
            write!(text, ", {player} away since {since}").unwrap();
        }
    }
    if let Some(ending) = state.ending {
        write!(text, ", over: {}", end(ending, state)).unwrap();
    }
    text
}

fn end(ending: Ending, state: &MatchView) -> String {
    let winner = ending.verdict().and_then(|verdict| verdict.winner());
    match winner {
        None => ending.code().to_owned(),
        Some(winner) => format!("{}, {} wins", ending.code(), winner.of(&state.players)),
    }
}

/// Rows from the top; of a large board only the number of stones.
fn board(state: &MatchView) -> String {
    let shape = state.game.shape();
    if shape.cells() > 50 {
        return format!("{} of {} cells", state.ply, shape.cells());
    }
    let stone = |cell| match state.board.at(cell) {
        None => '.',
        Some(Seat::First) => 'x',
        Some(Seat::Second) => 'o',
    };
    let row = |row: u8| (0..shape.width).map(move |column| stone(row * shape.width + column));
    let rows = (0..shape.height).map(|number| row(number).collect::<String>());
    rows.collect::<Vec<_>>().join("/")
}

fn show_ticket(ticket: &TicketView) -> String {
    let reason = match ticket.reason {
        WaitReason::Alone => "alone".to_owned(),
        WaitReason::TooFarApart {
            difference,
            matched_at,
        } => format!("{difference} apart, matched at {matched_at}"),
    };
    let widens = ticket
        .widens_at
        .map_or_else(|| "never".to_owned(), |at| at.to_string());
    format!(
        "{} rated {} wants {} since {} within {}, widens {widens}: {reason}",
        ticket.player,
        ticket.rating,
        ticket.game.code(),
        ticket.since,
        ticket.window
    )
}

fn tally(tally: &Tally) -> String {
    let Tally { won, lost, drawn } = tally;
    format!(
        "played {} won {won} lost {lost} drawn {drawn}",
        tally.played()
    )
}

fn stand(standing: &Standing) -> String {
    let mut text = tally(&standing.tally);
    if let Some(ratings) = standing.ratings {
        let glicko = ratings.glicko;
        write!(
            text,
            ", elo {}, glicko {} +- {} ({})",
            ratings.elo_milli,
            glicko.rating_milli(),
            glicko.deviation_milli(),
            glicko.volatility_micro()
        )
        .unwrap();
    }
    text
}

fn leaders(page: &[Leader]) -> String {
    let mut text = String::new();
    for leader in page {
        let standing = stand(&leader.standing);
        writeln!(text, "{}. {}: {standing}", leader.place, leader.player).unwrap();
    }
    text
}

pub(crate) fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Absent(Absent::NoSuchMatch) => "no such match\n".to_owned(),
        Answer::Absent(Absent::NoSuchPlayer) => "no such player\n".to_owned(),
        Answer::Match(state) => format!("{}\n", show(state)),
        Answer::Matches {
            matches: states, ..
        } => {
            let lines = states.iter().map(|state| format!("{}\n", show(state)));
            lines.chain(["end\n".to_owned()]).collect()
        }
        Answer::Player(view) => player(view),
        Answer::Tickets(tickets) => {
            let lines = tickets.iter().map(|ticket| show_ticket(ticket) + "\n");
            lines.chain(["end\n".to_owned()]).collect()
        }
        Answer::Standing(standing) => format!("{}\n", stand(standing)),
        Answer::Against(sums) if *sums == Tally::NONE => "never met\n".to_owned(),
        Answer::Against(sums) => format!("{}\n", tally(sums)),
        Answer::Opponents { page, next } => {
            let lines = page
                .iter()
                .map(|one| format!("{}: {}\n", one.opponent, tally(&one.tally)));
            let end = if next.is_some() { "more\n" } else { "end\n" };
            lines.chain([end.to_owned()]).collect()
        }
        Answer::Leaders { page, next } => {
            leaders(page) + if next.is_some() { "more\n" } else { "end\n" }
        }
        Answer::Around(page) => leaders(page),
        Answer::Totals(totals) => format!("{totals:?}\n"),
    }
}

fn player(view: &PlayerView) -> String {
    let activity = match &view.activity {
        ActivityView::Idle => "idle".to_owned(),
        ActivityView::Challenging { opponent, game } => {
            format!("waits for {opponent} to play {}", game.code())
        }
        ActivityView::Seeking(ticket) => show_ticket(ticket),
        ActivityView::Playing(state) => show(state),
    };
    let there = if view.connected { "connected, " } else { "" };
    format!("{there}{activity}\n")
}

pub(crate) fn event(event: &Event) -> String {
    let place = format!("{}.{} {}", event.position, event.ordinal, event.kind.code());
    match event.kind {
        EventKind::Challenged {
            player,
            opponent,
            game,
        } => format!("{place} {opponent} by {player} to {}", game.code()),
        EventKind::Seeking { player, game } => format!("{place} {player} {}", game.code()),
        EventKind::Withdrawn { player } => format!("{place} {player}"),
        EventKind::Match { change, state } => {
            let by = match change {
                Change::Begun | Change::Ended => String::new(),
                Change::Moved { seat }
                | Change::DrawOffered { seat }
                | Change::DrawDeclined { seat }
                | Change::Left { seat }
                | Change::Returned { seat } => format!(" by {}", seat.of(&state.players)),
            };
            format!("{place}{by}: {}", show(&state))
        }
        EventKind::Reported(parcel) => format!("{place} {}", parcel.number),
        EventKind::Counted {
            source,
            players: [first, second],
            verdict,
            ..
        } => {
            let source = match source {
                Source::Here { match_id } => format!("match {match_id}"),
                Source::Arena { arena, match_id } => format!("match {match_id} of {arena}"),
                Source::Foreign => "foreign".to_owned(),
            };
            format!("{place} {source}: {first}, {second}, {verdict:?}")
        }
        EventKind::Scored {
            match_id,
            players,
            standings,
        } => {
            let mut text = format!("{place} match {match_id}");
            for (player, standing) in players.iter().zip(&standings) {
                let sums = standing.tally;
                let (played, won, lost) = (sums.played(), sums.won, sums.lost);
                write!(text, ", {player} {played}:{won}:{lost}").unwrap();
            }
            text
        }
    }
}
