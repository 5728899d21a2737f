//! A client that buys journeys, one interactive transaction after the other.

use std::{io::Write as _, sync::Arc};

use turnstile_client::lines::{LineVerb, Reply, number, started};
use turnstile_lines::client::reply;
use turnstile_travel::Xid;

use super::{
    Managers,
    choice::{JourneyChooser, JourneyRule},
    ledger::PurchaseCounts,
    stock::{OfferCatalogue, Words},
};
use crate::pace::{Answer, Ended, Garbled, ParsedAnswer, User};

/// Transactions whose end is not known that are remembered without allocating. Each costs a
/// connection.
const LOST_ROOM: usize = 64;

/// One client. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub struct Traveller {
    stock: Arc<OfferCatalogue>,
    ledger: Arc<PurchaseCounts>,
    choice: JourneyChooser,
    /// Transactions that are still to begin, and how many of the first are not measured.
    left: u64,
    unmeasured: u64,
    begun: u64,
    /// What is to be asked next or, while an answer is owed, was asked last.
    step: Step,
    owed: bool,
    xid: Xid,
    customer: usize,
    journey: usize,
    /// When the transaction was due, and this client free for it.
    due: u64,
    free: u64,
    ended: Option<Answer<'static>>,
    lost: Lost,
}

/// Transactions whose connection was lost.
#[derive(Debug, Default)]
pub(super) struct Lost {
    /// Their commit was asked for, and nobody knows what came of it.
    pub(super) doubts: Vec<Doubt>,
    /// They were open.
    pub(super) open: Vec<Xid>,
    /// How many were just beginning.
    pub(super) beginning: u64,
}

/// A transaction that is committed or aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) xid: Xid,
    pub(super) customer: usize,
    pub(super) journey: usize,
}

/// The requests of a transaction; items are numbered by their place in the journey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Start,
    QueryCustomer,
    Query(usize),
    Reserve(usize),
    Commit,
    Abort,
}

/// What was asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    step: Step,
    verb: LineVerb,
    measured: bool,
}

impl Traveller {
    /// One who has a stock for itself, and buys journeys over several managers.
    #[must_use]
    pub fn alone(stock: &Arc<OfferCatalogue>, seed: u64) -> Self {
        let journeys = stock.over(Managers::Several);
        let choice = JourneyChooser::new(
            JourneyRule::Apart,
            journeys,
            stock.customers.len(),
            (0, 1),
            seed,
        );
        Self::new(stock, &Arc::new(PurchaseCounts::of(stock)), choice)
    }

    pub(super) fn new(
        stock: &Arc<OfferCatalogue>,
        ledger: &Arc<PurchaseCounts>,
        choice: JourneyChooser,
    ) -> Self {
        Self {
            stock: Arc::clone(stock),
            ledger: Arc::clone(ledger),
            choice,
            left: u64::MAX,
            unmeasured: 0,
            begun: 0,
            step: Step::Start,
            owed: false,
            xid: Xid(0),
            customer: 0,
            journey: 0,
            due: 0,
            free: 0,
            ended: None,
            lost: Lost {
                doubts: Vec::with_capacity(LOST_ROOM),
                open: Vec::with_capacity(LOST_ROOM),
                beginning: 0,
            },
        }
    }

    /// The same, who buys so many journeys, of which the first are not measured.
    pub(super) const fn limited(mut self, transactions: u64, unmeasured: u64) -> Self {
        self.left = transactions;
        self.unmeasured = unmeasured;
        self
    }

    /// What it lost.
    pub(super) fn into_lost(mut self) -> Lost {
        self.lose();
        self.lost
    }

    /// Whether a transaction is open, and its connection stands.
    fn is_within(&self) -> bool {
        self.step != Step::Start && !self.owed
    }

    /// When an answer is owed and will not come: the connection was lost.
    fn lose(&mut self) {
        if !self.owed {
            return;
        }
        self.owed = false;
        match self.step {
            Step::Start => self.lost.beginning += 1,
            Step::Commit => self.doubt(),
            Step::QueryCustomer | Step::Query(_) | Step::Reserve(_) | Step::Abort => {
                self.lost.open.push(self.xid);
            }
        }
        self.step = Step::Start;
    }

    fn doubt(&mut self) {
        self.lost.doubts.push(Doubt {
            xid: self.xid,
            customer: self.customer,
            journey: self.journey,
        });
    }

    /// Chooses what the next transaction buys; nothing when there is none.
    fn begin(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        self.begun += 1;
        (self.customer, self.journey) = self.choice.next();
        Some(())
    }

    /// Appends the line of the next step.
    fn put(&self, out: &mut Vec<u8>) -> LineVerb {
        let xid = self.xid;
        let customer = self.stock.customers[self.customer];
        let words = |place: usize| {
            let offer = self.stock.journeys[self.journey].offer(place);
            Words::of(&self.stock.offers[offer].item)
        };
        let (verb, written) = match self.step {
            Step::Start => (LineVerb::Start, writeln!(out, "Start")),
            Step::QueryCustomer => (
                LineVerb::QueryCustomer,
                writeln!(out, "QueryCustomer,{xid},{customer}"),
            ),
            Step::Query(place) => {
                let Words { query, key, .. } = words(place);
                (query, writeln!(out, "{query},{xid},{key}"))
            }
            Step::Reserve(place) => {
                let Words { reserve, key, .. } = words(place);
                (reserve, writeln!(out, "{reserve},{xid},{customer},{key}"))
            }
            Step::Commit => (LineVerb::Commit, writeln!(out, "Commit,{xid}")),
            Step::Abort => (LineVerb::Abort, writeln!(out, "Abort,{xid}")),
        };
        written.expect("writing to memory does not fail");
        verb
    }

    /// Takes what was answered to the step.
    fn take<'a>(&mut self, ask: &Ask, reply: Reply<'a>) -> Result<Answer<'a>, Garbled> {
        match (ask.step, reply) {
            (step, Reply::Done(text)) => {
                self.done(step, ask.verb, text)?;
                Ok(Answer::Done)
            }
            (Step::Reserve(_), Reply::Refused) => {
                self.step = Step::Abort;
                Ok(Answer::Refused(SOLD_OUT))
            }
            (Step::Start, Reply::Refused) => Ok(self.end(Answer::Refused(b"not_started"))),
            (_, Reply::Refused) => Err(Garbled),
            (_, Reply::Aborted(sentence)) => Ok(self.end(Answer::Refused(reason(sentence)))),
            (step, Reply::Invalid(sentence) | Reply::Exception(sentence)) => {
                match step {
                    Step::Start => {}
                    Step::Commit => self.doubt(),
                    Step::QueryCustomer | Step::Query(_) | Step::Reserve(_) | Step::Abort => {
                        self.lost.open.push(self.xid);
                    }
                }
                self.end(Answer::Error(b"exception"));
                Ok(Answer::Error(sentence))
            }
        }
    }

    fn done(&mut self, step: Step, verb: LineVerb, text: &[u8]) -> Result<(), Garbled> {
        self.step = match step {
            Step::Start => {
                self.xid = started(text).ok_or(Garbled)?;
                Step::QueryCustomer
            }
            Step::QueryCustomer => Step::Query(0),
            Step::Query(place) => {
                number(verb, text).ok_or(Garbled)?;
                Step::Reserve(place)
            }
            Step::Reserve(place) if place + 1 < self.stock.journeys[self.journey].len() => {
                Step::Query(place + 1)
            }
            Step::Reserve(_) => Step::Commit,
            Step::Commit => {
                self.ledger.add(self.customer, self.journey);
                self.ended = Some(Answer::Done);
                Step::Start
            }
            Step::Abort => {
                self.ended = Some(Answer::Refused(SOLD_OUT));
                Step::Start
            }
        };
        Ok(())
    }

    /// The transaction has ended; says how once more.
    fn end(&mut self, how: Answer<'static>) -> Answer<'static> {
        self.ended = Some(how);
        self.step = Step::Start;
        how
    }
}

const SOLD_OUT: &[u8] = b"sold_out";

/// Why a transaction was aborted, in a word.
fn reason(sentence: &[u8]) -> &'static [u8] {
    let sentence = str::from_utf8(sentence).unwrap_or_default();
    let reasons: [(&str, &[u8]); 7] = [
        ("in a deadlock", b"deadlock"),
        ("waited too long", b"lock_timeout"),
        ("time to live", b"expired"),
        ("did not answer in time", b"manager_away"),
        ("has lost it", b"manager_lost"),
        ("started anew", b"restarted"),
        ("its connection was closed", b"evicted"),
    ];
    let told = reasons.iter().find(|(words, _)| sentence.contains(words));
    told.map_or(b"aborted", |(_, reason)| reason)
}

impl User for Traveller {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = &[
        "start",
        "query_customer",
        "query_flight",
        "reserve_flight",
        "query_car",
        "reserve_car",
        "query_room",
        "reserve_room",
        "commit",
        "abort",
    ];

    const WHOLES: &'static [&'static str] = &["transaction"];

    const REQUEST_BYTES_MAX: usize = 128;

    fn goes_on(&self) -> bool {
        self.is_within()
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        self.lose();
        if self.step == Step::Start {
            self.begin()?;
        }
        let verb = self.put(out);
        self.owed = true;
        Some(Ask {
            step: self.step,
            verb,
            measured: self.begun > self.unmeasured,
        })
    }

    fn operation(ask: &Ask) -> usize {
        match ask.verb {
            LineVerb::Start => 0,
            LineVerb::QueryCustomer => 1,
            LineVerb::QueryFlight => 2,
            LineVerb::ReserveFlight => 3,
            LineVerb::QueryCars => 4,
            LineVerb::ReserveCar => 5,
            LineVerb::QueryRooms => 6,
            LineVerb::ReserveRoom => 7,
            LineVerb::Commit => 8,
            _ => 9,
        }
    }

    fn measures(ask: &Ask) -> bool {
        ask.measured
    }

    fn hear<'a>(
        &mut self,
        ask: &Ask,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let Some((reply, length)) = reply(ask.verb, bytes) else {
            return Ok(None);
        };
        let answer = self.take(ask, reply)?;
        self.owed = false;
        Ok(Some(ParsedAnswer { length, answer }))
    }

    fn heard(&mut self, ask: &Ask, due: u64, free: u64) -> Option<Ended> {
        if ask.step == Step::Start {
            (self.due, self.free) = (due, free);
        }
        let answer = self.ended.take()?;
        Some(Ended {
            whole: 0,
            due: self.due,
            free: self.free,
            measured: ask.measured,
            answer,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traveller(managers: Managers) -> Traveller {
        let stock = Arc::new(OfferCatalogue::named(0));
        let ledger = Arc::new(PurchaseCounts::of(&stock));
        let choice = JourneyChooser::new(JourneyRule::Apart, stock.over(managers), 200, (3, 8), 1);
        Traveller::new(&stock, &ledger, choice)
    }

    /// Asks, and takes this answer; says what was asked.
    fn exchange(traveller: &mut Traveller, answer: &str) -> (String, Ask, Option<Ended>) {
        let mut line = Vec::new();
        let ask = traveller.ask(&mut line).unwrap();
        let heard = traveller.hear(&ask, answer.as_bytes()).unwrap().unwrap();
        assert_eq!(heard.length, answer.len());
        let line = String::from_utf8(line).unwrap();
        let ended = traveller.heard(&ask, 5, 7);
        (line, ask, ended)
    }

    #[test]
    fn a_transaction_has_the_ancestors_nine_requests() {
        let mut traveller = traveller(Managers::Several);
        let customer = "1000000003";
        let conversation = [
            ("Start".to_owned(), "Transaction 17 started\n"),
            (
                format!("QueryCustomer,17,{customer}"),
                "Bill for customer 1\n\n",
            ),
            (
                format!("QueryFlight,17,{customer}"),
                "Number of seats available: 3\n",
            ),
            (
                format!("ReserveFlight,17,{customer},{customer}"),
                "Flight Reserved\n",
            ),
            (
                "QueryCars,17,lab0-3".to_owned(),
                "Number of cars at this location: 3\n",
            ),
            (format!("ReserveCar,17,{customer},lab0-3"), "Car Reserved\n"),
            (
                "QueryRooms,17,lab0-3".to_owned(),
                "Number of rooms at this location: 3\n",
            ),
            (
                format!("ReserveRoom,17,{customer},lab0-3"),
                "Room Reserved\n",
            ),
        ];
        for (number, (expected, answer)) in conversation.iter().enumerate() {
            assert_eq!(traveller.goes_on(), number > 0);
            let (line, ask, ended) = exchange(&mut traveller, answer);
            assert_eq!(line, format!("{expected}\n"));
            assert_eq!((Traveller::operation(&ask), ended), (number, None));
        }
        let (line, ask, ended) = exchange(&mut traveller, "Transaction 17 committed\n");
        assert_eq!((&*line, Traveller::operation(&ask)), ("Commit,17\n", 8));
        let committed = Ended {
            whole: 0,
            due: 5,
            free: 7,
            measured: true,
            answer: Answer::Done,
        };
        assert_eq!(ended, Some(committed));
        let bought: Vec<(usize, u64)> = traveller.ledger.of_customer(3).collect();
        assert_eq!(bought, [(3, 1)]);
        assert_eq!(traveller.ledger.total(), 1);
        assert!(!traveller.goes_on());
    }

    #[test]
    fn one_manager_has_three_pairs_on_flights() {
        let mut traveller = traveller(Managers::One);
        exchange(&mut traveller, "Transaction 1 started\n");
        exchange(&mut traveller, "Bill for customer 1\n\n");
        let flights = [1_000_000_003, 1_000_000_103, 1_000_000_153];
        for flight in flights {
            let (query, ..) = exchange(&mut traveller, "Number of seats available: 3\n");
            assert_eq!(query, format!("QueryFlight,1,{flight}\n"));
            let (reserve, ..) = exchange(&mut traveller, "Flight Reserved\n");
            assert_eq!(reserve, format!("ReserveFlight,1,1000000003,{flight}\n"));
        }
        let (commit, ..) = exchange(&mut traveller, "Transaction 1 committed\n");
        assert_eq!(commit, "Commit,1\n");
    }

    /// A client that has come to its first reserve.
    fn reserving() -> Traveller {
        let mut traveller = traveller(Managers::Several);
        exchange(&mut traveller, "Transaction 1 started\n");
        exchange(&mut traveller, "Bill for customer 1\n\n");
        exchange(&mut traveller, "Number of seats available: 0\n");
        traveller
    }

    #[test]
    fn what_is_sold_out_aborts_and_what_is_aborted_has_ended() {
        let mut sold_out = reserving();
        let (_, _, ended) = exchange(&mut sold_out, "Flight could not be reserved\n");
        assert_eq!(ended, None);
        let (line, _, ended) = exchange(&mut sold_out, "Transaction 1 aborted\n");
        assert_eq!(line, "Abort,1\n");
        assert_eq!(ended.unwrap().answer, Answer::Refused(b"sold_out"));
        for (sentence, reason) in [
            ("it was in a deadlock with transaction 3", "deadlock"),
            (
                "it waited too long for a lock of transaction 2",
                "lock_timeout",
            ),
            ("nothing was asked of it for its time to live", "expired"),
            ("cars did not answer in time", "manager_away"),
            ("rooms has lost it", "manager_lost"),
            ("the middleware started anew", "restarted"),
            ("its client aborted it", "aborted"),
        ] {
            let mut traveller = reserving();
            let answer = format!("TransactionAborted: transaction 1: {sentence}\n");
            let (_, _, ended) = exchange(&mut traveller, &answer);
            assert_eq!(ended.unwrap().answer, Answer::Refused(reason.as_bytes()));
            let (line, ..) = exchange(&mut traveller, "Transaction 2 started\n");
            assert_eq!((&*line, traveller.ledger.total()), ("Start\n", 0));
            assert_eq!(traveller.into_lost().open, []);
        }
    }

    #[test]
    fn what_was_under_way_when_the_connection_was_lost_is_remembered_for_what_it_was() {
        let mut traveller = reserving();
        let mut line = Vec::new();
        traveller.ask(&mut line).unwrap();
        assert!(!traveller.goes_on(), "a lost transaction does not go on");
        // It asks again on a new connection: a new transaction.
        exchange(&mut traveller, "Transaction 2 started\n");
        exchange(&mut traveller, "Bill for customer 1\n\n");
        for place in [
            "seats available",
            "cars at this location",
            "rooms at this location",
        ] {
            exchange(&mut traveller, &format!("Number of {place}: 9\n"));
            let item = if place.starts_with("seats") {
                "Flight"
            } else {
                "Car"
            };
            exchange(&mut traveller, &format!("{item} Reserved\n"));
        }
        line.clear();
        traveller.ask(&mut line).unwrap();
        assert_eq!(line, b"Commit,2\n");
        line.clear();
        traveller.ask(&mut line).unwrap();
        assert_eq!(line, b"Start\n");
        let lost = traveller.into_lost();
        assert_eq!((lost.open, lost.beginning), (vec![Xid(1)], 1));
        let doubt = Doubt {
            xid: Xid(2),
            customer: 11,
            journey: 11,
        };
        assert_eq!(lost.doubts, [doubt]);
    }

    #[test]
    fn a_limited_client_buys_so_many_and_does_not_measure_the_first() {
        let mut traveller = traveller(Managers::Several).limited(2, 1);
        let mut measured = Vec::new();
        for xid in [1, 2] {
            let started = format!("Transaction {xid} started\n");
            let (_, ask, _) = exchange(&mut traveller, &started);
            measured.push(Traveller::measures(&ask));
            exchange(&mut traveller, "TransactionAborted: transaction: why\n");
        }
        assert_eq!(measured, [false, true]);
        assert!(traveller.ask(&mut Vec::new()).is_none());
    }
}
