//! A small parlour on real sockets: the real machine of games and the real codec of RESP, in memory,
//! honest or with one fault.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use turnstile_games::{Answer, Command, Deed, Done, Games, Outcome, Query, Refusal, Tally};
use turnstile_resp::{
    Arguments, Encoder, Protocol,
    catalogue::{Action, Catalogue},
    games::{Request, parse, put_answer, put_outcome},
};
use turnstile_types::{Context, Machine as _, Position, Principal, Timestamp};

use crate::loopback::{each_request, listen};

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
    /// The fiftieth move is answered as if it were the next.
    OtherPly,
    /// The tenth match is refused.
    Refuses,
    /// The fiftieth move is made, but the connection is closed instead of an answer.
    Closes,
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
}

impl Parlour {
    pub(crate) fn open(fault: Fault) -> Self {
        let state = Arc::new(Mutex::new(State {
            fault,
            machine: Games::empty(),
            commands: 0,
            matches: 0,
            moves: 0,
        }));
        let address = listen(&state, serve);
        Self { address }
    }
}

fn serve(
    waiting: &mut Vec<u8>,
    out: &mut Vec<u8>,
    protocol: &mut Protocol,
    state: &Mutex<State>,
) -> Option<()> {
    let catalogue = Catalogue::new();
    each_request(waiting, out, protocol, |arguments, reply| {
        state.lock().unwrap().answer(&catalogue, arguments, reply)
    })
}

impl State {
    fn answer(
        &mut self,
        catalogue: &Catalogue,
        arguments: Arguments<'_, '_>,
        reply: &mut Encoder<'_>,
    ) -> Option<()> {
        let Ok(Action::Games(verb)) = catalogue.resolve(&arguments) else {
            panic!("only words of games are said here");
        };
        match parse(verb, arguments).unwrap() {
            Request::Command { command, .. } => {
                let outcome = self.apply(&command)?;
                put_outcome(reply, &outcome, Position(self.commands), false);
            }
            Request::Query(query) => put_answer(reply, &self.query(&query)),
        }
        Some(())
    }

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
        let context = Context {
            position: Position(self.commands),
            now: Timestamp(self.commands),
            principal: &Principal::local(),
        };
        let mut outcome = self.machine.apply(&context, command);
        self.machine.drain_events(&mut |_event| {});
        match (self.fault, self.moves, &mut outcome) {
            (Fault::Closes, 50, _) => return None,
            (Fault::OtherPly, 50, Outcome::Done(Done::Acted(view))) => view.ply += 1,
            _ => {}
        }
        Some(outcome)
    }

    fn query(&self, query: &Query) -> Answer {
        let mut answer = self.machine.query(Timestamp(0), &Principal::local(), query);
        match (self.fault, &mut answer) {
            (Fault::CountsTwice, Answer::Standing(Some(standing))) => standing.tally.won += 1,
            (Fault::CountsNone, Answer::Standing(Some(standing))) => standing.tally.won -= 1,
            (Fault::OnlyAgainst, Answer::Against(tally)) => *tally = Some(Tally::NONE),
            _ => {}
        }
        answer
    }
}
