//! Requests and answers side by side. The machine in between says yes to everything: what it
//! refuses is its own matter.

mod answers;
mod frames;
mod malformed;
mod random;
mod rows;

use turnstile_exchange::{
    AccountId, Answer, Cash, Command, Decimal, Done, EndReason, Execution, OrderId, OrderView,
    Outcome, Query, SelfTrade, Side, Symbol, Ticket, TicketState, TimeInForce,
};
use turnstile_types::Timestamp;

use crate::{Answers, Ask, Framed, Options, Requests, frame, put_error};

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).unwrap()
}

/// An order of which 200 were sold at 127 and 0.5 cancelled.
fn view(order: OrderId) -> OrderView {
    OrderView {
        order,
        client_id: None,
        account: AccountId::parse(b"1").unwrap(),
        symbol: Symbol::parse(b"SPY").unwrap(),
        side: Side::Sell,
        quantity: decimal("200.5"),
        limit: Some(decimal("124")),
        time_in_force: TimeInForce::GoodTillCancel,
        self_trade: SelfTrade::Skip,
        since: Timestamp(1_000),
        open: Decimal::ZERO,
        cancelled: Some((
            decimal("0.5"),
            Timestamp(1_519_348_400_999),
            EndReason::Cancelled,
        )),
        executions: vec![Execution {
            quantity: decimal("200"),
            price: decimal("127"),
            at: Timestamp(1_519_348_326_001),
            counterparty: OrderId(3),
        }],
    }
}

/// A machine that does everything it is asked, and remembers what that was.
#[derive(Default)]
struct Willing {
    asked: Vec<Ask>,
    orders: u64,
}

impl Willing {
    fn execute(&mut self, command: Command) -> Outcome {
        Outcome::Done(match command {
            Command::CreateAccount { .. } => Done::AccountCreated,
            Command::Grant { quantity, .. } => Done::Granted { position: quantity },
            Command::Order(order) => {
                self.orders += 1;
                let ticket = Ticket {
                    order: OrderId(self.orders),
                    state: TicketState::Open,
                    filled: Decimal::ZERO,
                    value: Cash(0),
                    open: order.quantity,
                };
                Done::Accepted {
                    ticket,
                    again: false,
                }
            }
            other => panic!("no item asks for {other:?}"),
        })
    }

    fn query(query: Query) -> Answer {
        let Query::Order {
            order: turnstile_exchange::OrderRef::Id(order),
            ..
        } = query
        else {
            panic!("no item asks for {query:?}");
        };
        Answer::Order(view(order))
    }
}

/// Everything that a connection would send back for these bytes, and what the machine was asked.
fn serve(options: Options, stream: &[u8]) -> (String, Vec<Ask>) {
    let mut requests = Requests::new(options);
    let mut machine = Willing::default();
    let (mut out, mut at) = (Vec::new(), 0);
    loop {
        match frame(&stream[at..], options.frame_bytes_max) {
            Framed::Incomplete { .. } => break,
            Framed::Broken(fault) => {
                put_error(&mut out, &options, fault);
                break;
            }
            Framed::Frame { xml, consumed } => {
                request(
                    options,
                    &mut requests,
                    &stream[at..][xml],
                    &mut machine,
                    &mut out,
                );
                at += consumed;
            }
        }
    }
    (String::from_utf8(out).unwrap(), machine.asked)
}

fn request(
    options: Options,
    requests: &mut Requests,
    xml: &[u8],
    machine: &mut Willing,
    out: &mut Vec<u8>,
) {
    let batch = match requests.read(xml) {
        Ok(batch) => batch,
        Err(malformed) => return put_error(out, &options, malformed),
    };
    let answers = Answers::begin(out, &options);
    for item in batch.items() {
        machine.asked.push(item.ask);
        match item.ask {
            Ask::Command(command) => {
                answers.outcome(out, &item.echo, &machine.execute(command));
            }
            Ask::Query(query) => answers.status(out, &item.echo, &Willing::query(query)),
            Ask::Cancel { then, .. } => {
                answers.cancelled(out, &item.echo, &Willing::query(then));
            }
            Ask::Nothing(why) => answers.invalid(out, &item.echo, &why),
        }
    }
    answers.finish(out);
}

/// The frame of this XML.
fn framed(xml: &str) -> String {
    format!("{}\n{xml}", xml.len())
}

/// What is answered to one frame with this XML.
fn answered(options: Options, xml: &str) -> String {
    serve(options, framed(xml).as_bytes()).0
}
