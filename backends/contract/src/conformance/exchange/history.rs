//! Random histories of one caller at a time: equal outcomes and answers after every step.

use std::{collections::BTreeMap, fmt, ops::Range};

use turnstile_exchange::{Answer, Command, Cursor, Exchange, OrderId, OrderRef, Query};
use turnstile_seed::Random;
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Key, Position, Principal, Timestamp};

use super::{
    draw,
    oracle::{Oracle, accepted, forget_trades},
};
use crate::{Backend, Failure, Reply, Request, conformance::Stand};

/// Early in 2027.
pub(super) const BEGINNING: Timestamp = Timestamp(1_798_761_600_000);

/// A history ends before orders that have ended would be forgotten: the machine does that by and
/// by, which an answer may show.
const LONGEST_MS: u64 = 6 * KEY_MS;

/// What was first answered under an idempotency key.
#[derive(Clone, Debug)]
struct First {
    at: Timestamp,
    request: Request,
    reply: Reply<Exchange>,
}

/// A back end and the machine, and where they are in their history.
pub(super) struct Pair<'a, B> {
    backend: &'a B,
    pub(super) oracle: Oracle,
    pub(super) now: Timestamp,
    pub(super) made: Vec<OrderId>,
    last: Position,
    keys: BTreeMap<String, First>,
    /// What was asked and answered, for who must read it.
    story: Vec<String>,
}

/// Plays a history of so many steps for each seed, each from an empty back end.
///
/// # Errors
/// An answer is not the machine's; with the history that led to it.
pub async fn check_histories(
    stand: &impl Stand<Exchange>,
    seeds: Range<u64>,
    steps: u32,
) -> Result<(), String> {
    for seed in seeds {
        let backend = stand.fresh().await;
        let mut pair = Pair::new(&backend);
        let played = play(&mut pair, &mut Random::new(seed), steps).await;
        played.map_err(|difference| {
            let story = pair.story.join("\n");
            format!("history {seed} differs: {difference}\n{story}")
        })?;
    }
    Ok(())
}

async fn play<B: Backend<Exchange>>(
    pair: &mut Pair<'_, B>,
    random: &mut Random,
    steps: u32,
) -> Result<(), String> {
    pair.furnish().await?;
    for step in 0..steps {
        let now = pair.now.plus_ms(draw::wait_ms(random));
        if now.ms_since(BEGINNING) < LONGEST_MS {
            pair.now = now;
        }
        match random.below(12) {
            0 => pair.tick().await?,
            1..4 => pair.ask(&draw::query(random, &pair.made)).await?,
            _ => pair.batch(random).await?,
        }
        if step % 8 == 0 {
            pair.compare().await?;
        }
    }
    pair.compare().await?;
    pair.compare_orders().await
}

impl<'a, B: Backend<Exchange>> Pair<'a, B> {
    pub(super) fn new(backend: &'a B) -> Self {
        Self {
            backend,
            oracle: Oracle::new(),
            now: BEGINNING,
            made: Vec::new(),
            last: Position(0),
            keys: BTreeMap::new(),
            story: Vec::new(),
        }
    }

    /// Opens the accounts of the suite.
    pub(super) async fn furnish(&mut self) -> Result<(), String> {
        let requests = draw::furniture()
            .iter()
            .map(|command| Request::new::<Exchange>(Principal::local(), None, command))
            .collect();
        self.execute(requests).await
    }

    /// Has some commands decided in one batch, some of them under idempotency keys.
    pub(super) async fn batch(&mut self, random: &mut Random) -> Result<(), String> {
        let mut requests = Vec::new();
        for _ in 0..1 + random.below(5) {
            let key = format!("key-{}", random.below(5));
            let first = self.keys.get(&key);
            requests.push(match first {
                Some(first) if random.one_in(8) => first.request.clone(),
                _ => {
                    let command = draw::command(random, self.now, &self.made);
                    let key = Key::parse(key.as_bytes()).expect("a key of the suite");
                    let key = Some(key).filter(|_key| random.one_in(8));
                    Request::new::<Exchange>(Principal::local(), key, &command)
                }
            });
        }
        self.execute(requests).await
    }

    async fn execute(&mut self, requests: Vec<Request>) -> Result<(), String> {
        let results = self.backend.execute(self.now, &requests).await;
        self.story.push(format!("at {}", self.now));
        let (answers, commands) = (results.len(), requests.len());
        if answers != commands {
            return Err(format!("{answers} answers to {commands} commands"));
        }
        for (request, result) in requests.into_iter().zip(results) {
            let command = request.command::<Exchange>();
            let command = command.expect("a command of the suite");
            let key = request.key();
            self.story
                .push(format!("{key:?} {command:?} -> {result:?}"));
            self.check(&request, &command, result)?;
        }
        Ok(())
    }

    fn check(
        &mut self,
        request: &Request,
        command: &Command,
        result: Result<Reply<Exchange>, Failure>,
    ) -> Result<(), String> {
        let first = request.key().and_then(|key| self.keys.get(key));
        if let Some(first) = first.filter(|first| self.now.ms_since(first.at) < KEY_MS) {
            let expected = if first.request.bytes() == request.bytes() {
                Ok(Reply::<Exchange> {
                    replayed: true,
                    ..first.reply.clone()
                })
            } else {
                Err(Failure::KeyReused {
                    first: first.reply.position,
                })
            };
            return equal(&result, &expected);
        }
        let reply = result.map_err(|failure| format!("failed: {failure}"))?;
        if reply.position <= self.last {
            return Err(format!("after {} came {}", self.last, reply.position));
        }
        self.last = reply.position;
        let (principal, given) = (&request.principal, &reply.outcome);
        let outcome = self.oracle.decide(self.now, principal, command, given)?;
        self.made.extend(accepted(given));
        equal(&reply.outcome, &outcome)?;
        if reply.replayed {
            return Err("a first answer calls itself a second one".to_owned());
        }
        if let Some(key) = request.key() {
            let first = First {
                at: self.now,
                request: request.clone(),
                reply,
            };
            self.keys.insert(key.to_owned(), first);
        }
        Ok(())
    }

    /// Lets both do what is due.
    async fn tick(&mut self) -> Result<(), String> {
        self.story.push(format!("tick at {}", self.now));
        self.oracle.tick(self.now);
        let ticked = self.backend.tick(self.now).await;
        ticked.map_err(|failure| format!("failed: {failure}"))
    }

    /// Compares all that can be asked, but for single orders.
    pub(super) async fn compare(&mut self) -> Result<(), String> {
        self.oracle.check()?;
        for query in draw::whole() {
            self.ask(&query).await?;
        }
        Ok(())
    }

    /// Compares every order that there ever was.
    pub(super) async fn compare_orders(&mut self) -> Result<(), String> {
        for order in self.made.clone() {
            let order = OrderRef::Id(order);
            let account = None;
            self.ask(&Query::Order { account, order }).await?;
        }
        Ok(())
    }

    /// Compares whole listings: a page's cursor is the back end's own.
    async fn ask(&mut self, query: &Query) -> Result<(), String> {
        let mut expected = self.oracle.query(self.now, query);
        let mut asked = *query;
        while let Some(next) = next_page(&mut expected) {
            turn(&mut asked, next)?;
            append(&mut expected, self.oracle.query(self.now, &asked));
        }
        let mut answer = self.answer(query).await?;
        let mut asked = *query;
        while let Some(next) = next_page(&mut answer) {
            turn(&mut asked, next)?;
            append(&mut answer, self.answer(&asked).await?);
        }
        let (now, last) = (self.now, self.last);
        equal(&answer, &expected)
            .map_err(|difference| format!("{query:?} at {now}, after {last}: {difference}"))
    }

    async fn answer(&self, query: &Query) -> Result<Answer, String> {
        let local = Principal::local();
        let answer = self.backend.query(self.now, &local, query).await;
        let mut answer = answer.map_err(|failure| format!("{query:?} failed: {failure}"))?;
        forget_trades(&mut answer);
        Ok(answer)
    }
}

fn equal<T: fmt::Debug + PartialEq>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("\nanswered {found:?}\nexpected {expected:?}"))
}

const fn next_page(answer: &mut Answer) -> Option<Cursor> {
    match answer {
        Answer::Account(account) => account.next.take(),
        Answer::Accounts { next, .. }
        | Answer::Symbols { next, .. }
        | Answer::Orders { next, .. }
        | Answer::Trades { next, .. } => next.take(),
        _ => None,
    }
}

/// Asks for the page behind a cursor.
fn turn(query: &mut Query, next: Cursor) -> Result<(), String> {
    match query {
        Query::Account { cursor, .. }
        | Query::Accounts { cursor, .. }
        | Query::Symbols { cursor, .. }
        | Query::Orders { cursor, .. }
        | Query::Trades { cursor, .. } => *cursor = Some(next),
        _ => return Err(format!("{query:?} has another page")),
    }
    Ok(())
}

/// Puts one page behind another.
fn append(answer: &mut Answer, page: Answer) {
    use Answer::{Account, Accounts, Orders, Symbols, Trades};
    let next = match (&mut *answer, page) {
        (Account(all), Account(page)) => {
            all.positions.extend(page.positions);
            all.next = page.next;
            return;
        }
        (
            Accounts { accounts, next },
            Accounts {
                accounts: more,
                next: last,
            },
        ) => {
            accounts.extend(more);
            (next, last)
        }
        (
            Symbols { symbols, next },
            Symbols {
                symbols: more,
                next: last,
            },
        ) => {
            symbols.extend(more);
            (next, last)
        }
        (
            Orders { orders, next },
            Orders {
                orders: more,
                next: last,
            },
        ) => {
            orders.extend(more);
            (next, last)
        }
        (
            Trades { trades, next },
            Trades {
                trades: more,
                next: last,
            },
        ) => {
            trades.extend(more);
            (next, last)
        }
        (_, page) => {
            *answer = page;
            return;
        }
    };
    *next.0 = next.1;
}
