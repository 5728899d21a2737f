//! The bytes of the whole state, in its one canonical form. Byte map: `docs/formats/games.md`.
//!
//! Players, pairs, matches and those who are away are written in the orders that count; all else
//! that is kept to find them sooner is derived again.

use turnstile_chassis::{Bytes, Decode, Encode, NONE, Pieces, put_count, read_all};
use turnstile_types::{Machine, Malformed, Reader, Sink};

use crate::{
    Game, Games, MatchId, PlayerId, Ratings, Seat, Tally,
    arena::{
        Activity, Arena, ArenaPlayer, Presence,
        matches::GameMatch,
        queue::{Seeker, SeekerQueue},
    },
    check,
    line::Links,
    scores::{Record, Scores, pairs::Pair},
};

/// What a snapshot begins with: the machine and the version of the form.
const MAGIC: &[u8; 8] = b"games\0\0\x01";

pub(crate) fn write(games: &Games, out: &mut dyn Sink) {
    let mut pieces = Pieces::to(out);
    pieces.put(|out| {
        out.extend_from_slice(MAGIC);
        games.settings.encode(out);
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
    games.settings = Decode::decode(reader, "settings")?;
    games.arena = read_arena(reader)?;
    games.scores = read_scores(reader)?;
    check::examine(&games).map_err(|_violations| Malformed { field: "games" })?;
    Ok(games)
}

/// A player as written: what they wait for, and whether they are there. That they play stands in
/// the match, and that they look for anybody in the queue.
#[derive(Bytes)]
struct KeptGuest {
    id: PlayerId,
    presence: Presence,
    challenge: Option<(u32, Game)>,
    rating: u32,
}

impl Encode for GameMatch {
    fn encode(&self, out: &mut Vec<u8>) {
        self.id.encode(out);
        self.game.encode(out);
        self.seats.encode(out);
        self.board.encode(out);
        self.ply.encode(out);
        self.seq.encode(out);
        self.last.encode(out);
        self.offer.encode(out);
        self.moved_at.encode(out);
        self.ending.encode(out);
    }
}

impl Decode<'_> for GameMatch {
    fn decode(reader: &mut Reader<'_>, _field: &'static str) -> Result<Self, Malformed> {
        Ok(Self {
            id: Decode::decode(reader, "id")?,
            game: Decode::decode(reader, "game")?,
            seats: Decode::decode(reader, "seats")?,
            board: Decode::decode(reader, "board")?,
            ply: Decode::decode(reader, "ply")?,
            seq: Decode::decode(reader, "seq")?,
            last: Decode::decode(reader, "last")?,
            offer: Decode::decode(reader, "offer")?,
            moved_at: Decode::decode(reader, "moved at")?,
            ending: Decode::decode(reader, "ending")?,
            links: Links::NONE,
        })
    }
}

fn write_arena(arena: &Arena, pieces: &mut Pieces<'_>) {
    pieces.put(|out| {
        MatchId(arena.matches.begun()).encode(out);
        arena.moves.encode(out);
        arena.guests.len().encode(out);
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
        pieces.put(|out| kept.encode(out));
    }
    write_matches(arena, arena.matches.iter_open(), pieces);
    write_matches(arena, arena.matches.iter_over(), pieces);
    pieces.put(|out| {
        arena.away.len().encode(out);
        let away = arena.away.iter(&arena.guests);
        away.for_each(|number| number.encode(out));
    });
    for queue in &arena.queues {
        pieces.put(|out| {
            put_count(queue.tickets().len(), out);
            queue.tickets().iter().for_each(|ticket| ticket.encode(out));
        });
    }
    pieces.put(|out| arena.outbox.encode(out));
}

fn write_matches(arena: &Arena, slots: impl Iterator<Item = u32>, pieces: &mut Pieces<'_>) {
    let slots: Vec<u32> = slots.collect();
    pieces.put(|out| put_count(slots.len(), out));
    for slot in slots {
        pieces.put(|out| arena.matches.at(slot).encode(out));
    }
}

fn read_arena(reader: &mut Reader<'_>) -> Result<Arena, Malformed> {
    let mut arena = Arena::new();
    arena
        .matches
        .restore_last(Decode::decode(reader, "last match")?);
    arena.moves = Decode::decode(reader, "moves")?;
    let field = "player";
    read_all(reader, "player", |kept: KeptGuest| {
        Malformed::unless(arena.guests.find(&kept.id).is_none(), field)?;
        let guest = ArenaPlayer {
            activity: kept.challenge.map_or(Activity::Idle, |(opponent, game)| {
                Activity::Challenging { opponent, game }
            }),
            presence: kept.presence,
            rating: kept.rating,
            ..ArenaPlayer::new()
        };
        arena.guests.enroll(kept.id, guest);
        Ok(())
    })?;
    for over in [false, true] {
        read_all(reader, "match", |one: GameMatch| {
            arena.take_match(one, over)
        })?;
    }
    read_all(reader, "away", |number: u32| {
        let guest = arena.idle_or_busy(number)?;
        let is_away = matches!(guest.presence, Presence::Away { .. });
        // Whoever stands in the line has somebody before, or is the first.
        let is_new = arena.away.first() != Some(number) && guest.links.before == NONE;
        Malformed::unless(is_away && is_new, "away")?;
        arena.away.join(&mut arena.guests, number);
        Ok(())
    })?;
    for game in Game::ALL {
        let mut queue = SeekerQueue::new();
        read_all(reader, "ticket", |ticket: Seeker| {
            let guest = arena.idle_or_busy(ticket.player)?;
            Malformed::unless(guest.activity == Activity::Idle, "ticket")?;
            arena.guests.at_mut(ticket.player).activity = Activity::Seeking { game };
            queue.push(ticket);
            Ok(())
        })?;
        *arena.queue_mut(game) = queue;
    }
    arena.outbox = Decode::decode(reader, "outbox")?;
    Ok(arena)
}

impl Arena {
    /// A player, if there are so many.
    fn idle_or_busy(&self, number: u32) -> Result<ArenaPlayer, Malformed> {
        let known = number < self.guests.len();
        Malformed::unless(known, "number of a player")?;
        Ok(*self.guests.at(number))
    }

    fn take_match(&mut self, one: GameMatch, over: bool) -> Result<(), Malformed> {
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
#[derive(Bytes)]
struct KeptRecord {
    id: PlayerId,
    ratings: Ratings,
}

/// A pair as written: who became a part of which before follows from the order.
#[derive(Bytes)]
struct KeptPair {
    players: [u32; 2],
    won: [u64; 2],
    drawn: u64,
}

fn write_scores(scores: &Scores, pieces: &mut Pieces<'_>) {
    pieces.put(|out| {
        scores.results.encode(out);
        scores.arenas.encode(out);
        scores.records.len().encode(out);
    });
    for (id, record) in scores.records.iter() {
        let ratings = record.ratings();
        pieces.put(|out| KeptRecord { id, ratings }.encode(out));
    }
    pieces.put(|out| scores.pairs.len().encode(out));
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
        pieces.put(|out| kept.encode(out));
    }
}

fn read_scores(reader: &mut Reader<'_>) -> Result<Scores, Malformed> {
    let mut scores = Scores::new();
    scores.results = Decode::decode(reader, "results")?;
    scores.arenas = Decode::decode(reader, "arenas")?;
    let mut kept = Vec::new();
    read_all(reader, "player", |record: KeptRecord| {
        kept.push(record);
        Ok(())
    })?;
    let mut tallies = vec![(Tally::NONE, NONE); kept.len()];
    read_all(reader, "pair", |pair: KeptPair| {
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
