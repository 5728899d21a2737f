//! Matches that the order of a shared log decides, among players who may be connected to different nodes:
//! each node tells its own players what has happened.

use turnstile_duel::{BoardCell, DuelSeat, Greeting, Heard, Move, Player, Refusal, Standing};
use turnstile_games::{Change, Command, Deed, Event, EventKind, Games, MatchView, PlayerId};

use super::{
    GAME, Hall, HallGuest,
    table::{OpenGame, Table, TableNews, claim},
};
use crate::{
    core::{conversation::Errand, engine::Engine},
    doors::duel::{DuelRefusal, name, number_of},
};

/// For how long a match is unwanted whose player has left while it was asked for, in milliseconds. The log
/// may have what it did not acknowledge for so long.
const UNWANTED_MS: u64 = 60_000;

/// What is asked of the order for a player.
#[derive(Clone, Copy, Debug)]
pub(in crate::doors::arena) enum PlayerStep {
    Challenge,
    Connect,
    /// The next game, whose first move this is.
    Begin(Move),
    Move,
}

/// What is asked of the order, if anything is.
pub(in crate::doors::arena) type PlayerAsks = Option<(Command, PlayerStep)>;

impl Hall {
    /// Lets a player in who has greeted; whether there will be a match the order decides.
    pub(in crate::doors::arena) fn admit(
        &mut self,
        place: usize,
        greeting: Greeting,
    ) -> Result<Command, DuelRefusal> {
        let Greeting { own, opponent } = greeting;
        if self.guests.contains_key(&own) {
            return Err(DuelRefusal::Connected(own));
        }
        self.is_ordered = true;
        self.unwanted.remove(&own);
        let guest = HallGuest {
            place,
            opponent,
            seat: None,
            is_beginning: false,
        };
        self.guests.insert(own, guest);
        Ok(Command::Challenge {
            player: name(own),
            opponent: name(opponent),
            game: GAME,
        })
    }

    /// The order has refused to let a player in.
    pub(in crate::doors::arena) fn forget(&mut self, player: Player) {
        self.guests.remove(&player);
    }

    /// Takes what a player at a table says at the front of `bytes`: its length, and what is to be asked
    /// of the order for it; or nothing while it is not whole.
    pub(in crate::doors::arena) fn listen(
        &mut self,
        engine: &mut Engine,
        (number, seat): (usize, DuelSeat),
        bytes: &[u8],
    ) -> Result<Option<(usize, PlayerAsks)>, DuelRefusal> {
        let Some((heard, length)) = self.table(number).duel.hear(seat, bytes)? else {
            return Ok(None);
        };
        Ok(Some((
            length,
            match heard {
                Heard::Move(play) => Some(self.step_of((number, seat), play)),
                Heard::Done => {
                    self.tell(engine, number);
                    None
                }
            },
        )))
    }

    /// What a move asks for. With the first, a game begins.
    fn step_of(&mut self, (number, seat): (usize, DuelSeat), play: Move) -> (Command, PlayerStep) {
        let table = self.table(number);
        let player = table.names[seat.index()];
        if let Some(game) = table.game {
            return (move_of(game, player, play), PlayerStep::Move);
        }
        let players = [player, table.names[seat.other().index()]];
        let own = table.players[seat.index()];
        if let Some(guest) = self.guests.get_mut(&own) {
            guest.is_beginning = true;
        }
        let begin = Command::Begin {
            game: GAME,
            players,
        };
        (begin, PlayerStep::Begin(play))
    }

    /// The match of a player has begun, or has been refused; its first move is to follow.
    pub(in crate::doors::arena) fn has_begun(
        &mut self,
        player: Player,
        state: Option<&MatchView>,
        play: Move,
    ) -> PlayerAsks {
        if let Some(guest) = self.guests.get_mut(&player) {
            guest.is_beginning = false;
        }
        let game = OpenGame::of(state?);
        Some((move_of(game, name(player), play), PlayerStep::Move))
    }

    /// The move of a player stands. What the order has told of its table is taken up to there, so that
    /// the player is heard further.
    ///
    /// # Errors
    /// The order has not told of it.
    pub(in crate::doors::arena) fn catch_up(
        &mut self,
        engine: &mut Engine,
        player: Player,
    ) -> Result<(), DuelRefusal> {
        let Some((number, _)) = self.seat_of(player) else {
            return Ok(());
        };
        while self.table(number).duel.is_deciding() {
            if !self.take_news(engine, number) {
                return Err(Refusal::OutOfTurn { byte: 0 }.into());
            }
        }
        Ok(())
    }

    /// Hears what has happened in matches.
    pub(super) fn follow(&mut self, engine: &mut Engine, events: &[Event]) {
        for event in events {
            match &event.kind {
                EventKind::Match {
                    change: Change::Begun,
                    state,
                } => self.meet(engine, state),
                EventKind::Match { change, state } => {
                    if let Some(&number) = self.matches.get(&state.id) {
                        self.note_news(number, TableNews::Match(*change, *state));
                    }
                }
                EventKind::Scored {
                    match_id,
                    players,
                    standings,
                } => self.score(engine, *match_id, players, *standings),
                EventKind::Withdrawn { player } => {
                    let Some(player) = number_of(player) else {
                        continue;
                    };
                    self.unwanted.remove(&player);
                    if let Some(&number) = self.distant.get(&player) {
                        self.note_news(number, TableNews::OtherLeft);
                    }
                }
                _ => {}
            }
        }
    }

    /// A match has begun: its players sit down as far as they are here, or have sat there already.
    fn meet(&mut self, engine: &mut Engine, state: &MatchView) {
        let [Some(first), Some(second)] = state.players.each_ref().map(number_of) else {
            return;
        };
        let pair = [first, second];
        if state.game != GAME || self.turn_down(engine, pair, state) {
            return;
        }
        let seated = pair.iter().find_map(|player| self.guests.get(player)?.seat);
        if let Some((number, _)) = seated {
            let players = self.table(number).players;
            if players.iter().all(|player| pair.contains(player)) {
                self.matches.insert(state.id, number);
                self.note_news(number, TableNews::Match(Change::Begun, *state));
            }
            return;
        }
        let place_of = |own: Player, opponent: Player| {
            let guest = self.guests.get(&own);
            let waits = guest.filter(|guest| guest.opponent == opponent);
            waits.map(|guest| guest.place)
        };
        let places = [place_of(first, second), place_of(second, first)];
        if places.iter().any(Option::is_some) {
            self.seat(
                [(first, places[0]), (second, places[1])],
                OpenGame::of(state),
            );
            self.note_spoken(engine, state);
        }
    }

    /// What has just been said to a table leaves at the end of the next turn: until then nothing more may
    /// be said.
    fn note_spoken(&mut self, engine: &Engine, state: &MatchView) {
        if let Some(&number) = self.matches.get(&state.id) {
            self.table(number).spoken = engine.counters.turns.get() + 1;
        }
    }

    /// Ends a match whose player has left while it was asked for; says whether it was one.
    fn turn_down(&mut self, engine: &mut Engine, pair: [Player; 2], state: &MatchView) -> bool {
        let now = engine.now();
        self.unwanted.retain(|_, until| *until > now);
        let left = pair
            .into_iter()
            .find(|player| self.unwanted.remove(player).is_some());
        if let Some(player) = left {
            let abort = Command::Act {
                match_id: state.id,
                player: name(player),
                deed: Deed::Abort,
            };
            engine.note_in_order::<Games>(&abort);
        }
        left.is_some()
    }

    fn note_news(&mut self, number: usize, news: TableNews) {
        self.table(number).news.push_back(news);
        self.ripe.push_back(number);
    }

    /// Tells tables what has happened there, one thing a turn: each message has left before the next.
    pub(super) fn tell_news(&mut self, engine: &mut Engine) {
        let turn = engine.counters.turns.get();
        for _ in 0..self.ripe.len() {
            let Some(number) = self.ripe.pop_front() else {
                break;
            };
            let Some(table) = self.tables.get(number).and_then(Option::as_ref) else {
                continue;
            };
            // What follows a game waits until those here have heard how they stand.
            if table.news.is_empty() || table.duel.standing() == Standing::Decided {
                continue;
            }
            if table.spoken < turn {
                self.take_news(engine, number);
            }
            if !self.table(number).news.is_empty() {
                self.ripe.push_back(number);
            }
        }
    }

    /// Tells a table the oldest of its news; says whether there was any.
    fn take_news(&mut self, engine: &mut Engine, number: usize) -> bool {
        let table = self.table(number);
        let Some(news) = table.news.pop_front() else {
            return false;
        };
        match news {
            TableNews::Match(Change::Begun, state) => table.game = Some(OpenGame::of(&state)),
            TableNews::Match(Change::Moved { seat }, state) => {
                let mover = seat.of(&state.players);
                if !self.move_on(engine, number, mover, &state) {
                    self.dismiss(number);
                }
            }
            TableNews::Match(Change::Ended, state) => {
                self.matches.remove(&state.id);
                self.table(number).game = None;
                self.dismiss(number);
            }
            TableNews::Match(..) => {}
            TableNews::OtherLeft if table.game.is_none() => self.dismiss(number),
            TableNews::OtherLeft => {}
        }
        true
    }

    /// A move was made, here or elsewhere; says whether those at the table can be told so.
    fn move_on(
        &mut self,
        engine: &mut Engine,
        number: usize,
        mover: &PlayerId,
        state: &MatchView,
    ) -> bool {
        let table = self.table(number);
        let seats = DuelSeat::BOTH.into_iter();
        let seat = seats
            .clone()
            .find(|seat| table.names[seat.index()] == *mover);
        let cell = state.last.and_then(|last| BoardCell::new(last + 1));
        let (Some(seat), Some(cell)) = (seat, cell) else {
            return false;
        };
        let place = table.places[seat.index()];
        // A player who is here has said its move here.
        let is_heard = match place {
            Some(_) => table.duel.is_deciding(),
            None => table.duel.overhear(seat, cell),
        };
        if !is_heard {
            return false;
        }
        if state.ending.is_none() {
            table.duel.accept();
            table.game = Some(OpenGame::of(state));
        } else {
            table.duel.accept_last();
            table.game = None;
            for seat in seats.filter(|seat| table.places[seat.index()].is_none()) {
                table.duel.overhear_done(seat);
            }
            if engine.games().settings().roles.scores {
                self.matches.remove(&state.id);
            }
            self.errands
                .extend(place.map(|place| Errand::Acknowledge { place }));
        }
        self.table(number).spoken = engine.counters.turns.get();
        self.say(number);
        true
    }

    /// Ends the connections of a table. The wire has no word for why.
    fn dismiss(&mut self, number: usize) {
        let places = self.table(number).places;
        let places = places.into_iter().flatten();
        self.errands
            .extend(places.map(|place| Errand::Close { place }));
    }

    /// A player has left: the order hears of it, and by that other nodes.
    pub(super) fn part_in_order(&mut self, engine: &mut Engine, player: Player) {
        let Some(guest) = self.guests.remove(&player) else {
            return;
        };
        let mut leaving = vec![player];
        if let Some((number, seat)) = guest.seat {
            let table = self.tables[number].take();
            let table = table.expect("a guest sits at a table that is there");
            self.free.push(number);
            self.matches.retain(|_, at| *at != number);
            let other = table.players[seat.other().index()];
            self.distant.remove(&other);
            if let Some(place) = table.places[seat.other().index()] {
                self.guests.remove(&other);
                self.errands.push(Errand::Close { place });
                leaving.push(other);
            }
            let is_heard_of = leaving.len() == 2 && !guest.is_beginning;
            if let Some(command) = table.given_up(name(player)) {
                engine.note_in_order::<Games>(&command);
            } else if !is_heard_of {
                // Nothing else says to other nodes that a player is gone between two games: a challenge
                // that disconnecting withdraws.
                self.unwanted
                    .insert(player, engine.now().plus_ms(UNWANTED_MS));
                let challenge = Command::Challenge {
                    player: name(player),
                    opponent: name(other),
                    game: GAME,
                };
                engine.note_in_order::<Games>(&challenge);
            }
        }
        for player in leaving {
            let player = name(player);
            engine.note_in_order::<Games>(&Command::Disconnect { player });
        }
    }
}

impl Table {
    /// The match that is played, as far as the order has told.
    fn latest(&self) -> Option<OpenGame> {
        let told = self.news.iter().rev().find_map(|news| match news {
            TableNews::Match(_, state) => Some(state.ending.is_none().then(|| OpenGame::of(state))),
            TableNews::OtherLeft => None,
        });
        told.unwrap_or(self.game)
    }

    /// How a player ends the match that is played, if there is one.
    fn given_up(&self, player: PlayerId) -> Option<Command> {
        let OpenGame { match_id, ply } = self.latest()?;
        let deed = if ply == 0 { Deed::Abort } else { Deed::Resign };
        Some(Command::Act {
            match_id,
            player,
            deed,
        })
    }
}

/// A move in a match, as the machine is asked for it.
fn move_of(game: OpenGame, player: PlayerId, play: Move) -> Command {
    Command::Act {
        match_id: game.match_id,
        player,
        deed: Deed::Move {
            ply: game.ply,
            choice: play.cell.number(),
            claim: Some(claim(play.claim)),
        },
    }
}
