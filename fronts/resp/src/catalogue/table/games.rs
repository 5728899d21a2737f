//! The commands of games.

use super::{
    Action, Argument, CURSOR, KEY, Kind, LIMIT, READ, Syntax, WRITE, argument, container, integer,
    option, text, word,
};
use crate::games::Verb;

const MATCH: Argument = integer("match");
const PLAYER: Argument = text("player");
const OPPONENT: Argument = text("opponent");
const GAME: Argument = argument(
    "game",
    Kind::OneOf(&[
        word("tic-tac-toe", "tic-tac-toe"),
        word("connect-four", "connect-four"),
        word("gomoku", "gomoku"),
    ]),
);
const CLAIM: Argument = option(
    "CLAIM",
    argument(
        "claim",
        Kind::OneOf(&[
            word("ordinary", "ordinary"),
            word("wins", "wins"),
            word("fills", "fills"),
        ]),
    ),
);
const VERDICT: Argument = argument(
    "verdict",
    Kind::OneOf(&[
        word("first_won", "first_won"),
        word("second_won", "second_won"),
        word("drawn", "drawn"),
    ]),
);
const MEASURE: Argument = option(
    "BY",
    argument(
        "measure",
        Kind::OneOf(&[
            word("elo", "elo"),
            word("glicko", "glicko"),
            word("won", "won"),
        ]),
    ),
);

const fn service(
    verb: Verb,
    arguments: &'static [Argument],
    flags: &'static [&'static str],
    summary: &'static str,
) -> Syntax {
    Syntax {
        name: verb.name(),
        summary,
        group: "games",
        arguments,
        flags,
        action: Some(Action::Games(verb)),
        subcommands: &[],
    }
}

/// Something a player does in a match.
const fn deed(verb: Verb, summary: &'static str) -> Syntax {
    service(verb, &[MATCH, PLAYER, KEY], WRITE, summary)
}

/// Every command of games.
pub(super) const COMMANDS: [Syntax; 22] = [
    service(
        Verb::Move,
        &[MATCH, PLAYER, integer("ply"), integer("choice"), CLAIM, KEY],
        WRITE,
        "Moves: ply counts the moves seen, choice is a cell or a column from 1; one that comes too \
         late is answered with the state as it is",
    ),
    service(
        Verb::Begin,
        &[text("first"), text("second"), GAME, KEY],
        WRITE,
        "Begins a match of two who need not be asked; the first moves first",
    ),
    service(
        Verb::Challenge,
        &[PLAYER, OPPONENT, GAME, KEY],
        WRITE,
        "Names an opponent; the match begins when both have named each other",
    ),
    service(
        Verb::Seek,
        &[PLAYER, GAME, KEY],
        WRITE,
        "Looks for anybody about as strong; the ticket says why that still takes",
    ),
    service(
        Verb::Withdraw,
        &[PLAYER, KEY],
        WRITE,
        "Waits no longer, for an opponent or for anybody",
    ),
    deed(Verb::Resign, "Gives up"),
    deed(Verb::Abort, "Ends a match in which not both have moved"),
    container(
        "games.draw",
        "games",
        &[
            deed(Verb::OfferDraw, "Offers a draw, or takes the other's offer"),
            deed(Verb::AcceptDraw, "Takes the other's offer"),
            deed(Verb::DeclineDraw, "Turns the other's offer down"),
        ],
        "About draws",
    ),
    deed(
        Verb::ClaimWin,
        "Wins a match of which the other has been away, or late, for long enough",
    ),
    service(
        Verb::Connect,
        &[PLAYER, KEY],
        WRITE,
        "Says that a player is there, and shows the match to go on with",
    ),
    service(
        Verb::Disconnect,
        &[PLAYER, KEY],
        WRITE,
        "Says that a player is gone: whoever plays has a while to come back",
    ),
    service(
        Verb::Report,
        &[text("first"), text("second"), VERDICT, KEY],
        WRITE,
        "Counts the result of a match that was played elsewhere",
    ),
    service(
        Verb::Match,
        &[MATCH],
        READ,
        "Shows one match: all that is needed to go on from here",
    ),
    service(
        Verb::Matches,
        &[option("AFTER", MATCH), LIMIT],
        READ,
        "Lists the matches that are played",
    ),
    service(
        Verb::Player,
        &[PLAYER],
        READ,
        "Shows what a player does, and why a search still waits",
    ),
    service(
        Verb::Tickets,
        &[GAME],
        READ,
        "Lists everybody who looks for anybody",
    ),
    service(
        Verb::Standing,
        &[PLAYER],
        READ,
        "Shows what a player has won, lost and drawn, and the ratings",
    ),
    service(
        Verb::Against,
        &[PLAYER, OPPONENT],
        READ,
        "Shows what a player has won, lost and drawn against another",
    ),
    service(
        Verb::Opponents,
        &[PLAYER, LIMIT, CURSOR],
        READ,
        "Lists those a player has met, the one met first latest first",
    ),
    service(
        Verb::Leaders,
        &[MEASURE, LIMIT, CURSOR],
        READ,
        "Lists the best",
    ),
    service(
        Verb::Around,
        &[PLAYER, MEASURE, option("EACHSIDE", integer("count"))],
        READ,
        "Lists those who stand next to a player",
    ),
    service(Verb::Totals, &[], READ, "How much there is of everything"),
];
