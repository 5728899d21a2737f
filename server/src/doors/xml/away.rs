//! Items that a database decides: how they leave, and how their answers are written.

use std::{fmt, ops::Range, vec};

use turnstile_contract::{Failure, Reply, Request, Scope};
use turnstile_exchange::{Answer, Command, Exchange, Outcome, Query};
use turnstile_xml::{Ask, Batch};

use super::{Answering, UnderWay, answer_items};
use crate::{
    core::{
        caller::NotPermitted,
        conversation::Surroundings,
        engine::Engine,
        remote::{BATCH_COMMANDS, Job, Landing, RequestOrigin, Requester, ScopedQuery},
    },
    counters::Counters,
    registry::Registered as _,
};

/// Queries that leave together, and cancels, each of which is followed by one: an answer may list
/// thousands of executions, and all of them are in memory until they are written.
const QUERIES_AT_ONCE: usize = 64;

/// Items of one request on their way to a database and back.
///
/// Commands that stand side by side leave together, and the database decides them in their order; so do
/// queries. What was cancelled is asked for when all of them have landed: an order that has ended
/// does not change any more, so that the answer is the one of the moment after its cancel.
#[derive(Debug)]
pub(super) struct Away {
    items: Range<usize>,
    waits: bool,
    /// One for each command, when they have landed.
    outcomes: Vec<Result<Outcome, Failure>>,
    /// One for each query, and for each order that was cancelled, when they have landed.
    answers: Vec<Result<Answer, Failure>>,
}

impl Away {
    /// Whether the database has yet to answer.
    pub(super) const fn waits(&self) -> bool {
        self.waits
    }

    pub(super) fn land(&mut self, landing: Landing<Exchange>) {
        self.waits = false;
        match landing {
            Landing::Commands(decided, _) => {
                let outcomes = decided
                    .into_iter()
                    .map(|(_, result)| result.map(|Reply::<Exchange> { outcome, .. }| outcome));
                self.outcomes = outcomes.collect();
            }
            Landing::Queries(answers, _) => self.answers = answers,
        }
    }

    /// The queries about what these commands have cancelled: orders of accounts that the caller trades.
    fn queries_about_cancelled(&self, batch: Batch<'_>) -> Vec<ScopedQuery<Exchange>> {
        let mut outcomes = self.outcomes.iter();
        let mut queries = Vec::new();
        for item in self.items.clone().filter_map(|place| batch.get(place)) {
            let then = match item.ask {
                Ask::Command(_) => None,
                Ask::Cancel { then, .. } => Some(then),
                Ask::Query(_) | Ask::Nothing(_) => continue,
            };
            let is_done = matches!(outcomes.next(), Some(Ok(Outcome::Done(_))));
            let then = then.filter(|_| is_done);
            queries.extend(then.map(|then| (then, Scope::EVERYTHING)));
        }
        queries
    }
}

/// Items that can leave together: commands or queries, never both, as the answer to a query must not
/// see what stands behind it. Items that ask for nothing go with either.
#[derive(Debug, Default)]
struct Leaving {
    items: Range<usize>,
    commands: Vec<Command>,
    queries: Vec<ScopedQuery<Exchange>>,
    /// Why the item behind them is not permitted, if it is not.
    denied: Option<NotPermitted>,
}

impl Leaving {
    /// Those from a place on, up to the first that is not permitted; `permit` says what it may name.
    fn of(
        batch: Batch<'_>,
        from: usize,
        most: usize,
        permit: &mut dyn FnMut(&Ask) -> Result<Scope, NotPermitted>,
    ) -> Self {
        let mut leaving = Self {
            items: from..from,
            ..Self::default()
        };
        let mut cancels = 0;
        for place in from..batch.len().min(from + most.min(BATCH_COMMANDS)) {
            let Some(item) = batch.get(place) else {
                break;
            };
            let fits = match item.ask {
                Ask::Command(_) | Ask::Cancel { .. } => {
                    leaving.queries.is_empty() && cancels < QUERIES_AT_ONCE
                }
                Ask::Query(_) => {
                    leaving.commands.is_empty() && leaving.queries.len() < QUERIES_AT_ONCE
                }
                Ask::Nothing(_) => true,
            };
            if !fits {
                break;
            }
            // Each counts as a request of its caller, so that only what leaves is asked about.
            let scope = match permit(&item.ask) {
                Ok(scope) => scope,
                Err(denied) => {
                    leaving.denied = Some(denied);
                    break;
                }
            };
            match item.ask {
                Ask::Command(command) => leaving.commands.push(command),
                Ask::Cancel { command, .. } => {
                    leaving.commands.push(command);
                    cancels += 1;
                }
                Ask::Query(query) => leaving.queries.push((query, scope)),
                Ask::Nothing(_) => {}
            }
            leaving.items.end = place + 1;
        }
        leaving
    }
}

impl UnderWay {
    /// Tells what has landed, and sends the next items on their way, up to `budget` of them; says how
    /// many.
    pub(super) fn go_on_away(
        &mut self,
        client: u64,
        around: &mut Surroundings<'_>,
        batch: Batch<'_>,
        budget: usize,
    ) -> usize {
        if let Some(away) = self.away.take() {
            if away.answers.is_empty() {
                let queries = away.queries_about_cancelled(batch);
                if !queries.is_empty() {
                    ask(client, around, queries);
                    let waits = true;
                    self.away = Some(Away { waits, ..away });
                    return 0;
                }
            }
            let told = Told::of(away.outcomes, away.answers, around);
            self.tell(told, batch, away.items);
        }
        let leaving = Leaving::of(batch, self.next, budget, &mut |ask| {
            permit(around.engine, ask)
        });
        if leaving.items.is_empty()
            && let Some((item, denied)) = batch.get(self.next).zip(leaving.denied)
        {
            self.answers.error(&mut self.said, &item.echo, denied);
            self.next += 1;
            return 1;
        }
        let count = leaving.items.len();
        if !leaving.commands.is_empty() {
            order(client, around, &leaving.commands);
        } else if !leaving.queries.is_empty() {
            ask(client, around, leaving.queries);
        } else {
            let nothing = Told::of(Vec::new(), Vec::new(), around);
            self.tell(nothing, batch, leaving.items);
            return count;
        }
        self.away = Some(Away {
            items: leaving.items,
            waits: true,
            outcomes: Vec::new(),
            answers: Vec::new(),
        });
        count
    }

    fn tell(&mut self, mut told: Told<'_>, batch: Batch<'_>, items: Range<usize>) {
        self.next = items.end;
        answer_items(&mut told, batch, items, self.answers, &mut self.said);
    }
}

/// Asserts that the caller may ask for an item, and says what that may name.
fn permit(engine: &mut Engine, ask: &Ask) -> Result<Scope, NotPermitted> {
    engine.spend()?;
    engine.check_under_way()?;
    match ask {
        Ask::Command(command) => engine.permit_away::<Exchange>(None, command),
        Ask::Query(query) => engine.permit_query_away::<Exchange>(query),
        // What is asked about the order afterwards needs less.
        Ask::Cancel { command, .. } => engine.permit_away::<Exchange>(None, command),
        Ask::Nothing(_) => Ok(Scope::EVERYTHING),
    }
}

/// Sends commands to the database.
fn order(client: u64, around: &mut Surroundings<'_>, commands: &[Command]) {
    let principal = around.engine.caller.principal;
    let requests = commands
        .iter()
        .map(|command| Request::new::<Exchange>(principal, None, command))
        .collect();
    let operations = commands.iter().map(Exchange::command_place);
    let caller = caller(client, around, operations);
    send(around, Job::Commands(requests, caller));
}

/// Sends queries to the database.
fn ask(client: u64, around: &mut Surroundings<'_>, queries: Vec<ScopedQuery<Exchange>>) {
    for (query, _) in &queries {
        around.engine.counters.query::<Exchange>(query);
    }
    let principal = around.engine.caller.principal;
    let places = queries
        .iter()
        .map(|(query, _)| Exchange::query_place(query));
    let caller = caller(client, around, places);
    send(around, Job::Queries(principal, queries, caller));
}

fn caller<T>(
    client: u64,
    around: &Surroundings<'_>,
    operations: impl Iterator<Item = usize> + Clone,
) -> Requester<T> {
    let place = around.place;
    let engine = &*around.engine;
    Requester::new(
        RequestOrigin::Connection { place, client },
        engine.stopwatch.time::<Exchange>(operations.clone()),
    )
    .noted(engine.note_sent(operations))
}

fn send(around: &mut Surroundings<'_>, job: Job<Exchange>) {
    around.engine.send_away::<Exchange>(job);
}

/// What a database has answered, one after the other.
struct Told<'a> {
    counters: &'a Counters,
    outcomes: vec::IntoIter<Result<Outcome, Failure>>,
    answers: vec::IntoIter<Result<Answer, Failure>>,
}

impl<'a> Told<'a> {
    fn of(
        outcomes: Vec<Result<Outcome, Failure>>,
        answers: Vec<Result<Answer, Failure>>,
        around: &'a Surroundings<'_>,
    ) -> Self {
        Self {
            counters: &around.engine.counters,
            outcomes: outcomes.into_iter(),
            answers: answers.into_iter(),
        }
    }
}

impl Answering for Told<'_> {
    type Error = Untold;

    fn counters(&self) -> &Counters {
        self.counters
    }

    fn decide(&mut self, _command: &Command) -> Result<Outcome, Untold> {
        let outcome = self.outcomes.next();
        outcome
            .expect("one outcome for each command")
            .map_err(Untold)
    }

    fn ask(&mut self, _query: &Query) -> Result<Answer, Untold> {
        let answer = self.answers.next();
        answer.expect("one answer for each query").map_err(Untold)
    }
}

/// Why a database did not answer, with the word for it before the sentence.
struct Untold(Failure);

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(failure) = self;
        write!(f, "{}: {failure}", failure.code())
    }
}
