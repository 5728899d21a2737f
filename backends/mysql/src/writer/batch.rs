//! One batch, from its lock to its commit.

use turnstile_contract::{Failure, Request};
use turnstile_rooms::{Outcome, Rooms};
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Machine, Timestamp};

use super::{Reply, Result, Writer};
use crate::{
    decide::{Asked, decide_within},
    fault::Fault,
    known::{Known, NotDecided},
    plan::plan,
    rows::{Record, Rows},
    session::{Session, TurnKind, Uncommitted},
    sql::{RowValues, put},
    tables::{Content, KeyRow, WriterRow},
};

/// Where a batch was cut off.
#[derive(Debug)]
pub(super) enum Cut {
    /// Nothing was written, or nothing of it stays.
    Before(Fault),
    /// When it was to be committed; these are its replies, if it was.
    InDoubt(Fault, Vec<Result<Reply>>),
}

impl Writer {
    /// Decides and commits a batch once.
    pub(super) async fn attempt(
        &mut self,
        now: Timestamp,
        requests: &[&Request],
    ) -> Result<Vec<Result<Reply>>, Cut> {
        let wants = plan(requests.iter().copied(), self.stops);
        let decided = self.try_to_decide(now, requests, wants).await;
        let (mut known, replies, must_write) = decided.map_err(|fault| {
            self.session = None;
            Cut::Before(fault)
        })?;
        self.stops = known.counters().stops > 0;
        let session = self.session.as_mut().expect("it has decided just now");
        if !must_write {
            let left = session.leave().await;
            return match left {
                Ok(()) => Ok(replies),
                Err(fault) => {
                    self.session = None;
                    Err(Cut::Before(fault))
                }
            };
        }
        self.batch += 1;
        let row = WriterRow {
            batch: self.batch,
            since: now,
        };
        known.writers.know(self.name, self.row.clone());
        known.writers.set(&self.name, row.clone());
        self.tally.round_trips.add(1);
        match session.commit(&known).await {
            Ok(()) => {
                self.row = Some(row);
                self.committed(requests.len());
                Ok(replies)
            }
            Err(uncommitted) => {
                self.session = None;
                Err(match uncommitted {
                    Uncommitted::Refused(fault) => Cut::Before(fault),
                    Uncommitted::InDoubt(fault) => Cut::InDoubt(fault, replies),
                })
            }
        }
    }

    /// Takes a turn and decides; says whether the commit must write: when that changed anything, or when an answer
    /// repeats what may not be flushed yet.
    async fn try_to_decide(
        &mut self,
        now: Timestamp,
        requests: &[&Request],
        wants: crate::wants::Wants,
    ) -> Result<(Known, Vec<Result<Reply>>, bool), Fault> {
        let session = self.session().await?;
        let mut trips = 1;
        let mut known = session.begin(TurnKind::Decide, now, wants).await?;
        let before = known.counters().position;
        let mut replies = Vec::with_capacity(requests.len());
        for request in requests {
            replies.push(reply(session, &mut known, request, &mut trips).await?);
        }
        let changed = known.counters().position != before;
        let must_flush = session.finds_unflushed() && replies.iter().any(is_from_key);
        self.tally.round_trips.add(trips);
        Ok((known, replies, changed || must_flush))
    }

    /// The last batch that this writer committed, as the database says; whoever wrote it has ended by
    /// then. If it is the batch in doubt it is also durable by then, since its callers are told.
    pub(super) async fn last_batch(&mut self, now: Timestamp) -> Result<Option<u64>, Fault> {
        let (name, doubted) = (self.name, self.batch);
        let session = self.session().await?;
        let mut known = session
            .begin(TurnKind::Decide, now, Default::default())
            .await?;
        let mut sql = String::new();
        put!(
            sql,
            "SELECT {} FROM {} WHERE ",
            WriterRow::COLUMNS.join(","),
            WriterRow::TABLE
        );
        WriterRow::put_key(
            &name,
            &mut RowValues::condition(&mut sql, WriterRow::COLUMNS),
        );
        sql.push_str(";\n");
        let answers = session.ask(&sql).await?;
        let mut rows = Rows::<WriterRow>::default();
        for row in answers.iter().flatten() {
            let (name, row) = WriterRow::read(&mut crate::fields::ColumnReader::of(row))?;
            rows.know(name, Some(row));
        }
        let mut found = rows.get(&name).flatten().cloned();
        match &mut found {
            Some(row) if row.batch == doubted && session.finds_unflushed() => {
                known.writers.know(name, Some(row.clone()));
                row.since = now.max(row.since.plus_ms(1));
                known.writers.set(&name, row.clone());
                let committed = session.commit(&known).await;
                committed.map_err(Uncommitted::into_fault)?;
            }
            _ => session.leave().await?,
        }
        self.row = found;
        Ok(self.row.as_ref().map(|row| row.batch))
    }
}

/// Whether an answer is made from what an earlier batch has kept under a key.
fn is_from_key(reply: &Result<Reply>) -> bool {
    match reply {
        Ok(reply) => reply.replayed,
        Err(failure) => matches!(failure, Failure::KeyReused { .. }),
    }
}

/// Decides one command, or finds its first answer.
async fn reply(
    session: &mut Session,
    known: &mut Known,
    request: &Request,
    trips: &mut u64,
) -> Result<Result<Reply>, Fault> {
    let content = request.content::<Rooms>();
    let key = request.key().map(|key| (request.principal, key.to_owned()));
    let first = key.as_ref().and_then(|key| known.keys.get(key).flatten());
    if let Some(first) = first.filter(|first| known.now.ms_since(first.since) < KEY_MS) {
        return Ok(first_answer(first, content));
    }
    let command = match request.command::<Rooms>() {
        Ok(command) => command,
        Err(malformed) => {
            let reason = format!("a command with a wrong {}", malformed.field);
            return Ok(Err(Failure::Broken { reason }));
        }
    };
    let position = known.counters().position.next();
    let asked = Asked {
        principal: request.principal,
        position,
    };
    let outcome = loop {
        match decide_within(known, &asked, (request.scope(), &command)) {
            Ok(Ok(done)) => break Outcome::Done(done),
            Ok(Err(why)) => return Ok(Err(request.scope().refusal(why))),
            Err(NotDecided::Refused(refusal)) => break Outcome::Refused(refusal),
            Err(NotDecided::Unknown) => {
                session.learn(known).await?;
                *trips += 1;
            }
        }
    };
    known.count(|counters| counters.position = position);
    if let Some(key) = key {
        let mut bytes = Vec::new();
        Rooms::encode_outcome(&outcome, &mut bytes);
        let first = KeyRow {
            content: Content(content),
            position,
            outcome: bytes,
            since: known.now,
        };
        known.keys.set(&key, first);
    }
    Ok(Ok(Reply {
        position,
        replayed: false,
        outcome,
    }))
}

/// What is answered to a command whose key is known.
fn first_answer(first: &KeyRow, content: u64) -> Result<Reply> {
    let position = first.position;
    if first.content.0 != content {
        return Err(Failure::KeyReused { first: position });
    }
    let outcome = Rooms::decode_outcome(&first.outcome);
    let outcome = outcome.map_err(|malformed| Failure::Broken {
        reason: format!("the outcome under a key has a wrong {}", malformed.field),
    })?;
    Ok(Reply {
        position,
        replayed: true,
        outcome,
    })
}
