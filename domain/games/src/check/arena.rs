//! The invariants of the arena.

use turnstile_chassis::Faults;

use crate::{
    Game, Seat,
    arena::{Activity, Arena, Presence, matches::Match},
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

fn examine_match(arena: &Arena, found: &Match, faults: &mut Faults) {
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
