//! Random histories of one caller at a time: equal outcomes and answers after every step.

use std::{collections::BTreeMap, ops::Range};

use turnstile_rooms::{Answer, Command, Query, Reference, Rooms};
use turnstile_seed::Random;
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Key, Position, Principal, Timestamp};

use super::{
    Stand, answers, draw, offers,
    oracle::{Oracle, forget_expiry, made},
};
use crate::{Backend, Failure, Reply, Request};

/// Early in 2027.
pub(super) const BEGINNING: Timestamp = Timestamp(1_798_761_600_000);

/// What was first answered under an idempotency key.
#[derive(Clone, Debug)]
struct First {
    at: Timestamp,
    request: Request,
    reply: Reply<Rooms>,
}

/// A back end and the machine, and where they are in their history.
pub(super) struct Pair<'a, B> {
    backend: &'a B,
    /// What is not asked of it, as another back end that comes after it does not offer it.
    pub(super) not_asked: &'static [&'static str],
    pub(super) oracle: Oracle,
    pub(super) now: Timestamp,
    made: Vec<Reference>,
    last: Position,
    keys: BTreeMap<(Principal, String), First>,
    /// What was asked and answered, for who must read it.
    story: Vec<String>,
}

/// Plays a history of so many steps for each seed, each from an empty back end.
///
/// # Errors
/// An answer is not the machine's; with the history that led to it.
pub async fn check_histories(
    stand: &impl Stand,
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

pub(super) async fn play<B: Backend<Rooms>>(
    pair: &mut Pair<'_, B>,
    random: &mut Random,
    steps: u32,
) -> Result<(), String> {
    pair.furnish().await?;
    go_on(pair, random, steps).await
}

/// Plays some steps, and compares all that can be asked.
pub(super) async fn go_on<B: Backend<Rooms>>(
    pair: &mut Pair<'_, B>,
    random: &mut Random,
    steps: u32,
) -> Result<(), String> {
    for _ in 0..steps {
        pair.now = pair.now.plus_ms(draw::wait_ms(random));
        match random.below(12) {
            0 => pair.tick().await?,
            1..4 => {
                let query = draw::query(random, &pair.made);
                pair.ask(&draw::principal(random), &query).await?;
            }
            _ => pair.batch(random).await?,
        }
    }
    pair.tick().await?;
    pair.compare().await
}

impl<B> Pair<'_, B> {
    /// The same history with another back end, which has the state of this one.
    pub(super) fn moved_to<C>(self, backend: &C) -> Pair<'_, C> {
        Pair {
            backend,
            not_asked: &[],
            oracle: self.oracle,
            now: self.now,
            made: self.made,
            last: self.last,
            keys: self.keys,
            story: self.story,
        }
    }

    /// Says what came before a difference.
    pub(super) fn told(&self, what: &str, difference: &str) -> String {
        let story = self.story.join("\n");
        format!("{what} differs: {difference}\n{story}")
    }
}

impl<'a, B: Backend<Rooms>> Pair<'a, B> {
    pub(super) fn new(backend: &'a B) -> Self {
        Self {
            backend,
            not_asked: &[],
            oracle: Oracle::new(),
            now: BEGINNING,
            made: Vec::new(),
            last: Position(0),
            keys: BTreeMap::new(),
            story: Vec::new(),
        }
    }

    /// Opens the properties of the suite.
    pub(super) async fn furnish(&mut self) -> Result<(), String> {
        let requests = draw::furniture()
            .iter()
            .map(|command| Request::new::<Rooms>(Principal::local(), None, command))
            .collect();
        self.execute(requests).await
    }

    /// Has some commands decided in one batch, some of them under idempotency keys.
    async fn batch(&mut self, random: &mut Random) -> Result<(), String> {
        let mut requests = Vec::new();
        for _ in 0..1 + random.below(5) {
            let principal = draw::principal(random);
            let command = draw::command(random, &self.made);
            let is_asked = !self.not_asked.contains(&command.code());
            if !is_asked || !offers(self.backend, &command) {
                continue;
            }
            let key = format!("key-{}", random.below(5));
            let first = self.keys.get(&(principal, key.clone()));
            requests.push(match first {
                Some(first) if random.one_in(8) => first.request.clone(),
                _ => {
                    let key = Key::parse(key.as_bytes()).expect("a key of the suite");
                    let key = Some(key).filter(|_key| random.one_in(8));
                    Request::new::<Rooms>(principal, key, &command)
                }
            });
        }
        self.execute(requests).await
    }

    /// Sends all that has a key again when the oldest key has its last moment, and in the next.
    pub(super) async fn retry_at_the_end(&mut self) -> Result<(), String> {
        let is_young = |first: &&First| self.now.ms_since(first.at) < KEY_MS;
        let oldest = self
            .keys
            .values()
            .filter(is_young)
            .min_by_key(|first| first.at);
        let Some(at) = oldest.map(|first| first.at) else {
            return Ok(());
        };
        self.now = self.now.max(Timestamp(at.0 + KEY_MS - 1));
        self.retry().await?;
        self.now = self.now.max(Timestamp(at.0 + KEY_MS));
        self.retry().await
    }

    /// Sends all that has a key again, and other commands under the same keys: who is remembered has its
    /// first answer or is refused, who is forgotten is decided anew.
    pub(super) async fn retry(&mut self) -> Result<(), String> {
        let firsts: Vec<_> = self.keys.values().cloned().collect();
        for First { request, .. } in firsts {
            let property = draw::name(&format!("anew-{}", self.last));
            let open = false;
            let command = Command::AddProperty { property, open };
            let key = request.key().map(|key| Key::parse(key.as_bytes()));
            let key = key.transpose().expect("a key of the suite");
            let other = Request::new::<Rooms>(request.principal, key, &command);
            self.execute(vec![request, other]).await?;
        }
        Ok(())
    }

    async fn execute(&mut self, requests: Vec<Request>) -> Result<(), String> {
        let results = self.backend.execute(self.now, &requests).await;
        self.story.push(format!("at {}", self.now));
        if results.len() != requests.len() {
            return Err(format!(
                "{} answers to {} commands",
                results.len(),
                requests.len()
            ));
        }
        for (request, result) in requests.into_iter().zip(results) {
            let command = request.command::<Rooms>().expect("a command of the suite");
            let (principal, key) = (request.principal, request.key());
            self.story
                .push(format!("{principal:?} {key:?} {command:?} -> {result:?}"));
            self.check(&request, &command, result)?;
        }
        Ok(())
    }

    fn check(
        &mut self,
        request: &Request,
        command: &Command<'_>,
        result: Result<Reply<Rooms>, Failure>,
    ) -> Result<(), String> {
        let name = request.key().map(|key| (request.principal, key.to_owned()));
        let first = name.as_ref().and_then(|name| self.keys.get(name));
        if let Some(first) = first.filter(|first| self.now.ms_since(first.at) < KEY_MS) {
            let expected = if first.request.bytes() == request.bytes() {
                Ok(Reply::<Rooms> {
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
        let given = (&reply.outcome, reply.position);
        let outcome = self
            .oracle
            .decide(self.now, &request.principal, command, given)?;
        self.made.extend(made(&mut reply.outcome.clone()).copied());
        let expected = Reply::<Rooms> {
            position: reply.position,
            replayed: false,
            outcome,
        };
        if let Some(name) = name {
            let first = First {
                at: self.now,
                request: request.clone(),
                reply: reply.clone(),
            };
            self.keys.insert(name, first);
        }
        equal(&reply, &expected)
    }

    /// Lets both do what is due, and compares their totals, which count what was found expired.
    pub(super) async fn tick(&mut self) -> Result<(), String> {
        self.story.push(format!("tick at {}", self.now));
        self.oracle.tick(self.now);
        let ticked = self.backend.tick(self.now).await;
        ticked.map_err(|failure| format!("failed: {failure}"))?;
        self.ask(&Principal::local(), &Query::Totals).await
    }

    /// Compares all that can be asked.
    pub(super) async fn compare(&mut self) -> Result<(), String> {
        for query in draw::whole() {
            for principal in draw::principals() {
                self.ask(&principal, &query).await?;
            }
        }
        for reference in self.made.clone() {
            self.ask(&Principal::local(), &Query::LookUp { reference })
                .await?;
        }
        Ok(())
    }

    async fn ask(&mut self, principal: &Principal, query: &Query) -> Result<(), String> {
        if !answers(self.backend, query) {
            return Ok(());
        }
        let mut expected = self.oracle.query(self.now, principal, query);
        let mut asked = *query;
        while let Some(next) = next_page(&mut expected) {
            turn(&mut asked, next)?;
            let page = self.oracle.query(self.now, principal, &asked);
            append(&mut expected, page);
        }
        let mut answer = self.answer(principal, query).await?;
        let mut asked = *query;
        while let Some(next) = next_page(&mut answer) {
            turn(&mut asked, next)?;
            append(&mut answer, self.answer(principal, &asked).await?);
        }
        let (now, last) = (self.now, self.last);
        equal(&answer, &expected)
            .map_err(|difference| format!("{query:?} at {now}, after {last}: {difference}"))
    }

    async fn answer(&self, principal: &Principal, query: &Query) -> Result<Answer, String> {
        let answer = self.backend.query(self.now, principal, query).await;
        let mut answer = answer.map_err(|failure| format!("{query:?} failed: {failure}"))?;
        match &mut answer {
            Answer::Entry(entry) => forget_expiry(entry),
            Answer::Page(page) => page.entries.iter_mut().for_each(forget_expiry),
            _ => {}
        }
        Ok(answer)
    }
}

fn equal<T: std::fmt::Debug + PartialEq>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("\nanswered {found:?}\nexpected {expected:?}"))
}

type Cursor = turnstile_rooms::Cursor;

const fn next_page(answer: &mut Answer) -> Option<Cursor> {
    match answer {
        Answer::Page(page) => page.next.take(),
        Answer::Properties { next, .. } => next.take(),
        _ => None,
    }
}

/// Asks for the page behind a cursor.
fn turn(query: &mut Query, next: Cursor) -> Result<(), String> {
    match query {
        Query::List { cursor, .. }
        | Query::Guest { cursor, .. }
        | Query::Holds { cursor, .. }
        | Query::Properties { cursor, .. } => *cursor = Some(next),
        _ => return Err(format!("{query:?} has another page")),
    }
    Ok(())
}

/// Puts one page behind another; a page cursor that leads nowhere is left out of the comparison.
fn append(answer: &mut Answer, page: Answer) {
    match (answer, page) {
        (Answer::Page(all), Answer::Page(page)) => {
            all.entries.extend(page.entries);
            all.next = page.next;
        }
        (
            Answer::Properties { properties, next },
            Answer::Properties {
                properties: more,
                next: last,
            },
        ) => {
            properties.extend(more);
            *next = last;
        }
        (answer, page) => *answer = page,
    }
}
