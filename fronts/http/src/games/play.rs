//! The messages of a player's WebSocket: requests of clients, and answers.

use std::sync::LazyLock;

use serde::Serialize;
use turnstile_chassis::{Readable, Source as _};
use turnstile_games::{Command, Event, PlayerId, PlayerView};
use turnstile_json::Object;
use turnstile_types::Position;

use crate::{
    event::{EventId, since},
    given::Given,
    message::{Asked, Op, Plain, Rest, Tag, ops, read, text, wrong},
    problem::Problem,
};

/// What a message asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    Ping,
    /// What the player does now.
    Look,
    Command {
        command: Command,
        key: Option<Box<str>>,
    },
}

/// What is no command of games.
const OWN_OPS: [&str; 2] = ["ping", "look"];

/// The commands of a player, whom the socket knows.
static COMMANDS: LazyLock<Vec<Op>> = LazyLock::new(|| {
    let words = [
        "challenge",
        "seek",
        "withdraw",
        "move",
        "resign",
        "abort",
        "offer_draw",
        "accept_draw",
        "decline_draw",
        "claim_win",
    ];
    ops::<Command>(&words, &[PLAYER])
});

const PLAYER: &str = "player";

/// Who a socket is, and the event that the client saw last, if it comes back.
///
/// # Errors
/// Wrong parameters.
pub fn player_and_since<'a>(given: &'a Given<'a>) -> Result<(PlayerId, Option<EventId>), Problem> {
    given.read_with(|reader| {
        let player = reader.required(PLAYER, PlayerId::read);
        let since = since(reader);
        player.zip(since)
    })
}

/// Reads one message of a player.
#[must_use]
pub fn parse_message(text: &str, player: PlayerId) -> Asked<Wish> {
    read(text, |op, rest| wish(op, rest, player))
}

fn wish(op: &str, mut rest: Rest<'_>, player: PlayerId) -> Result<Wish, Problem> {
    match op {
        "ping" => return rest.finish().map(|()| Wish::Ping),
        "look" => return rest.finish().map(|()| Wish::Look),
        _ => {}
    }
    let Some(known) = COMMANDS.iter().find(|known| known.word == op) else {
        let commands = COMMANDS.iter().map(|known| known.word);
        let all: Vec<&str> = OWN_OPS.into_iter().chain(commands).collect();
        return Err(wrong("op", format_args!("one of {}", all.join(", "))));
    };
    let key = rest.key()?;
    let mut given = rest.given(&known.parameters);
    given.add_path(PLAYER, player.as_str());
    let command = given.read(known.place, ())?;
    Ok(Wish::Command { command, key })
}

#[derive(Serialize)]
struct State<'a> {
    epoch: &'a str,
    /// Everything up to here is in it.
    since: String,
    data: Object<'a, PlayerView>,
}

#[derive(Serialize)]
struct Happened<'a> {
    since: String,
    data: Object<'a, Event>,
}

#[derive(Serialize)]
struct Missed {
    missed: u64,
}

#[derive(Serialize)]
struct Reset {
    first: String,
}

/// What the player does at a position: all that is needed to go on from there.
#[must_use]
pub fn state(tag: Option<&Tag>, epoch: &str, at: Position, view: &PlayerView) -> String {
    text(&Plain {
        op: "state",
        id: tag,
        more: State {
            epoch,
            since: at.to_string(),
            data: Object(view),
        },
    })
}

/// One thing that happened.
#[must_use]
pub fn happened(event: &Event) -> String {
    let id = EventId::of((event.position, event.ordinal));
    text(&Plain {
        op: "event",
        id: None,
        more: Happened {
            since: id.to_string(),
            data: Object(event),
        },
    })
}

/// The client was too slow for `missed` events of the service; a state follows.
#[must_use]
pub fn lagged(missed: u64) -> String {
    text(&Plain {
        op: "lagged",
        id: None,
        more: Missed { missed },
    })
}

/// The events after the one that the client saw last are not kept any more: they begin here.
#[must_use]
pub fn reset(first: EventId) -> String {
    text(&Plain {
        op: "reset",
        id: None,
        more: Reset {
            first: first.to_string(),
        },
    })
}

#[cfg(test)]
mod tests {
    use turnstile_games::{ActivityView, Claim, Deed, Game, MatchId};

    use super::*;
    use crate::{games::tests::player, operation_at};

    #[test]
    fn a_message_becomes_a_wish_of_its_player() {
        let ada = player("ada");
        let plain = |command| Wish::Command { command, key: None };
        let act = |deed| Command::Act {
            match_id: MatchId(7),
            player: ada,
            deed,
        };
        let rows = [
            (r#"{"op":"ping"}"#, Wish::Ping),
            (r#"{"op":"look"}"#, Wish::Look),
            (
                r#"{"op":"challenge","opponent":"bob","game":"gomoku"}"#,
                plain(Command::Challenge {
                    player: ada,
                    opponent: player("bob"),
                    game: Game::Gomoku,
                }),
            ),
            (
                r#"{"game":"connect-four","op":"seek"}"#,
                plain(Command::Seek {
                    player: ada,
                    game: Game::ConnectFour,
                }),
            ),
            (
                r#"{"op":"withdraw"}"#,
                plain(Command::Withdraw { player: ada }),
            ),
            (
                r#"{"op":"move","match":7,"ply":2,"choice":5,"claim":"fills","key":"k"}"#,
                Wish::Command {
                    command: act(Deed::Move {
                        ply: 2,
                        choice: 5,
                        claim: Some(Claim::Fills),
                    }),
                    key: Some("k".into()),
                },
            ),
            (r#"{"op":"resign","match":7}"#, plain(act(Deed::Resign))),
            (r#"{"op":"abort","match":7}"#, plain(act(Deed::Abort))),
            (
                r#"{"op":"offer_draw","match":7}"#,
                plain(act(Deed::OfferDraw)),
            ),
            (
                r#"{"op":"accept_draw","match":7}"#,
                plain(act(Deed::AcceptDraw)),
            ),
            (
                r#"{"op":"decline_draw","match":7}"#,
                plain(act(Deed::DeclineDraw)),
            ),
            (
                r#"{"op":"claim_win","match":7}"#,
                plain(act(Deed::ClaimWin)),
            ),
        ];
        let commands = COMMANDS.iter().map(|known| known.word);
        let mut ops = OWN_OPS.into_iter().chain(commands);
        for (text, expected) in rows {
            let op = format!(r#""op":"{}""#, ops.next().unwrap());
            assert!(text.contains(&op), "every op is tried: {op}");
            let asked = parse_message(text, ada);
            assert_eq!((asked.tag, asked.wish), (None, Ok(expected)), "{text}");
        }
        assert_eq!(ops.next(), None);
    }

    /// A message, and the field and a part of the sentence of what is wrong with it.
    const WRONG: &str = r#"
{"op":"dance"} -> op one of ping, look
{"op":"look","x":1} -> x unknown
{"op":"challenge","opponent":"b c","game":"gomoku"} -> opponent 1 to 31 characters
{"op":"seek","game":"chess"} -> game one of tic-tac-toe
{"op":"seek","game":"gomoku","player":"bob"} -> player unknown
{"op":"move","match":7,"ply":0} -> choice missing
{"op":"move","match":7,"ply":-1,"choice":1} -> ply a whole number
{"op":"move","match":7,"ply":0,"choice":1,"claim":"luck"} -> claim one of ordinary, wins, fills
{"op":"resign"} -> match missing
{"op":"resign","match":7,"key":"a b"} -> key key
"#;

    #[test]
    fn a_wrong_message_is_told_what_is_wrong_and_where() {
        for row in WRONG.lines().skip(1) {
            let (text, expected) = row.split_once(" -> ").unwrap();
            let (field, part) = expected.split_once(' ').unwrap();
            let problem = parse_message(text, player("ada")).wish.unwrap_err();
            let [only] = &*problem.errors else {
                panic!("{row}: {problem:?}");
            };
            assert_eq!(only.field, field, "{row}: {only:?}");
            assert!(only.message.contains(part), "{row}: {only:?}");
        }
    }

    #[test]
    fn a_socket_names_its_player_and_where_it_was() {
        let operation = operation_at("GET", "/v1/games/play").unwrap();
        let parse = |query| {
            let mut given = Given::new(&operation.parameters);
            given.add_query(query);
            player_and_since(&given)
        };
        let since = EventId::parse("7.2").unwrap();
        let ada = player("ada");
        assert_eq!(parse("player=ada"), Ok((ada, None)));
        assert_eq!(parse("since=7.2&player=ada"), Ok((ada, Some(since))));
        let fields = |query| {
            let errors = parse(query).unwrap_err().errors.into_vec().into_iter();
            errors.map(|error| error.field).collect::<Vec<_>>()
        };
        assert_eq!(fields(""), ["player"]);
        assert_eq!(fields("player=&since=x"), ["player", "since"]);
    }

    #[test]
    fn a_state_says_where_to_go_on() {
        let view = PlayerView {
            player: player("ada"),
            connected: true,
            activity: ActivityView::Idle,
        };
        let tag = Tag::Number(4);
        assert_eq!(
            state(Some(&tag), "6e", Position(9), &view),
            r#"{"op":"state","id":4,"epoch":"6e","since":"9","data":{"player":"ada","connected":true,"activity":"idle"}}"#
        );
        assert_eq!(lagged(3), r#"{"op":"lagged","missed":3}"#);
        let first = EventId::of((Position(9), 0));
        assert_eq!(reset(first), r#"{"op":"reset","first":"9.0"}"#);
    }
}
