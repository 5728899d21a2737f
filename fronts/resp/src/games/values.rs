//! The values in replies.

use turnstile_games::{MatchView, Seat, Standing, Tally, TicketView, WaitReason};
use turnstile_types::Timestamp;

use crate::{
    Encoder,
    verdict::{Put, put_map},
};

/// A value of a field.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Text(&'a str),
    Number(u64),
    Boolean(bool),
    Instant(Timestamp),
    /// A number in thousandths, exactly, as text.
    Milli(i64),
    /// A number in millionths, exactly, as text.
    Micro(i64),
    Board(&'a MatchView),
    State(&'a MatchView),
    Ticket(&'a TicketView),
    Standings(&'a [Standing; 2]),
    /// What could stand there does not.
    Nothing,
}

/// A field's name and its value.
pub(super) type Field<'a> = crate::verdict::Field<Value<'a>>;

impl<'a> Value<'a> {
    pub(super) fn count(count: u32) -> Self {
        Self::Number(u64::from(count))
    }

    fn instant(instant: Option<Timestamp>) -> Self {
        instant.map_or(Self::Nothing, Self::Instant)
    }

    /// Who sits there.
    fn seated(view: &'a MatchView, seat: Option<Seat>) -> Self {
        let player = seat.map(|seat| seat.of(&view.players));
        player.map_or(Self::Nothing, |player| Self::Text(player.as_str()))
    }

    /// The last stone's cell, from 1 as moves name it.
    fn last(view: &MatchView) -> Self {
        let cell = view.last.map(|cell| u64::from(cell) + 1);
        cell.map_or(Self::Nothing, Self::Number)
    }
}

impl Put for Value<'_> {
    #[inline]
    fn put(&self, reply: &mut Encoder<'_>) {
        match *self {
            Self::Text(text) => reply.text(text),
            Self::Number(number) => reply.integer(number),
            Self::Boolean(value) => reply.boolean(value),
            Self::Instant(instant) => reply.shown(instant),
            Self::Milli(milli) => put_parts(reply, milli, 3),
            Self::Micro(micro) => put_parts(reply, micro, 6),
            Self::Board(view) => put_board(reply, view),
            Self::State(view) => put_map(reply, &state_fields(view)),
            Self::Ticket(view) => put_map(reply, &ticket_fields(view)),
            Self::Standings(standings) => {
                reply.array(standings.len());
                for standing in standings {
                    put_map(reply, &standing_fields(standing));
                }
            }
            Self::Nothing => reply.null(),
        }
    }
}

fn put_parts(reply: &mut Encoder<'_>, parts: i64, digits: usize) {
    let sign = if parts < 0 { "-" } else { "" };
    let (unit, parts) = (
        if digits == 3 { 1_000 } else { 1_000_000 },
        parts.unsigned_abs(),
    );
    let (whole, rest) = (parts / unit, parts % unit);
    reply.shown(format_args!("{sign}{whole}.{rest:0digits$}"));
}

/// The cells of the largest board.
const CELLS_MAX: usize = 225;

/// A letter for each cell, row by row from the top left: `x` for whoever moved first, `o` for the
/// other, `.` where nothing lies.
fn put_board(reply: &mut Encoder<'_>, view: &MatchView) {
    let mut letters = [b'.'; CELLS_MAX];
    let cells = view.game.shape().cells();
    for (cell, letter) in (0..cells).zip(letters.iter_mut()) {
        match view.board.at(cell) {
            Some(Seat::First) => *letter = b'x',
            Some(Seat::Second) => *letter = b'o',
            None => {}
        }
    }
    let board = letters.get(..usize::from(cells));
    reply.bulk(board.expect("no board has more cells than the largest"));
}

/// All that a player or a spectator needs to go on from here.
fn state_fields(view: &MatchView) -> [Field<'_>; 15] {
    let [first, second] = &view.players;
    let [first_away, second_away] = view.away;
    let ending = view.ending;
    let winner = ending.and_then(|ending| ending.verdict()?.winner());
    [
        ("match", Value::Number(view.id.0)),
        ("game", Value::Text(view.game.code())),
        ("first", Value::Text(first.as_str())),
        ("second", Value::Text(second.as_str())),
        ("board", Value::Board(view)),
        ("ply", Value::Number(view.ply.into())),
        ("seq", Value::count(view.seq)),
        ("last", Value::last(view)),
        ("to_move", Value::seated(view, view.to_move())),
        ("offer", Value::seated(view, view.offer)),
        ("first_away", Value::instant(first_away)),
        ("second_away", Value::instant(second_away)),
        ("moved_at", Value::Instant(view.moved_at)),
        (
            "ending",
            ending.map_or(Value::Nothing, |ending| Value::Text(ending.code())),
        ),
        ("winner", Value::seated(view, winner)),
    ]
}

/// What is new to somebody who did something in a match and knows how it was before.
#[inline]
pub(super) fn deed_fields(view: &MatchView) -> [Field<'_>; 7] {
    let ending = view.ending;
    let winner = ending.and_then(|ending| ending.verdict()?.winner());
    [
        ("match", Value::Number(view.id.0)),
        ("ply", Value::Number(view.ply.into())),
        ("seq", Value::count(view.seq)),
        ("last", Value::last(view)),
        ("to_move", Value::seated(view, view.to_move())),
        (
            "ending",
            ending.map_or(Value::Nothing, |ending| Value::Text(ending.code())),
        ),
        ("winner", Value::seated(view, winner)),
    ]
}

fn ticket_fields(view: &TicketView) -> [Field<'_>; 9] {
    let (difference, matched_at) = match view.reason {
        WaitReason::Alone => (None, None),
        WaitReason::TooFarApart {
            difference,
            matched_at,
        } => (Some(difference), Some(matched_at)),
    };
    [
        ("player", Value::Text(view.player.as_str())),
        ("game", Value::Text(view.game.code())),
        ("rating", Value::count(view.rating)),
        ("since", Value::Instant(view.since)),
        ("window", Value::count(view.window)),
        ("widens_at", Value::instant(view.widens_at)),
        ("reason", Value::Text(view.reason.code())),
        (
            "difference",
            difference.map_or(Value::Nothing, Value::count),
        ),
        ("matched_at", Value::instant(matched_at)),
    ]
}

/// How often somebody has won, lost and drawn.
pub(super) fn tally_fields(tally: Tally) -> [Field<'static>; 4] {
    [
        ("played", Value::Number(tally.played())),
        ("won", Value::Number(tally.won)),
        ("lost", Value::Number(tally.lost)),
        ("drawn", Value::Number(tally.drawn)),
    ]
}

/// How somebody stands. There are no ratings where a foreign scores server counts.
pub(super) fn standing_fields(standing: &Standing) -> [Field<'static>; 8] {
    let [played, won, lost, drawn] = tally_fields(standing.tally);
    let ratings = standing.ratings.map(|ratings| {
        let glicko = ratings.glicko;
        [
            Value::Milli(ratings.elo_milli),
            Value::Milli(glicko.rating_milli()),
            Value::Milli(glicko.deviation_milli()),
            Value::Micro(glicko.volatility_micro()),
        ]
    });
    let [elo, rating, deviation, volatility] = ratings.unwrap_or([Value::Nothing; 4]);
    [
        played,
        won,
        lost,
        drawn,
        ("elo", elo),
        ("glicko", rating),
        ("deviation", deviation),
        ("volatility", volatility),
    ]
}
