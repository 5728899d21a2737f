//! The invariants of the arena.

use turnstile_chassis::Faults;

use crate::{
    Game, Seat,
    arena::{Activity, Arena, Presence, matches::GameMatch},
    limits,
};

pub(super) fn examine(arena: &Arena, faults: &mut Faults) {
    let mut before = None;
    for slot in arena.matches.iter_open() {
        let found = arena.matches.at(slot);
        faults.unless(before <= Some(found.moved_at), || {
            format!("match {} is not in its place in the list", found.id)
        });
        before = Some(found.moved_at);
        faults.unless(found.ending.is_none(), || {
            format!("match {} is open and has ended", found.id)
        });
        let plays = |number: u32| {
            number < arena.guests.len()
                && arena.guests.at(number).activity == (Activity::Playing { slot })
        };
        faults.unless(found.seats.into_iter().all(plays), || {
            format!("match {} has other players than the state says", found.id)
        });
        examine_match(arena, found, faults);
    }
    for slot in arena.matches.iter_over() {
        let found = arena.matches.at(slot);
        faults.unless(found.ending.is_some() && found.offer.is_none(), || {
            format!("match {} is listed as ended and has not ended", found.id)
        });
        examine_match(arena, found, faults);
    }
    let over = arena.matches.iter_over().count();
    faults.unless(over <= limits::OVER_MATCHES_MAX as usize, || {
        format!("{over} matches that are over are remembered")
    });
    examine_guests(arena, faults);
    examine_queues(arena, faults);
    for (number, result) in arena.outbox.after(0) {
        let [first, second] = result.players;
        faults.unless(first != second, || {
            format!("result {number} is of one player")
        });
    }
}

fn examine_match(arena: &Arena, found: &GameMatch, faults: &mut Faults) {
    let [first, second] = found.board.stones;
    let cells = found.game.shape().cells();
    let inside = (0..cells).filter(|&cell| found.board.at(cell).is_some());
    let inside = u32::try_from(inside.count()).unwrap_or(u32::MAX);
    let moves = [found.ply.div_ceil(2), found.ply / 2].map(u32::from);
    let sound = [first.count(), second.count()] == moves && inside == u32::from(found.ply);
    faults.unless(sound, || {
        format!("the board of match {} is not of its moves", found.id)
    });
    let last = found.ply.checked_sub(1).map(Seat::to_move);
    let owner = found.last.and_then(|cell| found.board.at(cell));
    faults.unless(
        owner == last && found.last.is_some() == last.is_some(),
        || format!("the last move of match {} is invalid", found.id),
    );
    faults.unless(found.seq >= u32::from(found.ply), || {
        format!(
            "match {} has changed less often than it was moved in",
            found.id
        )
    });
    faults.unless((1..=arena.matches.begun()).contains(&found.id.0), || {
        format!("match {} never began", found.id)
    });
    let [one, other] = found.seats;
    faults.unless(one != other, || {
        format!("match {} is of one player", found.id)
    });
}

fn examine_guests(arena: &Arena, faults: &mut Faults) {
    let (mut away, mut playing) = (0, 0);
    for (number, (id, guest)) in (0..).zip(arena.guests.iter()) {
        let is_away = matches!(guest.presence, Presence::Away { .. });
        away += u32::from(is_away);
        let plays = matches!(guest.activity, Activity::Playing { .. });
        playing += u32::from(plays);
        faults.unless(plays || !is_away, || {
            format!("player {id} is away and has no match")
        });
        if let Activity::Challenging { opponent, game } = guest.activity {
            let known = opponent < arena.guests.len() && opponent != number;
            let back = Activity::Challenging {
                opponent: number,
                game,
            };
            let met = known && arena.guests.at(opponent).activity == back;
            faults.unless(known && !met, || {
                format!("{id} waits for an opponent who is unknown or not waiting back")
            });
        }
        faults.unless(guest.rating <= limits::RATING_MAX, || {
            format!("the rating of {id} is out of range")
        });
    }
    faults.unless(away == arena.away.len(), || {
        "not all who are away stand in their line".to_owned()
    });
    faults.unless(playing == 2 * arena.matches.open(), || {
        "not all who play are in a match".to_owned()
    });
    let since = |number| arena.away_since(number);
    let line: Vec<_> = arena.away.iter(&arena.guests).map(since).collect();
    faults.unless(line.is_sorted() && line.iter().all(Option::is_some), || {
        "the list of players who are away is not in order".to_owned()
    });
}

fn examine_queues(arena: &Arena, faults: &mut Faults) {
    let mut waiting = 0;
    for (game, queue) in Game::ALL.into_iter().zip(&arena.queues) {
        let tickets = queue.tickets();
        waiting += tickets.len();
        let since = tickets.iter().map(|ticket| ticket.since);
        faults.unless(since.is_sorted(), || {
            format!("the queue for {} is out of order", game.code())
        });
        faults.unless(tickets.len() <= limits::TICKETS_MAX as usize, || {
            format!("more players wait for {} than ratings allow", game.code())
        });
        let sound = tickets.iter().all(|ticket| {
            ticket.rating <= limits::RATING_MAX
                && arena.guests.at(ticket.player).activity == (Activity::Seeking { game })
        });
        faults.unless(sound, || {
            format!("a player in the queue for {} seeks no game", game.code())
        });
    }
    let seeking = arena.guests.iter();
    let seeking = seeking.filter(|(_, guest)| matches!(guest.activity, Activity::Seeking { .. }));
    faults.unless(waiting == seeking.count(), || {
        "a player who seeks any opponent has no ticket".to_owned()
    });
}

#[cfg(test)]
mod tests {
    use turnstile_types::Timestamp;

    use super::*;
    use crate::{
        Ending, MatchId, PlayerId, Verdict,
        arena::{ArenaPlayer, queue::Seeker},
        outbox::MatchResult,
        rules::{self, CellSet},
    };

    fn id(name: &str) -> PlayerId {
        PlayerId::parse(name.as_bytes()).unwrap()
    }

    fn ticket(player: u32, since: u64) -> Seeker {
        Seeker {
            player,
            rating: 1_500,
            since: Timestamp(since),
        }
    }

    /// A match of ada and bob with a move, one that cem has left and dan plays, one that is over, eva who
    /// seeks anybody, and fay who waits for ada.
    fn lived_in() -> Arena {
        let mut arena = Arena::new();
        for name in ["ada", "bob", "cem", "dan", "eva", "fay", "gus", "hal"] {
            arena.guests.enroll(id(name), ArenaPlayer::new());
        }
        let over = arena.begin(Timestamp(1), Game::Gomoku, [0, 1]);
        arena.matches.end(over, Ending::Full);
        for (now, seats) in [(2, [0, 1]), (3, [2, 3])] {
            let slot = arena.begin(Timestamp(now), Game::TicTacToe, seats);
            let found = arena.matches.at_mut(slot);
            let board = &found.board;
            let played = rules::play(found.game, board, Seat::First, 5).unwrap();
            found.seq = 1;
            let at = Timestamp(now + 10);
            arena.matches.moved(slot, at, Seat::First, &played);
        }
        arena.leave(2, Timestamp(20));
        let game = Game::Gomoku;
        for (player, since) in [(4, 30), (6, 31)] {
            arena.queue_mut(game).push(ticket(player, since));
            arena.guests.at_mut(player).activity = Activity::Seeking { game };
        }
        arena.guests.at_mut(5).activity = Activity::Challenging { opponent: 0, game };
        arena.outbox.put(MatchResult {
            match_id: MatchId(1),
            game,
            players: [id("ada"), id("bob")],
            verdict: Verdict::Drawn,
        });
        arena
    }

    /// The match of ada and bob.
    fn played(arena: &mut Arena) -> &mut GameMatch {
        let slot = arena.matches.find(MatchId(2)).unwrap();
        arena.matches.at_mut(slot)
    }

    /// The one that is over.
    fn over(arena: &mut Arena) -> &mut GameMatch {
        let slot = arena.matches.find(MatchId(1)).unwrap();
        arena.matches.at_mut(slot)
    }

    /// What is told, and what is planted.
    type Fault = (&'static str, fn(&mut Arena));

    #[test]
    fn each_fault_of_a_match_is_told() {
        told(&[
            ("match 3 is not in its place", |arena| {
                played(arena).moved_at = Timestamp(99);
            }),
            ("match 2 is open and has ended", |arena| {
                played(arena).ending = Some(Ending::Full);
            }),
            ("match 2 has other players", |arena| {
                played(arena).seats = [0, 7];
            }),
            ("match 2 has other players", |arena| {
                played(arena).seats = [0, 8];
            }),
            ("match 2 has other players", |arena| {
                arena.guests.at_mut(1).activity = Activity::Playing { slot: 9 };
            }),
            ("match 1 is listed as ended", |arena| {
                over(arena).ending = None
            }),
            ("match 1 is listed as ended", |arena| {
                over(arena).offer = Some(Seat::First);
            }),
            ("the board of match 2 is not", |arena| played(arena).ply = 2),
            ("the board of match 2 is not", |arena| {
                let board = &mut played(arena).board;
                board.stones = [board.stones[1], board.stones[0]];
            }),
            ("the board of match 2 is not", |arena| {
                let outside = CellSet([1 << 20, 0, 0, 0]);
                played(arena).board.stones[0] = outside;
            }),
            ("the last move of match 2", |arena| {
                played(arena).last = Some(0);
            }),
            ("the last move of match 2", |arena| {
                played(arena).last = None
            }),
            ("the last move of match 1", |arena| {
                over(arena).last = Some(0);
            }),
            ("match 2 has changed less often", |arena| {
                played(arena).seq = 0;
            }),
            ("match 3 never began", |arena| {
                arena.matches.restore_last(MatchId(2));
            }),
            ("match 1 is of one player", |arena| {
                over(arena).seats = [1, 1];
            }),
        ]);
    }

    #[test]
    fn each_fault_of_those_who_wait_is_told() {
        told(&[
            ("hal is away and has no match", |arena| {
                arena.leave(7, Timestamp(21));
            }),
            ("waits for an opponent", |arena| {
                arena.guests.at_mut(5).activity = Activity::Challenging {
                    opponent: 8,
                    game: Game::Gomoku,
                };
            }),
            ("waits for an opponent", |arena| {
                arena.guests.at_mut(5).activity = Activity::Challenging {
                    opponent: 5,
                    game: Game::Gomoku,
                };
            }),
            ("waits for an opponent", |arena| {
                let game = Game::Gomoku;
                arena.guests.at_mut(5).activity = Activity::Challenging { opponent: 7, game };
                arena.guests.at_mut(7).activity = Activity::Challenging { opponent: 5, game };
            }),
            ("the rating of hal is out of range", |arena| {
                arena.guests.at_mut(7).rating = limits::RATING_MAX + 1;
            }),
            ("stand in their line", |arena| {
                let presence = Presence::Away {
                    since: Timestamp(22),
                };
                arena.guests.at_mut(3).presence = presence;
            }),
            ("not all who play", |arena| {
                arena.guests.at_mut(7).activity = Activity::Playing { slot: 0 };
            }),
            ("who are away is not in order", |arena| {
                arena.leave(3, Timestamp(19));
            }),
            ("who are away is not in order", |arena| {
                arena.guests.at_mut(2).presence = Presence::Here;
            }),
            ("the queue for gomoku is out of order", |arena| {
                arena.queue_mut(Game::Gomoku).remove(4);
                arena.queue_mut(Game::Gomoku).push(ticket(4, 30));
            }),
            ("queue for gomoku seeks no game", |arena| {
                arena.guests.at_mut(4).activity = Activity::Idle;
            }),
            ("queue for gomoku seeks no game", |arena| {
                arena.queue_mut(Game::Gomoku).remove(4);
                arena.queue_mut(Game::Gomoku).push(Seeker {
                    rating: limits::RATING_MAX + 1,
                    ..ticket(4, 32)
                });
            }),
            ("who seeks any opponent has no ticket", |arena| {
                arena.queue_mut(Game::Gomoku).remove(4);
            }),
            ("result 1 is of one player", |arena| {
                arena.outbox.kept[0].players = [id("ada"); 2];
            }),
        ]);
    }

    fn told(faults: &[Fault]) {
        let examined = |arena: &Arena| {
            let mut faults = Faults::default();
            examine(arena, &mut faults);
            faults.verdict()
        };
        assert_eq!(examined(&lived_in()), Ok(()));
        for (sentence, plant) in faults {
            let mut arena = lived_in();
            plant(&mut arena);
            let told = examined(&arena).unwrap_err().join("; ");
            assert!(told.contains(sentence), "not \"{sentence}\": {told}");
        }
    }
}
