//! Random histories of one caller at a time: equal outcomes and answers after every step.

use std::{collections::BTreeMap, fmt, ops::Range};

use turnstile_seed::Random;
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Key, Position, Principal, Timestamp};

use super::{BEGINNING, Stand, Suite, oracle::Oracle};
use crate::{Backend, Failure, Reply, Request, Scope};

/// What was first answered under an idempotency key.
#[derive(Clone, Debug)]
pub(super) struct FirstAnswer<M: Suite> {
    pub(super) at: Timestamp,
    pub(super) request: Request,
    reply: Reply<M>,
}

/// A back end and the machine, and where they are in their history.
pub(super) struct CheckedHistory<'a, M: Suite, B> {
    pub(super) backend: &'a B,
    /// What is not asked of it, as another back end that comes after it does not offer it.
    pub(super) not_asked: &'static [&'static str],
    pub(super) oracle: Oracle<M>,
    pub(super) now: Timestamp,
    pub(super) made: Vec<M::Made>,
    pub(super) last: Position,
    pub(super) keys: BTreeMap<(Principal, String), FirstAnswer<M>>,
    /// What was asked and answered, for who must read it.
    story: Vec<String>,
}

/// Plays a history of so many steps for each seed, each from an empty back end.
///
/// # Errors
/// An answer is not the machine's; with the history that led to it.
pub async fn check_histories<M: Suite>(
    stand: &impl Stand<M>,
    seeds: Range<u64>,
    steps: u32,
) -> Result<(), String> {
    for seed in seeds {
        let backend = stand.fresh().await;
        let mut course = CheckedHistory::new(&backend);
        let played = course.play(&mut Random::new(seed), steps).await;
        played.map_err(|difference| course.told(&format!("history {seed}"), &difference))?;
    }
    Ok(())
}

/// A request that has a key.
pub(super) fn keyed<M: Suite>(key: &str, command: &M::Command<'_>) -> Request {
    let key = Key::parse(key.as_bytes()).expect("a key of the suite");
    Request::new::<M>(Principal::local(), Some(key), command)
}

impl<M: Suite, B> CheckedHistory<'_, M, B> {
    /// The same history with another back end, which has the state of this one.
    pub(super) fn moved_to<C>(self, backend: &C) -> CheckedHistory<'_, M, C> {
        CheckedHistory {
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

impl<'a, M: Suite, B: Backend<M>> CheckedHistory<'a, M, B> {
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

    pub(super) async fn play(&mut self, random: &mut Random, steps: u32) -> Result<(), String> {
        self.furnish().await?;
        self.go_on(random, steps).await
    }

    /// Plays some steps, and compares all that can be asked.
    pub(super) async fn go_on(&mut self, random: &mut Random, steps: u32) -> Result<(), String> {
        for step in 1..=steps {
            let now = self.now.plus_ms(M::wait_ms(random));
            if now.ms_since(BEGINNING) < M::LONGEST_MS {
                self.now = now;
            }
            match random.below(12) {
                0 => self.tick().await?,
                1..4 => {
                    let query = M::draw_query(random, &self.made);
                    let principal = random.pick(&M::principals());
                    self.ask(&principal, &query).await?;
                    let scope = M::draw_query_scope(random, &query);
                    self.ask_within(&principal, (&query, &scope)).await?;
                }
                _ => self.batch(random).await?,
            }
            if step.is_multiple_of(M::COMPARED_EVERY) {
                self.compare().await?;
            }
        }
        self.tick().await?;
        self.compare_all().await
    }

    /// Does what comes before all else.
    pub(super) async fn furnish(&mut self) -> Result<(), String> {
        let requests = M::furniture()
            .iter()
            .map(|command| Request::new::<M>(Principal::local(), None, command))
            .collect();
        self.execute(requests).await
    }

    /// Has some commands decided in one batch, some of them under idempotency keys.
    pub(super) async fn batch(&mut self, random: &mut Random) -> Result<(), String> {
        let mut requests = Vec::new();
        for _ in 0..1 + random.below(5) {
            let principal = random.pick(&M::principals());
            let command = M::draw_command(random, self.now, &self.made);
            let is_offered = |unsupported| M::offers(unsupported, &command);
            if !is_offered(self.not_asked) || !is_offered(self.backend.unsupported()) {
                continue;
            }
            let key = format!("key-{}", random.below(5));
            let first = self.keys.get(&(principal, key.clone()));
            requests.push(match first {
                Some(first) if random.one_in(8) => {
                    let request = first.request.clone();
                    let command = request.command::<M>().expect("a command of the suite");
                    let scope = M::draw_scope(random, &command);
                    request.clone().within(scope)
                }
                _ => {
                    let key = Key::parse(key.as_bytes()).expect("a key of the suite");
                    let key = Some(key).filter(|_key| random.one_in(8));
                    let request = Request::new::<M>(principal, key, &command);
                    request.within(M::draw_scope(random, &command))
                }
            });
        }
        self.execute(requests).await
    }

    pub(super) async fn execute(&mut self, requests: Vec<Request>) -> Result<(), String> {
        let results = self.backend.execute(self.now, &requests).await;
        self.story.push(format!("at {}", self.now));
        let (answers, commands) = (results.len(), requests.len());
        if answers != commands {
            return Err(format!("{answers} answers to {commands} commands"));
        }
        for (request, result) in requests.iter().zip(results) {
            self.check(request, result)?;
        }
        Ok(())
    }

    /// Checks what became of a request, the latest of all.
    pub(super) fn check(
        &mut self,
        request: &Request,
        result: Result<Reply<M>, Failure>,
    ) -> Result<(), String> {
        let command = request.command::<M>().expect("a command of the suite");
        let (principal, key) = (request.principal, request.key());
        let scope = request.scope();
        self.story.push(format!(
            "{principal:?} {key:?} {command:?} within {scope:?} -> {result:?}"
        ));
        let name = key.map(|key| (principal, key.to_owned()));
        let first = name.as_ref().and_then(|name| self.keys.get(name));
        if let Some(first) = first.filter(|first| self.now.ms_since(first.at) < KEY_MS) {
            let expected = if first.request.bytes() == request.bytes() {
                Ok(again::<M>(&first.reply))
            } else {
                Err(Failure::KeyReused {
                    first: first.reply.position,
                })
            };
            return equal(&result, &expected);
        }
        let named = (scope, request.command::<M>().expect("as before"));
        if let Err(why) = self.oracle.judge(self.now, &principal, named) {
            return equal(&result, &Err(scope.refusal(why)));
        }
        let reply = result.map_err(|failure| format!("failed: {failure}"))?;
        if reply.position <= self.last {
            return Err(format!("after {} came {}", self.last, reply.position));
        }
        self.last = reply.position;
        let given = (&reply.outcome, reply.position);
        let outcome = self.oracle.decide(self.now, &principal, command, given)?;
        self.made.extend(M::made(&reply.outcome));
        let expected = Reply::<M> {
            position: reply.position,
            replayed: false,
            outcome,
        };
        if let Some(name) = name {
            let first = FirstAnswer {
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
        self.ask(&Principal::local(), &M::TOTALS).await
    }

    /// Compares all that can be asked, but for single things.
    async fn compare(&mut self) -> Result<(), String> {
        self.oracle.check()?;
        for query in M::whole() {
            for principal in M::principals() {
                self.ask(&principal, &query).await?;
            }
        }
        Ok(())
    }

    /// Compares all that can be asked, and everything that there ever was.
    pub(super) async fn compare_all(&mut self) -> Result<(), String> {
        self.compare().await?;
        for made in self.made.clone() {
            self.ask(&Principal::local(), &M::look_up(made)).await?;
        }
        Ok(())
    }

    /// Compares whole listings: a page's cursor is the back end's own.
    async fn ask(&mut self, principal: &Principal, query: &M::Query) -> Result<(), String> {
        if !M::answers(self.backend.unsupported(), query) {
            return Ok(());
        }
        let mut expected = self.oracle.query(self.now, principal, query);
        let mut asked = query.clone();
        while let Some(next) = M::next_page(&mut expected) {
            *M::cursor(&mut asked).ok_or("an answer without pages has another")? = Some(next);
            let page = self.oracle.query(self.now, principal, &asked);
            M::append(&mut expected, page);
        }
        let mut answer = self.answer(principal, query).await?;
        let mut asked = query.clone();
        while let Some(next) = M::next_page(&mut answer) {
            *M::cursor(&mut asked).ok_or("an answer without pages has another")? = Some(next);
            M::append(&mut answer, self.answer(principal, &asked).await?);
        }
        let (now, last) = (self.now, self.last);
        equal(&answer, &expected)
            .map_err(|difference| format!("{query:?} at {now}, after {last}: {difference}"))
    }

    /// Asks as a caller who may see only this.
    async fn ask_within(
        &mut self,
        principal: &Principal,
        (query, scope): (&M::Query, &Scope),
    ) -> Result<(), String> {
        if scope.is_everything() || !M::answers(self.backend.unsupported(), query) {
            return Ok(());
        }
        let now = self.now;
        let answer = self.oracle.query(now, principal, query);
        let judged = self.oracle.judge_query(principal, (scope, query, &answer));
        let expected = judged.map(|()| answer).map_err(|why| scope.refusal(why));
        let answer = self.backend.query_within(now, principal, (query, scope));
        let answer = answer.await.map(|mut answer| {
            M::forget_own(&mut answer);
            answer
        });
        equal(&answer, &expected)
            .map_err(|difference| format!("{query:?} within {scope:?} at {now}: {difference}"))
    }

    async fn answer(&self, principal: &Principal, query: &M::Query) -> Result<M::Answer, String> {
        let answer = self.backend.query(self.now, principal, query).await;
        let mut answer = answer.map_err(|failure| format!("{query:?} failed: {failure}"))?;
        M::forget_own(&mut answer);
        Ok(answer)
    }
}

/// What is answered to a retry.
pub(super) fn again<M: Suite>(first: &Reply<M>) -> Reply<M> {
    Reply::<M> {
        replayed: true,
        ..first.clone()
    }
}

fn equal<T: fmt::Debug + PartialEq>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("\nanswered {found:?}\nexpected {expected:?}"))
}
