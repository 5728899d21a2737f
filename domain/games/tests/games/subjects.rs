//! What requests need of their callers, and which players they are about.

use turnstile_chassis::{Needed, Needs as _, Right, Subject, SubjectOf as _};
use turnstile_games::{Command, Deed, Game, Games, MatchId, Measure, Query, Settings, Verdict};
use turnstile_types::{Machine, Name};

use crate::scenery::{act, begin, id, move_to};

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

fn check_command(command: &Command, right: Right, subject: Subject) {
    let needed = Needed {
        opens: matches!(
            command,
            Command::Challenge { .. } | Command::Seek { .. } | Command::Begin { .. }
        ),
        ..Needed::only(right)
    };
    let found = (command.needed(), Games::empty().subject_of(command));
    assert_eq!(found, (needed, subject), "{command:?}");
}

#[test]
fn a_player_is_played_by_its_user_and_a_manager_begins_matches_of_others() {
    let (player, opponent, game) = (id("ada"), id("bob"), Game::TicTacToe);
    let own = [
        Command::Challenge {
            player,
            opponent,
            game,
        },
        Command::Seek { player, game },
        Command::Withdraw { player },
        act(1, "ada", move_to(0, 1)),
        act(1, "ada", Deed::Resign),
        act(1, "ada", Deed::ClaimWin),
        Command::Connect { player },
        Command::Disconnect { player },
    ];
    for command in own {
        check_command(&command, Right::Use, Subject::of(name("ada")));
    }
    let both = [
        begin(game, "ada", "bob"),
        Command::Report {
            players: [player, opponent],
            verdict: Verdict::Drawn,
        },
    ];
    for command in both {
        let subject = Subject::of_both(name("ada"), name("bob"));
        check_command(&command, Right::Manage, subject);
    }
    for command in [Command::Restarted, Command::Configure(Settings::FIRST)] {
        check_command(&command, Right::Manage, Subject::All);
    }
}

#[test]
fn matches_and_standings_are_public_and_what_a_player_does_is_not() {
    let (player, game, measure) = (id("ada"), Game::TicTacToe, Measure::Elo);
    let (cursor, limit) = (None, 1);
    let public = [
        Query::Match {
            match_id: MatchId(1),
        },
        Query::Matches { after: None, limit },
        Query::Tickets { game },
        Query::Standing { player },
        Query::Against {
            player,
            opponent: id("bob"),
        },
        Query::Opponents {
            player,
            cursor,
            limit,
        },
        Query::Leaders {
            measure,
            cursor: None,
            limit,
        },
        Query::Around {
            measure,
            player,
            each_side: 1,
        },
        Query::Totals,
    ];
    let check = |query: &Query, subject| {
        let found = (query.needed(), Games::empty().subject_of_query(query));
        assert_eq!(found, (Needed::only(Right::Read), subject), "{query:?}");
    };
    for query in public {
        check(&query, Subject::Public);
    }
    check(&Query::Player { player }, Subject::of(name("ada")));
}
