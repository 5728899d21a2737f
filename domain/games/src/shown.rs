//! How doors show what is stored in another form: matches, standings and results.

use std::fmt;

use turnstile_chassis::{Field, Fields, Kind, NotWhole, Readable, Show, Value, Visitor};
use turnstile_types::Timestamp;

use crate::{Ending, Game, MatchId, MatchView, PlayerId, Ratings, Seat, Standing, Tally};

/// Gives a type the fields of another one that is made from it, as an object of this name.
macro_rules! show_as {
    ($type:ty, $shown:ident, $name:literal) => {
        impl Fields for $type {
            #[inline]
            fn visit(&self, visitor: &mut impl Visitor) {
                $shown::of(self).visit(visitor);
            }

            fn describe() -> Vec<Field> {
                $shown::describe()
            }
        }

        impl Value for $type {
            #[inline]
            fn show<S: Show>(&self, show: S) -> S::Out {
                show.object(&$shown::of(self))
            }

            fn kind() -> Kind {
                Kind::Object {
                    name: $name,
                    fields: <Self as Fields>::describe,
                }
            }
        }
    };
}

show_as!(MatchView, ShownMatch, "Match");
show_as!(Standing, ShownStanding, "Standing");
show_as!(Tally, ShownTally, "Tally");

#[derive(Fields)]
struct ShownMatch<'a> {
    /// Its number, from 1.
    #[field(name = "match")]
    id: MatchId,
    game: Game,
    /// The player who moves first.
    first: &'a PlayerId,
    second: &'a PlayerId,
    /// A letter for each cell, row by row from the top left: `x` for the first player, `o` for the
    /// second, `.` for an empty cell.
    board: Letters<'a>,
    /// Moves made: the `ply` of the next.
    ply: u16,
    /// Counts everything that changed in the match, from 0, without a gap.
    seq: u32,
    /// The cell of the last stone, from 1.
    last: Option<u16>,
    /// The player whose turn it is; not set when the match is over.
    to_move: Option<&'a PlayerId>,
    /// The player who offers a draw.
    offer: Option<&'a PlayerId>,
    /// Since when the first player is disconnected.
    first_away: Option<Timestamp>,
    /// Since when the second player is disconnected.
    second_away: Option<Timestamp>,
    /// When the last move was made, or the match began.
    moved_at: Timestamp,
    /// How it ended; `aborted` does not count.
    ending: Option<Ending>,
    winner: Option<&'a PlayerId>,
}

impl<'a> ShownMatch<'a> {
    #[inline]
    fn of(view: &'a MatchView) -> Self {
        let [first, second] = &view.players;
        let [first_away, second_away] = view.away;
        Self {
            id: view.id,
            game: view.game,
            first,
            second,
            board: Letters(view),
            ply: view.ply,
            seq: view.seq,
            last: view.last_cell(),
            to_move: view.seated(view.to_move()),
            offer: view.seated(view.offer),
            first_away,
            second_away,
            moved_at: view.moved_at,
            ending: view.ending,
            winner: view.seated(view.winner()),
        }
    }
}

/// The board of a match as text.
struct Letters<'a>(&'a MatchView);

/// The cells of the largest board.
const CELLS_MAX: usize = 225;

impl Value for Letters<'_> {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        let Self(view) = self;
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
        let board = board.expect("no board has more cells than the largest");
        show.text(str::from_utf8(board).expect("letters and points are ASCII"))
    }

    fn kind() -> Kind {
        Kind::Text("x...o....")
    }
}

#[derive(Fields)]
struct ShownTally {
    played: u64,
    won: u64,
    lost: u64,
    drawn: u64,
}

impl ShownTally {
    const fn of(tally: &Tally) -> Self {
        Self {
            played: tally.played(),
            won: tally.won,
            lost: tally.lost,
            drawn: tally.drawn,
        }
    }
}

/// A scores server of the original knows no ratings.
#[derive(Fields)]
struct ShownStanding {
    #[field(flatten)]
    tally: Tally,
    elo: Option<Milli>,
    /// The rating by Glicko-2.
    glicko: Option<Milli>,
    deviation: Option<Milli>,
    volatility: Option<Micro>,
}

impl ShownStanding {
    fn of(standing: &Standing) -> Self {
        let of = |part: fn(Ratings) -> i64| standing.ratings.map(part);
        Self {
            tally: standing.tally,
            elo: of(|ratings| ratings.elo_milli).map(Milli),
            glicko: of(|ratings| ratings.glicko.rating_milli()).map(Milli),
            deviation: of(|ratings| ratings.glicko.deviation_milli()).map(Milli),
            volatility: of(|ratings| ratings.glicko.volatility_micro()).map(Micro),
        }
    }
}

/// A number in thousandths, exactly, as text.
struct Milli(i64);

/// A number in millionths, exactly, as text.
struct Micro(i64);

impl Value for Milli {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(self)
    }

    fn kind() -> Kind {
        Kind::Text("1516.000")
    }
}

impl Value for Micro {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(self)
    }

    fn kind() -> Kind {
        Kind::Text("0.059999")
    }
}

impl fmt::Display for Milli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        put_parts(f, self.0, (1_000, 3))
    }
}

impl fmt::Display for Micro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        put_parts(f, self.0, (1_000_000, 6))
    }
}

/// Writes a number of such parts of one, of which so many digits stand behind the point.
fn put_parts(
    f: &mut fmt::Formatter<'_>,
    parts: i64,
    (of_one, digits): (u64, usize),
) -> fmt::Result {
    let sign = if parts < 0 { "-" } else { "" };
    let (whole, rest) = (parts.unsigned_abs() / of_one, parts.unsigned_abs() % of_one);
    write!(f, "{sign}{whole}.{rest:0digits$}")
}

/// The players of a result.
#[derive(Fields)]
pub(crate) struct Both {
    /// The player who moved first.
    first: PlayerId,
    second: PlayerId,
}

pub(crate) const fn both([first, second]: &[PlayerId; 2]) -> Both {
    Both {
        first: *first,
        second: *second,
    }
}

/// The number of an arena, in hexadecimal digits.
pub(crate) struct ArenaNumber(u64);

pub(crate) const fn arena(number: &u64) -> ArenaNumber {
    ArenaNumber(*number)
}

impl Value for ArenaNumber {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(&format_args!("{:016x}", self.0))
    }

    fn kind() -> Kind {
        Kind::Text("6441e0c564b1d2a7")
    }
}

/// Where the next page of a listing of matches begins.
pub(crate) struct AfterMatch(MatchId);

pub(crate) fn after(next: &Option<MatchId>) -> Option<AfterMatch> {
    next.map(AfterMatch)
}

impl Readable<'_> for AfterMatch {
    type Invalid = NotWhole;

    fn read(text: &[u8]) -> Result<Self, NotWhole> {
        MatchId::read(text).map(Self)
    }

    fn kind() -> Kind {
        Kind::Cursor
    }
}

impl From<AfterMatch> for MatchId {
    fn from(after: AfterMatch) -> Self {
        after.0
    }
}

impl Value for AfterMatch {
    fn show<S: Show>(&self, show: S) -> S::Out {
        let Self(MatchId(number)) = self;
        show.cursor(*number)
    }

    fn kind() -> Kind {
        Kind::Cursor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_are_told_exactly() {
        for (value, expected) in [(1_516_000, "1516.000"), (-1_005, "-1.005"), (-5, "-0.005")] {
            assert_eq!(Milli(value).to_string(), expected);
        }
        assert_eq!(Micro(59_999).to_string(), "0.059999");
    }
}
