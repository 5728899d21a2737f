//! The bytes of the whole state, in its one canonical form. Byte map: `docs/formats/games.md`.
//!
//! Players, pairs, matches and those who are away are written in the orders that count; all else
//! that is kept to find them sooner is derived again.

use turnstile_chassis::{NONE, Pieces, Wire, fields, kinds, put_count, read_all};
use turnstile_types::{Machine, Malformed, Reader, Sink};

use crate::{
    Game, Games, MatchId, PlayerId, Ratings, Seat, Tally,
    arena::{
        Activity, Arena, Guest, Presence,
        matches::Match,
        queue::{Queue, Ticket},
    },
    check,
    line::Links,
    outbox::Outbox,
    scores::{Record, Scores, pairs::Pair},
};

/// What a snapshot begins with: the machine and the version of the form.
const MAGIC: &[u8; 8] = b"games\0\0\x01";

pub(crate) fn write(games: &Games, out: &mut dyn Sink) {
    let mut pieces = Pieces::to(out);
    pieces.put(|out| {
        out.extend_from_slice(MAGIC);
        games.settings.put(out);
    });
    write_arena(&games.arena, &mut pieces);
    write_scores(&games.scores, &mut pieces);
    pieces.finish();
}

pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Games, Malformed> {
    if reader.take(MAGIC.len(), "magic")? != MAGIC {
        return Err(Malformed { field: "magic" });
    }
    let mut games = Games::empty();
    games.settings = Wire::read(reader)?;
    games.arena = read_arena(reader)?;
    games.scores = read_scores(reader)?;
    check::examine(&games).map_err(|_violations| Malformed { field: "games" })?;
    Ok(games)
}

/// A player as written: what they wait for, and whether they are there. That they play stands in
/// the match, and that they look for anybody in the queue.
struct KeptGuest {
    id: PlayerId,
    presence: Presence,
    challenge: Option<(u32, Game)>,
    rating: u32,
}

fields!(KeptGuest {
    id,
    presence,
    challenge,
    rating
});

kinds!(Presence {
    0x00 Unknown,
    0x01 Here,
    0x02 Away { since },
});

fields!(Ticket {
    player,
    rating,
    since
});

fields!(Outbox { acknowledged, kept });

impl Wire for Match {
    fn put(&self, out: &mut Vec<u8>) {
        self.id.put(out);
        self.game.put(out);
        self.seats.put(out);
        self.board.put(out);
        self.ply.put(out);
        self.seq.put(out);
        self.last.put(out);
        self.offer.put(out);
        self.moved_at.put(out);
        self.ending.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            id: Wire::read(reader)?,
            game: Wire::read(reader)?,
            seats: Wire::read(reader)?,
            board: Wire::read(reader)?,
            ply: Wire::read(reader)?,
            seq: Wire::read(reader)?,
            last: Wire::read(reader)?,
            offer: Wire::read(reader)?,
            moved_at: Wire::read(reader)?,
            ending: Wire::read(reader)?,
            links: Links::NONE,
        })
    }
}

fn write_arena(arena: &Arena, pieces: &mut Pieces<'_>) {
    pieces.put(|out| {
        MatchId(arena.matches.begun()).put(out);
        arena.moves.put(out);
        arena.guests.len().put(out);
    });
    for (id, guest) in arena.guests.iter() {
        let challenge = match guest.activity {
            Activity::Challenging { opponent, game } => Some((opponent, game)),
            Activity::Idle | Activity::Seeking { .. } | Activity::Playing { .. } => None,
        };
        let kept = KeptGuest {
            id,
            presence: guest.presence,
            challenge,
            rating: guest.rating,
        };
        pieces.put(|out| kept.put(out));
    }
    write_matches(arena, arena.matches.iter_open(), pieces);
    write_matches(arena, arena.matches.iter_over(), pieces);
    pieces.put(|out| {
        arena.away.len().put(out);
        let away = arena.away.iter(&arena.guests);
        away.for_each(|number| number.put(out));
    });
    for queue in &arena.queues {
        pieces.put(|out| {
            put_count(queue.tickets().len(), out);
            queue.tickets().iter().for_each(|ticket| ticket.put(out));
        });
    }
    pieces.put(|out| arena.outbox.put(out));
}

fn write_matches(arena: &Arena, slots: impl Iterator<Item = u32>, pieces: &mut Pieces<'_>) {
    let slots: Vec<u32> = slots.collect();
    pieces.put(|out| put_count(slots.len(), out));
    for slot in slots {
        pieces.put(|out| arena.matches.at(slot).put(out));
    }
}

fn read_arena(reader: &mut Reader<'_>) -> Result<Arena, Malformed> {
    let mut arena = Arena::new();
    arena.matches.restore_last(Wire::read(reader)?);
    arena.moves = Wire::read(reader)?;
    let field = "player";
    read_all(reader, |kept: KeptGuest| {
        Malformed::unless(arena.guests.find(&kept.id).is_none(), field)?;
        let guest = Guest {
            activity: kept.challenge.map_or(Activity::Idle, |(opponent, game)| {
                Activity::Challenging { opponent, game }
            }),
            presence: kept.presence,
            rating: kept.rating,
            ..Guest::new()
        };
        arena.guests.enroll(kept.id, guest);
        Ok(())
    })?;
    for over in [false, true] {
        read_all(reader, |one: Match| arena.take_match(one, over))?;
    }
    read_all(reader, |number: u32| {
        let guest = arena.idle_or_busy(number)?;
        let is_away = matches!(guest.presence, Presence::Away { .. });
        // Whoever stands in the line has somebody before, or is the first.
        let is_new = arena.away.first() != Some(number) && guest.links.before == NONE;
        Malformed::unless(is_away && is_new, "away")?;
        arena.away.join(&mut arena.guests, number);
        Ok(())
    })?;
    for game in Game::ALL {
        let mut queue = Queue::new();
        read_all(reader, |ticket: Ticket| {
            let guest = arena.idle_or_busy(ticket.player)?;
            Malformed::unless(guest.activity == Activity::Idle, "ticket")?;
            arena.guests.at_mut(ticket.player).activity = Activity::Seeking { game };
            queue.push(ticket);
            Ok(())
        })?;
        *arena.queue_mut(game) = queue;
    }
    arena.outbox = Wire::read(reader)?;
    Ok(arena)
}

impl Arena {
    /// A player, if there are so many.
    fn idle_or_busy(&self, number: u32) -> Result<Guest, Malformed> {
        let known = number < self.guests.len();
        Malformed::unless(known, "number of a player")?;
        Ok(*self.guests.at(number))
    }

    fn take_match(&mut self, one: Match, over: bool) -> Result<(), Malformed> {
        let field = "match";
        Malformed::unless(one.ending.is_some() == over, field)?;
        Malformed::unless(self.matches.find(one.id).is_none(), field)?;
        for seat in Seat::BOTH {
            let guest = self.idle_or_busy(*seat.of(&one.seats))?;
            Malformed::unless(over || guest.activity == Activity::Idle, field)?;
        }
        let slot = self.matches.restore(one);
        for number in one.seats.into_iter().filter(|_| !over) {
            self.guests.at_mut(number).activity = Activity::Playing { slot };
        }
        Ok(())
    }
}

/// A player's record as written: the pairs say what is won and lost.
struct KeptRecord {
    id: PlayerId,
    ratings: Ratings,
}

fields!(KeptRecord { id, ratings });

/// A pair as written: who became a part of which before follows from the order.
struct KeptPair {
    players: [u32; 2],
    won: [u64; 2],
    drawn: u64,
}

fields!(KeptPair {
    players,
    won,
    drawn
});

fn write_scores(scores: &Scores, pieces: &mut Pieces<'_>) {
    pieces.put(|out| {
        scores.results.put(out);
        scores.arenas.put(out);
        scores.records.len().put(out);
    });
    for (id, record) in scores.records.iter() {
        let ratings = record.ratings();
        pieces.put(|out| KeptRecord { id, ratings }.put(out));
    }
    pieces.put(|out| scores.pairs.len().put(out));
    for pair in scores.pairs.iter() {
        let &Pair {
            players,
            won,
            drawn,
            before: _,
        } = pair;
        let kept = KeptPair {
            players,
            won,
            drawn,
        };
        pieces.put(|out| kept.put(out));
    }
}

fn read_scores(reader: &mut Reader<'_>) -> Result<Scores, Malformed> {
    let mut scores = Scores::new();
    scores.results = Wire::read(reader)?;
    scores.arenas = Wire::read(reader)?;
    let mut kept = Vec::new();
    read_all(reader, |record: KeptRecord| {
        kept.push(record);
        Ok(())
    })?;
    let mut tallies = vec![(Tally::NONE, NONE); kept.len()];
    read_all(reader, |pair: KeptPair| {
        scores.take_pair(&pair, &mut tallies)
    })?;
    for (KeptRecord { id, ratings }, (tally, newest_pair)) in kept.into_iter().zip(tallies) {
        Malformed::unless(scores.records.find(&id).is_none(), "player")?;
        let record = Record {
            tally,
            elo: ratings.elo_milli,
            glicko: ratings.glicko,
            newest_pair,
        };
        scores.enroll(id, record);
    }
    Ok(scores)
}

impl Scores {
    /// Adds the next pair, and what it says of its players.
    fn take_pair(
        &mut self,
        kept: &KeptPair,
        tallies: &mut [(Tally, u32)],
    ) -> Result<(), Malformed> {
        let field = "pair";
        let [first, second] = kept.players;
        Malformed::unless(first < second, field)?;
        Malformed::unless(self.pairs.find(kept.players).is_none(), field)?;
        let mut before = [NONE; 2];
        let row = self.pairs.len();
        for seat in Seat::BOTH {
            let number = usize::try_from(*seat.of(&kept.players)).expect("32 bits fit");
            let (tally, newest) = tallies.get_mut(number).ok_or(Malformed { field })?;
            *seat.of_mut(&mut before) = std::mem::replace(newest, row);
            let [own, others] = [seat, seat.other()].map(|seat| *seat.of(&kept.won));
            let sum = |one: u64, other: u64| one.checked_add(other).ok_or(Malformed { field });
            *tally = Tally {
                won: sum(tally.won, own)?,
                lost: sum(tally.lost, others)?,
                drawn: sum(tally.drawn, kept.drawn)?,
            };
        }
        let row = self.pairs.add(kept.players, before);
        let pair = self.pairs.at_mut(row);
        (pair.won, pair.drawn) = (kept.won, kept.drawn);
        Ok(())
    }
}
