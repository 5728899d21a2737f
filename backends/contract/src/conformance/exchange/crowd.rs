//! Many concurrent callers, whose answers must fit one serial order.

use std::{
    cell::{Cell, RefCell},
    fmt::Write,
    ops::Range,
};

use futures_util::future::join_all;
use turnstile_exchange::{Exchange, OrderId, Outcome};
use turnstile_seed::Random;
use turnstile_types::{Key, Position, Principal, Timestamp};

use super::{
    draw,
    history::{BEGINNING, Pair},
    oracle::accepted,
};
use crate::{Backend, Failure, Reply, Request, conformance::Stand};

const CALLERS: u64 = 12;
const BATCHES: u64 = 12;

/// Batches of one caller before the crowd comes, so that orders wait on the books.
const BEFORE: u64 = 10;

/// How often a caller asks again while the back end is away: each time it says so at once.
const TRIES_MAX: u64 = 10_000_000;

/// When the crowd comes: by then some of those orders are due, and whoever is first expires them.
const OPENING: Timestamp = Timestamp(BEGINNING.0 + 1_000);

/// One command that was decided, and when its caller sent it and had the answer.
struct Decided {
    request: Request,
    outcome: Outcome,
    position: Position,
    sent: u64,
    answered: u64,
}

/// What the callers of a crowd share.
struct Crowd<'a> {
    seed: u64,
    /// What happens after so many batches, if anything; then each command has a key, and is sent
    /// again until it is answered.
    disturb: Option<(u64, &'a dyn Fn())>,
    batches: Cell<u64>,
    made: RefCell<Vec<OrderId>>,
    decided: RefCell<Vec<Decided>>,
    clock: Cell<u64>,
}

/// For each seed, lets a crowd ask two back ends on one database at once, and then the machine in
/// the order of the positions: the outcomes must be equal, and so must be the state, with every
/// unit of cash and every share.
///
/// # Errors
/// They are not, or a position tells that a command came before one that had been answered
/// before it was sent.
pub async fn check_crowds(stand: &impl Stand<Exchange>, seeds: Range<u64>) -> Result<(), String> {
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
pub async fn check_disturbed(
    stand: &impl Stand<Exchange>,
    seed: u64,
    (every, disturb): (u64, &dyn Fn()),
) -> Result<(), String> {
    check_crowd(stand, seed, Some((every, disturb))).await
}

async fn check_crowd(
    stand: &impl Stand<Exchange>,
    seed: u64,
    disturb: Option<(u64, &dyn Fn())>,
) -> Result<(), String> {
    let first = stand.fresh().await;
    let second = stand.another().await;
    let mut pair = Pair::new(&first);
    pair.furnish().await?;
    let mut random = Random::new(seed);
    for _ in 0..BEFORE {
        pair.batch(&mut random).await?;
    }
    pair.now = OPENING;
    let crowd = Crowd {
        seed,
        disturb,
        batches: Cell::new(0),
        made: RefCell::new(pair.made.clone()),
        decided: RefCell::default(),
        clock: Cell::new(0),
    };
    let called = join_all((0..CALLERS).map(|caller| {
        let backend = if caller % 2 == 0 { &first } else { &second };
        crowd.call(backend, caller)
    }))
    .await;
    let called: Result<(), String> = called.into_iter().collect();
    let checked = match called {
        Ok(()) => check(&mut pair, crowd.decided.into_inner()).await,
        failed => failed,
    };
    checked.map_err(|difference| format!("crowd {seed}: {difference}"))
}

impl Crowd<'_> {
    async fn call(&self, backend: &impl Backend<Exchange>, caller: u64) -> Result<(), String> {
        let mut random = Random::new(self.seed * CALLERS + caller);
        for batch in 0..BATCHES {
            let mut requests = Vec::new();
            for place in 0..1 + random.below(4) {
                let command = draw::command(&mut random, OPENING, &self.made.borrow());
                let key = format!("{caller}-{batch}-{place}");
                let key = Key::parse(key.as_bytes()).expect("a key of the suite");
                let key = self.disturb.map(|_disturb| key);
                requests.push(Request::new::<Exchange>(Principal::local(), key, &command));
            }
            let sent = self.instant();
            let replies = self.answered(backend, &requests).await?;
            let answered = self.instant();
            for (request, reply) in requests.into_iter().zip(replies) {
                self.made.borrow_mut().extend(accepted(&reply.outcome));
                self.decided.borrow_mut().push(Decided {
                    request,
                    outcome: reply.outcome,
                    position: reply.position,
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
        backend: &impl Backend<Exchange>,
        requests: &[Request],
    ) -> Result<Vec<Reply<Exchange>>, String> {
        let mut tries = 0;
        loop {
            let results = backend.execute(OPENING, requests).await;
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

async fn check<B: Backend<Exchange>>(
    pair: &mut Pair<'_, B>,
    mut decided: Vec<Decided>,
) -> Result<(), String> {
    decided.sort_by_key(|decided| decided.position);
    let mut story = String::new();
    let mut latest = 0;
    let mut last = Position(0);
    for one in &decided {
        let command = one.request.command::<Exchange>();
        let command = command.expect("its own command");
        let (position, outcome) = (one.position, &one.outcome);
        writeln!(story, "{position} {command:?} -> {outcome:?}").expect("memory takes it");
        if position == last {
            return Err(format!("{last} was given twice\n{story}"));
        }
        if one.answered < latest {
            return Err(format!(
                "it was answered before one of an earlier position was sent\n{story}"
            ));
        }
        latest = latest.max(one.sent);
        last = position;
        let principal = &one.request.principal;
        let expected = pair.oracle.decide(OPENING, principal, &command, outcome)?;
        pair.made.extend(accepted(outcome));
        if expected != *outcome {
            return Err(format!("the machine answers {expected:?}\n{story}"));
        }
    }
    let compared = match pair.compare().await {
        Ok(()) => pair.compare_orders().await,
        different => different,
    };
    compared.map_err(|difference| format!("{difference}\n{story}"))
}
