//! The hall: who waits and who plays at the arena's door, on the ancestor's wire.

pub(in crate::doors::arena) mod ordered;
mod table;

use std::collections::{HashMap, VecDeque};

use turnstile_duel::{Duel, DuelSeat, Greeting, Heard, Move, Player};
use turnstile_games::{
    Change, Command, Deed, Done, Event, EventKind, Game, Games, MatchId, MatchView, PlayerId,
    Query, Standing,
};
use turnstile_types::Timestamp;

use crate::{
    core::{conversation::Errand, engine::Engine},
    doors::duel::{DuelRefusal, decide, decide_as, name, triple},
};

use table::{OpenGame, Table, claim};

/// What is played here.
const GAME: Game = Game::TicTacToe;

/// Everybody at the arena's door.
///
/// A connection is a guest from its greeting on, and sits at a table once its opponent is there. The
/// rules, the turns and the results are the machine's; what is said on the wire, and when, is the
/// [`Duel`]'s; here is who is who. What is to be done with connections is noted as errands, for the
/// loop: what one client says makes another hear something.
///
/// The wire knows no way to come back to a game. So whoever leaves one resigns it, and both
/// connections end. Only when the server ends are games left as they are: then the machine gives
/// their players the grace, as it does to all.
#[derive(Debug, Default)]
pub(crate) struct Hall {
    guests: HashMap<Player, HallGuest>,
    tables: Vec<Option<Table>>,
    free: Vec<usize>,
    /// The matches of which the loop has to hear: those that are played, and those whose results
    /// a distant scores server has not counted.
    matches: HashMap<MatchId, usize>,
    errands: Vec<Errand>,
    /// Whose connection, at which place, has ended.
    left: Vec<(Player, usize)>,
    /// Whether the order of a shared log decides matches, which must then be followed for every guest.
    is_ordered: bool,
    /// Tables of players whose opponent is at another node, by the opponent.
    distant: HashMap<Player, usize>,
    /// Tables that may hear of something.
    ripe: VecDeque<usize>,
    /// Players who left while a match of theirs was asked for, and until when that is known.
    unwanted: HashMap<Player, Timestamp>,
}

#[derive(Debug)]
struct HallGuest {
    place: usize,
    opponent: Player,
    seat: Option<(usize, DuelSeat)>,
    /// Whether the order has been asked for the next match.
    is_beginning: bool,
}

impl Hall {
    /// Whether nobody is here who may have to hear what happens.
    pub(crate) fn is_empty(&self) -> bool {
        self.matches.is_empty() && (!self.is_ordered || self.guests.is_empty())
    }

    /// Whether there is something to do at the start of a turn.
    pub(crate) fn is_busy(&self) -> bool {
        !self.errands.is_empty() || !self.left.is_empty() || !self.ripe.is_empty()
    }

    pub(crate) fn take_errands(&mut self) -> Vec<Errand> {
        std::mem::take(&mut self.errands)
    }

    /// Gives back the memory of errands that are done.
    pub(crate) fn keep_room(&mut self, mut done: Vec<Errand>) {
        done.clear();
        if self.errands.is_empty() {
            self.errands = done;
        }
    }

    /// A connection has said who it is, and with whom it wants to play.
    pub(super) fn greet(
        &mut self,
        engine: &mut Engine,
        place: usize,
        greeting: Greeting,
    ) -> Result<(), DuelRefusal> {
        let Greeting { own, opponent } = greeting;
        if self.guests.contains_key(&own) {
            return Err(DuelRefusal::Connected(own));
        }
        let (player, other) = (name(own), name(opponent));
        let challenge = Command::Challenge {
            player,
            opponent: other,
            game: GAME,
        };
        let state = match decide(engine, &challenge)? {
            Done::Begun(state) => Some(state),
            _ => None,
        };
        decide(engine, &Command::Connect { player })?;
        let guest = HallGuest {
            place,
            opponent,
            seat: None,
            is_beginning: false,
        };
        self.guests.insert(own, guest);
        let Some(state) = state else { return Ok(()) };
        let game = OpenGame::of(&state);
        let waiting = self.guests.get(&opponent);
        let waits = waiting.filter(|guest| guest.seat.is_none() && guest.opponent == own);
        let Some(first) = waits.map(|guest| guest.place) else {
            let deed = Deed::Abort;
            act(engine, (game.match_id, player), deed)?;
            return Err(DuelRefusal::Elsewhere(opponent));
        };
        self.seat([(opponent, Some(first)), (own, Some(place))], game);
        Ok(())
    }

    /// Two sit down, the one who came first first. One may have a connection to another node.
    fn seat(&mut self, guests: [(Player, Option<usize>); 2], game: OpenGame) {
        let players = guests.map(|(player, _)| player);
        let table = Table {
            duel: Duel::default(),
            players,
            names: players.map(name),
            places: guests.map(|(_, place)| place),
            game: Some(game),
            standings: None,
            news: VecDeque::new(),
            spoken: 0,
        };
        let number = self.free.pop().unwrap_or(self.tables.len());
        if number == self.tables.len() {
            self.tables.push(None);
        }
        self.tables[number] = Some(table);
        self.matches.insert(game.match_id, number);
        for seat in DuelSeat::BOTH {
            let (player, place) = guests[seat.index()];
            if place.is_none() {
                self.distant.insert(player, number);
                continue;
            }
            let guest = self.guests.get_mut(&player);
            guest.expect("who sits down is a guest").seat = Some((number, seat));
        }
        self.say(number);
    }

    /// Where a guest sits, once the opponent is there.
    pub(super) fn seat_of(&self, player: Player) -> Option<(usize, DuelSeat)> {
        self.guests.get(&player)?.seat
    }

    /// Takes what a seat says at the front of `bytes`: its length, or nothing while it is not
    /// whole.
    pub(super) fn hear(
        &mut self,
        engine: &mut Engine,
        (number, seat): (usize, DuelSeat),
        bytes: &[u8],
    ) -> Result<Option<usize>, DuelRefusal> {
        let heard = self.table(number).duel.hear(seat, bytes)?;
        let Some((heard, length)) = heard else {
            return Ok(None);
        };
        match heard {
            Heard::Move(play) => self.play(engine, number, seat, play)?,
            Heard::Done => self.tell(engine, number),
        }
        Ok(Some(length))
    }

    /// Has a move decided. With the first, a game begins: those who end after a game have begun no
    /// other.
    fn play(
        &mut self,
        engine: &mut Engine,
        number: usize,
        seat: DuelSeat,
        play: Move,
    ) -> Result<(), DuelRefusal> {
        let table = self.table(number);
        let player = table.names[seat.index()];
        let place = table.places[seat.index()];
        let game = match table.game {
            Some(game) => game,
            None => {
                let players = [player, table.names[seat.other().index()]];
                let game = begin(engine, players)?;
                self.table(number).game = Some(game);
                self.matches.insert(game.match_id, number);
                game
            }
        };
        let deed = Deed::Move {
            ply: game.ply,
            choice: play.cell.number(),
            claim: Some(claim(play.claim)),
        };
        let state = act(engine, (game.match_id, player), deed)?;
        let table = self.table(number);
        if state.ending.is_none() {
            table.duel.accept();
            table.game = Some(OpenGame {
                ply: state.ply,
                ..game
            });
        } else {
            table.duel.accept_last();
            table.game = None;
            // Distant scores are heard of later, and by the number of the match.
            if engine.games().settings().roles.scores {
                self.matches.remove(&game.match_id);
            }
            self.errands
                .extend(place.map(|place| Errand::Acknowledge { place }));
        }
        self.say(number);
        Ok(())
    }

    /// Tells both how they stand, once both have asked and it is known.
    fn tell(&mut self, engine: &mut Engine, number: usize) {
        let table = self.table(number);
        if !table.duel.awaits_triples() {
            return;
        }
        let standings = if engine.games().settings().roles.scores {
            table.names.map(|player| standing(engine, player))
        } else {
            table
                .standings
                .take()
                .map_or([None; 2], |standings| standings.map(Some))
        };
        if let [Some(first), Some(second)] = standings {
            table.duel.tell(triple(first), triple(second));
            table.spoken = engine.counters.turns.get();
            if !table.news.is_empty() {
                self.ripe.push_back(number);
            }
            self.say(number);
        }
    }

    /// Notes what is to be sent.
    fn say(&mut self, number: usize) {
        let table = self.tables.get_mut(number).and_then(Option::as_mut);
        let table = table.expect("messages go to players of a table");
        while let Some((to, parcel)) = table.duel.next_parcel() {
            let place = table.places[to.index()];
            self.errands
                .extend(place.map(|place| Errand::Send { place, parcel }));
        }
    }

    /// A connection has ended; what that means is decided in the next turn.
    pub(crate) fn leave(&mut self, player: Player, place: usize) {
        self.left.push((player, place));
    }

    /// Decides what it means that connections have ended, and tells what the order has decided.
    pub(crate) fn see_off(&mut self, engine: &mut Engine) {
        self.tell_news(engine);
        for (player, place) in std::mem::take(&mut self.left) {
            let guest = self.guests.get(&player);
            if guest.is_none_or(|guest| guest.place != place) {
                continue;
            }
            if engine.cluster.is_some() {
                self.part_in_order(engine, player);
            } else if let Err(why) = self.part(engine, player) {
                tracing::warn!(%why, player = player.0, "cannot settle the match of a player who left");
            }
        }
    }

    fn part(&mut self, engine: &mut Engine, player: Player) -> Result<(), DuelRefusal> {
        let guest = self.guests.remove(&player);
        let Some((number, seat)) = guest.and_then(|guest| guest.seat) else {
            let player = name(player);
            return decide(engine, &Command::Disconnect { player }).map(drop);
        };
        let table = self.tables[number].take();
        let table = table.expect("a guest sits at a table that is there");
        self.free.push(number);
        self.matches.retain(|_, at| *at != number);
        let other = seat.other().index();
        self.guests.remove(&table.players[other]);
        let place = table.places[other];
        self.errands
            .extend(place.map(|place| Errand::Close { place }));
        if let Some(game) = table.game {
            let deed = if game.ply == 0 {
                Deed::Abort
            } else {
                Deed::Resign
            };
            act(engine, (game.match_id, table.names[seat.index()]), deed)?;
        }
        for player in table.names {
            decide(engine, &Command::Disconnect { player })?;
        }
        Ok(())
    }

    /// Hears what has happened in matches, now that it is durable.
    pub(crate) fn learn(&mut self, engine: &mut Engine, events: &[Event]) {
        if self.is_ordered {
            return self.follow(engine, events);
        }
        for event in events {
            match &event.kind {
                EventKind::Match {
                    change: Change::Ended,
                    state,
                } => self.close(state.id),
                EventKind::Scored {
                    match_id,
                    players,
                    standings,
                } => self.score(engine, *match_id, players, *standings),
                _ => {}
            }
        }
    }

    /// A match has ended otherwise than by a move, for which the wire has no word.
    fn close(&mut self, match_id: MatchId) {
        let Some(number) = self.matches.remove(&match_id) else {
            return;
        };
        tracing::info!(%match_id, "a match ended without a move: its connections are closed");
        let table = self.table(number);
        table.game = None;
        let places = table.places;
        let places = places.into_iter().flatten();
        self.errands
            .extend(places.map(|place| Errand::Close { place }));
    }

    /// A distant scores server has counted a match.
    fn score(
        &mut self,
        engine: &mut Engine,
        match_id: MatchId,
        players: &[PlayerId; 2],
        mut standings: [Standing; 2],
    ) {
        let Some(number) = self.matches.remove(&match_id) else {
            return;
        };
        let table = self.table(number);
        if *players != table.names {
            standings.reverse();
        }
        table.standings = Some(standings);
        self.tell(engine, number);
    }

    fn table(&mut self, number: usize) -> &mut Table {
        let table = self.tables.get_mut(number).and_then(Option::as_mut);
        table.expect("a table stays as long as a player sits at it")
    }
}

fn begin(engine: &mut Engine, players: [PlayerId; 2]) -> Result<OpenGame, DuelRefusal> {
    let game = GAME;
    let state = decide_as(
        engine,
        &Command::Begin { game, players },
        |done| match done {
            Done::Begun(state) => Some(state),
            _ => None,
        },
    )?;
    Ok(OpenGame::of(&state))
}

fn act(
    engine: &mut Engine,
    (match_id, player): (MatchId, PlayerId),
    deed: Deed,
) -> Result<MatchView, DuelRefusal> {
    let command = Command::Act {
        match_id,
        player,
        deed,
    };
    decide_as(engine, &command, |done| match done {
        Done::Acted(state) => Some(state),
        _ => None,
    })
}

fn standing(engine: &mut Engine, player: PlayerId) -> Option<Standing> {
    engine.count_query::<Games>(&Query::Standing { player });
    engine.games().standing_of(&player)
}
