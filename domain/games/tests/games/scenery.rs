//! Names and commands, as tests write them, and a machine to give them to.

use turnstile_games::{Claim, Command, Deed, Done, Event, Game, Games, MatchId, Outcome, PlayerId};
use turnstile_trial::context;
use turnstile_types::{Machine, Principal};

pub(crate) fn id(text: &str) -> PlayerId {
    PlayerId::parse(text.as_bytes()).unwrap()
}

pub(crate) fn begin(game: Game, first: &str, second: &str) -> Command {
    Command::Begin {
        game,
        players: [id(first), id(second)],
    }
}

pub(crate) fn act(match_id: u64, player: &str, deed: Deed) -> Command {
    Command::Act {
        match_id: MatchId(match_id),
        player: id(player),
        deed,
    }
}

pub(crate) const fn move_to(ply: u16, choice: u8) -> Deed {
    Deed::Move {
        ply,
        choice,
        claim: None,
    }
}

pub(crate) const fn claiming(ply: u16, choice: u8, claim: Claim) -> Deed {
    Deed::Move {
        ply,
        choice,
        claim: Some(claim),
    }
}

/// A machine, and the time on it.
pub(crate) struct Hall {
    pub(crate) games: Games,
    pub(crate) position: u64,
    pub(crate) now: u64,
}

impl Hall {
    pub(crate) fn new() -> Self {
        Self {
            games: Games::empty(),
            position: 0,
            now: 1_000_000,
        }
    }

    pub(crate) fn apply(&mut self, command: &Command) -> Outcome {
        self.position += 1;
        let local = Principal::local();
        self.games
            .apply(&context(self.position, self.now, &local), command)
    }

    pub(crate) fn done(&mut self, command: &Command) -> Done {
        match self.apply(command) {
            Outcome::Done(done) => done,
            Outcome::Refused(refusal) => panic!("{command:?}: {refusal:?}"),
        }
    }

    /// The ancestor's game: x takes 1, 3, 5 and wins with 7.
    pub(crate) fn play(&mut self, first: &str, second: &str) -> u64 {
        let Done::Begun(state) = self.done(&begin(Game::TicTacToe, first, second)) else {
            panic!("no match has begun");
        };
        for ply in 0..7_u16 {
            let player = if ply % 2 == 0 { first } else { second };
            let choice = u8::try_from(ply + 1).unwrap();
            self.done(&act(state.id.0, player, move_to(ply, choice)));
        }
        state.id.0
    }

    pub(crate) fn events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        self.games.drain_events(&mut |event| events.push(event));
        events
    }
}
