//! A small exchange on real sockets: the real machine and the real codecs, in memory, honest or
//! with one fault.

use std::{
    cell::Cell,
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use turnstile_exchange::{
    AccountId, Answer, Command, Decimal, Done, Exchange, OrderRef, Outcome, Query, Symbol, Ticket,
};
use turnstile_resp::{
    Arguments, Encoder, Protocol,
    catalogue::Action,
    exchange::{Request, parse, put_answer, put_outcome},
};
use turnstile_types::{Machine as _, Position, Principal, Timestamp};
use turnstile_xml::{Answers, Ask, Framed, Options, Requests, frame, put_error};

use crate::loopback::{Clerk, decide, listen, serve_resp};

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
    /// Every hundredth command of the load is done, and answered that nobody knows that.
    Unknown,
    /// At the five hundredth command it recovers, as a server that was killed: until it was asked three
    /// times over RESP how far that is, nobody gets another answer.
    Recovers,
    /// Every hundredth order that waits is taken off the book, and nobody is told.
    LosesOrder,
    /// Every hundredth ticket says a cent more than was paid.
    CentInTicket,
    /// Every hundredth command has a position before those of the last twenty.
    Reorders,
    /// The best prices are those of some looks ago.
    ReadsStale,
}

/// What the doors of a server say while it recovers.
const RECOVERS: &str = "the server recovers its journal, try again later";

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
    /// What was first answered under each key.
    keys: BTreeMap<String, (Outcome, Position)>,
    /// The answer that was kept from the client.
    unsaid: Option<Outcome>,
    looks: u64,
    shown: BTreeMap<Symbol, Answer>,
    /// How many more questions it is recovering for.
    recovering: Cell<u32>,
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
            keys: BTreeMap::new(),
            unsaid: None,
            looks: 0,
            shown: BTreeMap::new(),
            recovering: Cell::new(0),
        }));
        Self {
            resp: listen(&state, serve_resp),
            xml: listen(&state, serve_xml),
        }
    }
}

fn serve_xml(
    waiting: &mut Vec<u8>,
    out: &mut Vec<u8>,
    _resp: &mut Protocol,
    state: &Mutex<State>,
) -> Option<()> {
    let options = Options::default();
    let mut requests = Requests::new(options);
    let mut used = 0;
    while let Framed::Frame { xml, consumed } = frame(&waiting[used..], options.frame_bytes_max) {
        if state.lock().unwrap().recovering.get() > 0 {
            put_error(out, &options, RECOVERS);
            used += consumed;
            continue;
        }
        match requests.read(&waiting[used..][xml]) {
            Err(malformed) => put_error(out, &options, malformed),
            Ok(batch) => {
                let answers = Answers::begin(out, &options);
                let mut state = state.lock().unwrap();
                for item in batch.items() {
                    match item.ask {
                        Ask::Command(command) => {
                            let outcome = state.apply(&command)?;
                            if state.is_unknown() {
                                answers.error(out, &item.echo, "unknown: it was done or not");
                            } else {
                                answers.outcome(out, &item.echo, &outcome);
                            }
                        }
                        Ask::Query(query) => {
                            answers.status(out, &item.echo, &state.query(&query));
                        }
                        Ask::Cancel { command, then } => match state.apply(&command)? {
                            _ if state.is_unknown() => {
                                answers.error(out, &item.echo, "unknown: it was done or not");
                            }
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

impl Clerk for State {
    fn info(&self) -> String {
        if let Some(left) = self.recovering.get().checked_sub(1) {
            self.recovering.set(left);
            return "loading:1\r\n".to_owned();
        }
        let Answer::Totals(totals) = self.query(&Query::Totals) else {
            panic!("totals were asked for");
        };
        let ahead = u64::from(self.fault == Fault::CountsOneMore && totals.orders > 0);
        format!(
            "# Server\r\nturnstile_version:0.1.0\r\ndurability:memory\r\nexchange_backend:embedded\r\n\
             exchange_orders_total:{}\r\nexchange_trades_total:{}\r\n\
             exchange_open_orders:{}\r\nposition:{}\r\n",
            totals.orders + ahead,
            totals.trades,
            totals.open_orders,
            self.commands * 10
        )
    }

    fn answer(
        &mut self,
        action: Action,
        arguments: Arguments<'_, '_>,
        reply: &mut Encoder<'_>,
    ) -> Option<()> {
        let Action::Exchange(verb) = action else {
            panic!("only words of the exchange are said here");
        };
        if self.recovering.get() > 0 {
            reply.error(format_args!("LOADING {RECOVERS}"));
            return Some(());
        }
        match parse(verb, arguments).unwrap() {
            Request::Command { command, key } => {
                let key = key.map(|key| format!("{key:?}"));
                let first = key.as_ref().and_then(|key| self.keys.get(key)).copied();
                if let Some((outcome, position)) = first {
                    put_outcome(reply, &outcome, position, true);
                    return Some(());
                }
                let outcome = self.apply(&command);
                let position = self.position();
                if let (Some(key), Some(outcome)) = (key, outcome.or_else(|| self.unsaid.take())) {
                    self.keys.insert(key, (outcome, position));
                }
                let outcome = outcome?;
                if self.is_unknown() {
                    reply.error(format_args!("UNKNOWN it was done or not"));
                    return Some(());
                }
                put_outcome(reply, &outcome, position, false);
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
    /// Whether nobody is told what the last command came to. The first hundred prepare the load.
    fn is_unknown(&self) -> bool {
        let often = self.commands > 100 && self.commands.is_multiple_of(100);
        often && self.fault == Fault::Unknown
    }

    /// Those of commands are ten apart.
    const fn position(&self) -> Position {
        let often = self.commands.is_multiple_of(100);
        if often && matches!(self.fault, Fault::Reorders) {
            return Position((self.commands - 20) * 10 + 5);
        }
        Position(self.commands * 10)
    }

    /// What was shown of a book before.
    fn stale(&mut self, query: &Query) -> Option<Answer> {
        let Query::Depth { symbol, .. } = *query else {
            return None;
        };
        self.looks += 1;
        if self.looks.is_multiple_of(40) {
            let now = self.query(query);
            self.shown.insert(symbol, now);
        }
        let shown = self.shown.get(&symbol).cloned();
        shown.filter(|_shown| self.fault == Fault::ReadsStale)
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
        let mut outcome = self.decide(command);
        if let (true, Outcome::Done(Done::Accepted { ticket, .. }), Command::Order(order)) =
            (self.commands.is_multiple_of(100), &mut outcome, command)
        {
            self.spoil(ticket, order.account);
        }
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
            (Fault::Recovers, 500) => {
                self.recovering.set(3);
                return None;
            }
            (Fault::Closes, commands) if commands.is_multiple_of(1_000) => {
                self.unsaid = Some(outcome);
                return None;
            }
            _ => {}
        }
        Some(outcome)
    }

    /// Does what the fault says to an order that was accepted.
    fn spoil(&mut self, ticket: &mut Ticket, account: AccountId) {
        match self.fault {
            Fault::LosesOrder => {
                let order = OrderRef::Id(ticket.order);
                self.decide(&Command::Cancel { account, order });
            }
            Fault::CentInTicket => ticket.value.0 += 1_000_000,
            _ => {}
        }
    }

    fn decide(&mut self, command: &Command) -> Outcome {
        decide(&mut self.machine, self.commands, command)
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
}
