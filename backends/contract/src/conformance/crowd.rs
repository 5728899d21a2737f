//! Many concurrent callers, whose answers must fit one serial order.

use std::{
    cell::{Cell, RefCell},
    fmt::Write as _,
    ops::Range,
};

use futures_util::future::join_all;
use turnstile_seed::Random;
use turnstile_types::{Key, Position, Timestamp};

use super::{BEGINNING, Stand, Suite, history::CheckedHistory};
use crate::{Backend, Failure, Reply, Request};

const CALLERS: u64 = 12;
const BATCHES: u64 = 12;

/// How often a caller asks again while the back end is away: each time it says so at once.
const TRIES_MAX: u64 = 10_000_000;

/// One command that was decided, and when its caller sent it and had the answer.
struct TimedCall<M: Suite> {
    request: Request,
    reply: Reply<M>,
    sent: u64,
    answered: u64,
}

/// What the callers of a crowd share.
struct Callers<'a, M: Suite> {
    seed: u64,
    now: Timestamp,
    /// What happens after so many batches, if anything; then each command has a key, and is sent
    /// again until it is answered.
    disturb: Option<(u64, &'a dyn Fn())>,
    batches: Cell<u64>,
    made: RefCell<Vec<M::Made>>,
    calls: RefCell<Vec<TimedCall<M>>>,
    clock: Cell<u64>,
}

/// For each seed, lets a crowd ask two back ends on one database at once, and then the machine in
/// the order of the positions: the outcomes must be equal, and so must be the state.
///
/// # Errors
/// They are not, or a position tells that a command came before one that had been answered
/// before it was sent.
pub async fn check_crowds<M: Suite>(
    stand: &impl Stand<M>,
    seeds: Range<u64>,
) -> Result<(), String> {
    for seed in seeds {
        check_crowd(stand, seed, None).await?;
    }
    Ok(())
}

/// Lets a crowd ask as [`check_crowds`] does, and calls `disturb` after each so many batches, while
/// others are on their way: it may cut connections or kill the database, as long as it comes back.
/// Every command has a key, and whoever is not answered asks again.
///
/// # Errors
/// Something was done twice, or not at all, or was forgotten after it had been answered.
pub async fn check_disturbed<M: Suite>(
    stand: &impl Stand<M>,
    seed: u64,
    (every, disturb): (u64, &dyn Fn()),
) -> Result<(), String> {
    check_crowd(stand, seed, Some((every, disturb))).await
}

async fn check_crowd<M: Suite>(
    stand: &impl Stand<M>,
    seed: u64,
    disturb: Option<(u64, &dyn Fn())>,
) -> Result<(), String> {
    let first = stand.fresh().await;
    let second = stand.another().await;
    let mut course = CheckedHistory::new(&first);
    course.furnish().await?;
    let mut random = Random::new(seed);
    let (before, later_ms) = M::BEFORE_CROWD;
    for _ in 0..before {
        course.batch(&mut random).await?;
    }
    course.now = BEGINNING.plus_ms(later_ms);
    let crowd = Callers {
        seed,
        now: course.now,
        disturb,
        batches: Cell::new(0),
        made: RefCell::new(course.made.clone()),
        calls: RefCell::default(),
        clock: Cell::new(0),
    };
    let called = join_all((0..CALLERS).map(|caller| {
        let backend = if caller % 2 == 0 { &first } else { &second };
        crowd.call(backend, caller)
    }))
    .await;
    let called: Result<(), String> = called.into_iter().collect();
    let checked = match called {
        Ok(()) => check(&mut course, crowd.calls.into_inner()).await,
        failed => failed,
    };
    checked.map_err(|difference| format!("crowd {seed}: {difference}"))
}

impl<M: Suite> Callers<'_, M> {
    async fn call(&self, backend: &impl Backend<M>, caller: u64) -> Result<(), String> {
        let mut random = Random::new(self.seed * CALLERS + caller);
        for batch in 0..BATCHES {
            let mut requests = Vec::new();
            for place in 0..1 + random.below(4) {
                let command = M::draw_command(&mut random, self.now, &self.made.borrow());
                if !M::offers(backend.unsupported(), &command) {
                    continue;
                }
                let key = format!("{caller}-{batch}-{place}");
                let key = Key::parse(key.as_bytes()).expect("a key of the suite");
                let key = self.disturb.map(|_disturb| key);
                let principal = random.pick(&M::principals());
                requests.push(Request::new::<M>(principal, key, &command));
            }
            let sent = self.instant();
            let replies = self.answered(backend, &requests).await?;
            let answered = self.instant();
            for (request, reply) in requests.into_iter().zip(replies) {
                self.made.borrow_mut().extend(M::made(&reply.outcome));
                self.calls.borrow_mut().push(TimedCall {
                    request,
                    reply,
                    sent,
                    answered,
                });
            }
            self.batches.set(self.batches.get() + 1);
            if let Some((every, disturb)) = self.disturb
                && self.batches.get().is_multiple_of(every)
            {
                disturb();
            }
        }
        Ok(())
    }

    /// Sends a batch, again where that is safe and the back end says that it may help.
    async fn answered(
        &self,
        backend: &impl Backend<M>,
        requests: &[Request],
    ) -> Result<Vec<Reply<M>>, String> {
        let mut tries = 0;
        loop {
            let results = backend.execute(self.now, requests).await;
            if results.len() != requests.len() {
                return Err("it takes one answer for each command".into());
            }
            let is_lost = |result: &Result<_, Failure>| {
                matches!(
                    result,
                    Err(Failure::Unavailable { .. } | Failure::Unknown { .. })
                )
            };
            tries += 1;
            if self.disturb.is_some() && tries < TRIES_MAX && results.iter().any(is_lost) {
                continue;
            }
            let replies = results.into_iter().collect::<Result<_, _>>();
            return replies.map_err(|failure| format!("failed: {failure}"));
        }
    }

    fn instant(&self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }
}

async fn check<M: Suite, B: Backend<M>>(
    course: &mut CheckedHistory<'_, M, B>,
    mut calls: Vec<TimedCall<M>>,
) -> Result<(), String> {
    calls.sort_by_key(|call| call.reply.position);
    let mut story = String::new();
    let mut latest = 0;
    let mut last = Position(0);
    for call in &calls {
        let command = call.request.command::<M>().expect("its own command");
        let principal = &call.request.principal;
        let (position, outcome) = (call.reply.position, &call.reply.outcome);
        writeln!(story, "{position} {principal:?} {command:?} -> {outcome:?}")
            .expect("memory takes it");
        if position == last {
            return Err(format!("{last} was given twice\n{story}"));
        }
        if call.answered < latest {
            return Err(format!(
                "it was answered before one of an earlier position was sent\n{story}"
            ));
        }
        latest = latest.max(call.sent);
        last = position;
        let given = (outcome, position);
        let expected = course
            .oracle
            .decide(course.now, principal, command, given)?;
        course.made.extend(M::made(outcome));
        if expected != *outcome {
            return Err(format!("the machine answers {expected:?}\n{story}"));
        }
    }
    let compared = match course.tick().await {
        Ok(()) => course.compare_all().await,
        different => different,
    };
    compared.map_err(|difference| format!("{difference}\n{story}"))
}
