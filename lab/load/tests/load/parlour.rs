//! A small parlour on real sockets: the real machine of games and the real codec of RESP, in memory,
//! honest or with one fault.

use std::{
    cell::Cell,
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use turnstile_games::{
    Answer, Command, Deed, Done, Ending, Game, Games, Outcome, PlayerId, Query, Refusal, Tally,
};
use turnstile_resp::{
    Arguments, Encoder,
    catalogue::Action,
    games::{Request, parse, put_answer, put_outcome},
};
use turnstile_types::{Machine as _, Position, Principal, Timestamp};

use crate::loopback::{Clerk, decide, listen, serve_resp};

/// What is wrong with a parlour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// A game more than there was is counted for whoever has won.
    CountsTwice,
    /// A game less.
    CountsNone,
    /// Nothing is counted between two.
    OnlyAgainst,
    /// Every fiftieth move is answered as if it were the next.
    OtherPly,
    /// The tenth match is refused.
    Refuses,
    /// The fiftieth move is made, but the connection is closed instead of an answer.
    Closes,
    /// The seventieth move is made, and answered that nobody knows that.
    Unknown,
    /// The seventieth move is made, and neither it nor what is asked later is answered.
    Silent,
    /// Every two hundredth command is carried out, but the connection is closed instead of an answer.
    ClosesOften,
    /// Every third.
    ClosesSoon,
    /// At the hundredth command it recovers, as a server that was killed: until it was asked three
    /// times how far that is, nobody gets another answer.
    Recovers,
    /// Every two hundredth, and when it is asked again under its key, it is carried out again.
    ForgetsKeys,
    /// Every twentieth move is undone, though it was answered.
    LosesMove,
    /// A stale move is made as if it were meant for the match as it is.
    TakesStale,
    /// Whoever moves out of turn moves for the other.
    MovesForOther,
    /// Nobody looks whether a claim is true.
    BelievesClaims,
    /// Every third player who seeks is forgotten.
    ForgetsSeeker,
    /// Every tenth result is counted once more.
    CountsAgain,
    /// What players do is answered from what it was some looks ago.
    ReadsStale,
    /// Every hundredth command has a position before those of the last twenty.
    Reorders,
    /// The counter of moves is one ahead once there are any.
    CountsOneMore,
    /// Who wants gomoku gets connect four.
    PlaysAnother,
    /// The stone of every twentieth move of connect four lies one row higher than it falls.
    Floats,
    /// A line on the largest board does not end the match.
    MissesLines,
}

/// A parlour that is open until the process ends.
#[derive(Debug)]
pub(crate) struct Parlour {
    pub(crate) address: SocketAddr,
}

struct State {
    fault: Fault,
    machine: Games,
    commands: u64,
    matches: u64,
    moves: u64,
    seeks: u64,
    results: u64,
    looks: u64,
    /// What was first answered under each key.
    keys: BTreeMap<String, (Outcome, Position)>,
    /// The answer that was kept from the client.
    unsaid: Option<Outcome>,
    shown: BTreeMap<PlayerId, Answer>,
    /// How many more questions it is recovering for.
    recovering: Cell<u32>,
}

impl Parlour {
    pub(crate) fn open(fault: Fault) -> Self {
        let state = Arc::new(Mutex::new(State {
            fault,
            machine: Games::empty(),
            commands: 0,
            matches: 0,
            moves: 0,
            seeks: 0,
            results: 0,
            looks: 0,
            keys: BTreeMap::new(),
            unsaid: None,
            shown: BTreeMap::new(),
            recovering: Cell::new(0),
        }));
        let address = listen(&state, serve_resp);
        Self { address }
    }
}

impl Clerk for State {
    fn info(&self) -> String {
        if let Some(left) = self.recovering.get().checked_sub(1) {
            self.recovering.set(left);
            return "loading:1\r\n".to_owned();
        }
        let Answer::Totals(totals) = self.query(&Query::Totals) else {
            panic!("totals were asked for");
        };
        let ahead = self.fault == Fault::CountsOneMore && totals.moves > 0;
        let mut info = format!(
            "# Server\r\nturnstile_version:0.1.0\r\ndurability:memory\r\ngames_backend:embedded\r\n\
             position:{}\r\n",
            self.commands * 10
        );
        for (name, figure) in turnstile_json::numbers(&totals) {
            let ahead = u64::from(ahead && name == "moves_total");
            info.push_str(&format!("games_{name}:{}\r\n", figure + ahead));
        }
        info
    }

    fn answer(
        &mut self,
        action: Action,
        arguments: Arguments<'_, '_>,
        reply: &mut Encoder<'_>,
    ) -> Option<()> {
        let Action::Games(verb) = action else {
            panic!("only words of games are said here");
        };
        if self.recovering.get() > 0 {
            reply.error(format_args!("LOADING this parlour recovers"));
            return Some(());
        }
        match parse(verb, arguments).unwrap() {
            Request::Command { command, key } => {
                let key = key.map(|key| format!("{key:?}"));
                let first = key.as_ref().and_then(|key| self.keys.get(key));
                if let Some((outcome, position)) = first {
                    put_outcome(reply, outcome, *position, true);
                    return Some(());
                }
                let outcome = self.apply(&command);
                let position = self.position();
                let first = outcome.clone().or_else(|| self.unsaid.take());
                if let (Some(key), Some(first)) = (key, first) {
                    self.keys.insert(key, (first, position));
                }
                let outcome = outcome?;
                match (self.fault, self.moves) {
                    (Fault::Silent, 70) => {}
                    (Fault::Unknown, 70) => reply.error(format_args!("UNKNOWN it was made or not")),
                    _ => put_outcome(reply, &outcome, position, false),
                }
            }
            Request::Query(query) => {
                let answer = self.stale(&query).unwrap_or_else(|| self.query(&query));
                put_answer(reply, &answer);
            }
        }
        Some(())
    }
}

impl State {
    /// None: the connection is closed instead.
    fn apply(&mut self, command: &Command) -> Option<Outcome> {
        match command {
            Command::Begin { players, .. } => {
                self.matches += 1;
                if self.fault == Fault::Refuses && self.matches == 10 {
                    let player = players[0];
                    return Some(Outcome::Refused(Refusal::Waiting { player }));
                }
            }
            Command::Act {
                deed: Deed::Move { .. },
                ..
            } => self.moves += 1,
            _ => {}
        }
        self.commands += 1;
        let before = self.before(command);
        let mut outcome = self.decide(&self.misled(command));
        if let Some(before) = before {
            self.machine = Games::restore(&before).unwrap();
        }
        self.spoil(command, &outcome);
        match (self.fault, self.moves, &mut outcome) {
            (Fault::Closes, 50, _) => return None,
            (Fault::OtherPly, moves @ 1.., Outcome::Done(Done::Acted(view)))
                if moves.is_multiple_of(50) =>
            {
                view.ply += 1;
            }
            (Fault::Floats, moves, Outcome::Done(Done::Acted(view)))
                if moves.is_multiple_of(20) && view.game == Game::ConnectFour =>
            {
                view.last = view.last.and_then(|cell| cell.checked_sub(7));
            }
            (Fault::MissesLines, _, Outcome::Done(Done::Acted(view)))
                if view.game == Game::Gomoku
                    && matches!(view.ending, Some(Ending::Line { .. })) =>
            {
                view.ending = None;
            }
            (Fault::ClosesOften, ..) if self.is_every(200) => return self.keep(outcome),
            (Fault::ClosesSoon, ..) if self.is_every(3) => return self.keep(outcome),
            (Fault::ForgetsKeys, ..) if self.is_every(200) => return None,
            (Fault::Recovers, ..) if self.commands == 100 => {
                self.recovering.set(3);
                return self.keep(outcome);
            }
            _ => {}
        }
        Some(outcome)
    }

    /// Until it is asked for again under its key.
    fn keep(&mut self, outcome: Outcome) -> Option<Outcome> {
        self.unsaid = Some(outcome);
        None
    }

    const fn is_every(&self, commands: u64) -> bool {
        self.commands.is_multiple_of(commands)
    }

    fn decide(&mut self, command: &Command) -> Outcome {
        decide(&mut self.machine, self.commands, command)
    }

    /// Those of commands are ten apart.
    const fn position(&self) -> Position {
        if self.is_every(100) && matches!(self.fault, Fault::Reorders) {
            return Position((self.commands - 20) * 10 + 5);
        }
        Position(self.commands * 10)
    }

    /// The machine as it is, where a command is to be undone.
    fn before(&self, command: &Command) -> Option<Vec<u8>> {
        let moves = matches!(
            command,
            Command::Act {
                deed: Deed::Move { .. },
                ..
            }
        );
        let undone = moves && self.fault == Fault::LosesMove && self.moves.is_multiple_of(20);
        undone.then(|| {
            let mut bytes = Vec::new();
            self.machine.snapshot(&mut bytes);
            bytes
        })
    }

    /// What is done instead.
    fn misled(&self, command: &Command) -> Command {
        let mut command = *command;
        if let Command::Begin { game, .. }
        | Command::Challenge { game, .. }
        | Command::Seek { game, .. } = &mut command
            && (self.fault, *game) == (Fault::PlaysAnother, Game::Gomoku)
        {
            *game = Game::ConnectFour;
        }
        let Command::Act {
            match_id,
            player,
            deed: Deed::Move { ply, claim, .. },
        } = &mut command
        else {
            return command;
        };
        let query = Query::Match {
            match_id: *match_id,
        };
        let Answer::Match(view) = self.query(&query) else {
            return command;
        };
        let mover = view.to_move().map(|seat| *seat.of(&view.players));
        match (self.fault, mover) {
            (Fault::TakesStale, Some(mover)) if *player == mover => *ply = view.ply,
            (Fault::MovesForOther, Some(mover)) if view.players.contains(player) => {
                *player = mover;
            }
            (Fault::BelievesClaims, _) => *claim = None,
            _ => {}
        }
        command
    }

    /// What is done beside it.
    fn spoil(&mut self, command: &Command, outcome: &Outcome) {
        match (command, outcome) {
            (&Command::Seek { player, .. }, Outcome::Done(Done::Seeking(_))) => {
                self.seeks += 1;
                if self.fault == Fault::ForgetsSeeker && self.seeks.is_multiple_of(3) {
                    self.decide(&Command::Withdraw { player });
                }
            }
            (_, Outcome::Done(Done::Acted(view))) => {
                let Some(verdict) = view.ending.and_then(Ending::verdict) else {
                    return;
                };
                self.results += 1;
                if self.fault == Fault::CountsAgain && self.results.is_multiple_of(10) {
                    let players = view.players;
                    self.decide(&Command::Report { players, verdict });
                }
            }
            _ => {}
        }
    }

    /// What was shown of a player before.
    fn stale(&mut self, query: &Query) -> Option<Answer> {
        let Query::Player { player } = *query else {
            return None;
        };
        if self.fault != Fault::ReadsStale {
            return None;
        }
        self.looks += 1;
        if self.looks.is_multiple_of(20) {
            let now = self.query(query);
            self.shown.insert(player, now);
        }
        self.shown.get(&player).cloned()
    }

    fn query(&self, query: &Query) -> Answer {
        let mut answer = self
            .machine
            .query(Timestamp(self.commands), &Principal::local(), query);
        match (self.fault, &mut answer) {
            (Fault::CountsTwice, Answer::Standing(standing)) => standing.tally.won += 1,
            (Fault::CountsNone, Answer::Standing(standing)) => standing.tally.won -= 1,
            (Fault::OnlyAgainst, Answer::Against(tally)) => *tally = Tally::NONE,
            _ => {}
        }
        answer
    }
}
