//! A small exchange on real sockets: the real machine and the real codecs, in memory, honest or
//! with one fault.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use turnstile_exchange::{AccountId, Answer, Command, Decimal, Exchange, Outcome, Query};
use turnstile_resp::{
    Arguments, Encoder, Protocol,
    catalogue::{Action, Catalogue},
    exchange::{Request, parse, put_answer, put_outcome},
};
use turnstile_types::{Context, Machine as _, Position, Principal, Timestamp};
use turnstile_xml::{Answers, Ask, Framed, Options, Requests, frame, put_error};

use crate::loopback::{each_request, listen};

/// What is wrong with a floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The five hundredth command puts a cent into an account.
    Cent,
    /// The five hundredth command gives an account a share more.
    Share,
    /// The five hundredth command carries a cent from one account to another.
    Carries,
    /// The counter of orders is one ahead.
    CountsOneMore,
    /// Executions of every tenth order are kept back.
    HidesExecutions,
    /// Of every tenth order the status says that it is open.
    SaysOpen,
    /// Every thousandth command is done, but the connection is closed instead of an answer.
    Closes,
}

/// An exchange that listens until the process ends.
#[derive(Debug)]
pub(crate) struct Floor {
    pub(crate) resp: SocketAddr,
    pub(crate) xml: SocketAddr,
}

struct State {
    fault: Fault,
    machine: Exchange,
    commands: u64,
    /// The accounts that were made first and last, and what was granted last.
    first: Option<AccountId>,
    last: Option<AccountId>,
    granted: Option<Command>,
}

impl Floor {
    pub(crate) fn open(fault: Fault) -> Self {
        let state = Arc::new(Mutex::new(State {
            fault,
            machine: Exchange::empty(),
            commands: 0,
            first: None,
            last: None,
            granted: None,
        }));
        Self {
            resp: listen(&state, serve_resp),
            xml: listen(&state, serve_xml),
        }
    }
}

fn serve_resp(waiting: &mut Vec<u8>, out: &mut Vec<u8>, state: &Mutex<State>) -> Option<()> {
    let catalogue = Catalogue::new();
    each_request(waiting, |arguments| {
        state.lock().unwrap().answer(&catalogue, arguments, out)
    })
}

fn serve_xml(waiting: &mut Vec<u8>, out: &mut Vec<u8>, state: &Mutex<State>) -> Option<()> {
    let options = Options::default();
    let mut requests = Requests::new(options);
    let mut used = 0;
    while let Framed::Frame { xml, consumed } = frame(&waiting[used..], options.frame_bytes_max) {
        match requests.read(&waiting[used..][xml]) {
            Err(malformed) => put_error(out, &options, malformed),
            Ok(batch) => {
                let answers = Answers::begin(out, &options);
                let mut state = state.lock().unwrap();
                for item in batch.items() {
                    match item.ask {
                        Ask::Command(command) => {
                            answers.outcome(out, &item.echo, &state.apply(&command)?);
                        }
                        Ask::Query(query) => {
                            answers.status(out, &item.echo, &state.query(&query));
                        }
                        Ask::Cancel { command, then } => match state.apply(&command)? {
                            Outcome::Done(_) => {
                                answers.cancelled(out, &item.echo, &state.query(&then));
                            }
                            Outcome::Refused(refusal) => {
                                answers.refused(out, &item.echo, &refusal);
                            }
                        },
                        Ask::Nothing(why) => answers.invalid(out, &item.echo, &why),
                    }
                }
                answers.finish(out);
            }
        }
        used += consumed;
    }
    waiting.drain(..used);
    Some(())
}

impl State {
    fn answer(
        &mut self,
        catalogue: &Catalogue,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        if arguments.get(0) == Some(b"INFO") {
            turnstile_client::resp::put_bulk(out, self.info().as_bytes());
            return Some(());
        }
        let Ok(Action::Exchange(verb)) = catalogue.resolve(&arguments) else {
            panic!("only words of the exchange are said here");
        };
        let reply = &mut Encoder::new(out, Protocol::Resp2);
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
        self.commands += 1;
        match command {
            Command::CreateAccount { account, .. } => {
                self.first.get_or_insert(*account);
                self.last = Some(*account);
            }
            Command::Grant { .. } => self.granted = Some(*command),
            _ => {}
        }
        let outcome = self.decide(command);
        match (self.fault, self.commands) {
            (Fault::Cent, 500) => {
                let account = self.last.unwrap();
                let amount = Decimal::new(1, 2);
                self.decide(&Command::Deposit { account, amount });
            }
            (Fault::Carries, 500) => {
                let (from, to) = (self.first.unwrap(), self.last.unwrap());
                let amount = Decimal::new(1, 2);
                self.decide(&Command::Withdraw {
                    account: from,
                    amount,
                });
                self.decide(&Command::Deposit {
                    account: to,
                    amount,
                });
            }
            (Fault::Share, 500) => {
                let Some(Command::Grant {
                    account, symbol, ..
                }) = self.granted
                else {
                    panic!("shares were granted before");
                };
                let quantity = Decimal::new(1, 0);
                self.decide(&Command::Grant {
                    account,
                    symbol,
                    quantity,
                });
            }
            (Fault::Closes, commands) if commands.is_multiple_of(1_000) => return None,
            _ => {}
        }
        Some(outcome)
    }

    fn decide(&mut self, command: &Command) -> Outcome {
        let context = Context {
            position: Position(self.commands),
            now: Timestamp(self.commands),
            principal: &Principal::local(),
        };
        let outcome = self.machine.apply(&context, command);
        self.machine.drain_events(&mut |_event| {});
        outcome
    }

    fn query(&self, query: &Query) -> Answer {
        let principal = Principal::local();
        let mut answer = self.machine.query(Timestamp(0), &principal, query);
        if let Answer::Order(order) = &mut answer
            && order.order.0.is_multiple_of(10)
        {
            match self.fault {
                Fault::HidesExecutions => order.executions.clear(),
                Fault::SaysOpen => order.open = order.quantity,
                _ => {}
            }
        }
        answer
    }

    fn info(&self) -> String {
        let Answer::Totals(totals) = self.query(&Query::Totals) else {
            panic!("totals were asked for");
        };
        let ahead = u64::from(self.fault == Fault::CountsOneMore && totals.orders > 0);
        format!(
            "# Server\r\nturnstile_version:0.1.0\r\ndurability:memory\r\n\
             exchange_orders_total:{}\r\nexchange_trades_total:{}\r\n",
            totals.orders + ahead,
            totals.trades
        )
    }
}
