//! Many concurrent callers, whose answers must fit one serial order.

use std::{
    cell::{Cell, RefCell},
    ops::Range,
};

use futures_util::future::join_all;
use turnstile_rooms::{Outcome, Reference, Rooms};
use turnstile_seed::Random;
use turnstile_types::{Position, Principal};

use super::{
    Stand, draw,
    history::{BEGINNING, Pair},
    offers,
    oracle::made,
};
use crate::{Backend, Request};

const CALLERS: u64 = 12;
const BATCHES: u64 = 12;

/// One command that was decided, and when its caller sent it and had the answer.
struct Decided {
    request: Request,
    outcome: Outcome,
    position: Position,
    sent: u64,
    answered: u64,
}

/// What the callers of a crowd share.
struct Crowd {
    seed: u64,
    made: RefCell<Vec<Reference>>,
    decided: RefCell<Vec<Decided>>,
    clock: Cell<u64>,
}

/// For each seed, lets a crowd ask two back ends on one database at once, and then the machine in
/// the order of the positions: the outcomes must be equal, and so must be the state.
///
/// # Errors
/// They are not, or a position tells that a command came before one that had been answered
/// before it was sent.
pub async fn check_crowds(stand: &impl Stand, seeds: Range<u64>) -> Result<(), String> {
    for seed in seeds {
        let first = stand.fresh().await;
        let second = stand.another().await;
        let mut pair = Pair::new(&first);
        pair.furnish().await?;
        let crowd = Crowd {
            seed,
            made: RefCell::default(),
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
        checked.map_err(|difference| format!("crowd {seed}: {difference}"))?;
    }
    Ok(())
}

impl Crowd {
    async fn call(&self, backend: &impl Backend<Rooms>, caller: u64) -> Result<(), String> {
        let mut random = Random::new(self.seed * CALLERS + caller);
        for _ in 0..BATCHES {
            let mut requests = Vec::new();
            for _ in 0..1 + random.below(4) {
                let command = draw::command(&mut random, &self.made.borrow());
                if offers(backend, &command) {
                    let principal = draw::principal(&mut random);
                    requests.push(Request::new::<Rooms>(principal, None, &command));
                }
            }
            let sent = self.instant();
            let results = backend.execute(BEGINNING, &requests).await;
            let answered = self.instant();
            if results.len() != requests.len() {
                return Err("it takes one answer for each command".into());
            }
            for (request, result) in requests.into_iter().zip(results) {
                let reply = result.map_err(|failure| format!("failed: {failure}"))?;
                self.made
                    .borrow_mut()
                    .extend(made(&mut reply.outcome.clone()).copied());
                self.decided.borrow_mut().push(Decided {
                    request,
                    outcome: reply.outcome,
                    position: reply.position,
                    sent,
                    answered,
                });
            }
        }
        Ok(())
    }

    fn instant(&self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }
}

async fn check<B: Backend<Rooms>>(
    pair: &mut Pair<'_, B>,
    mut decided: Vec<Decided>,
) -> Result<(), String> {
    decided.sort_by_key(|decided| decided.position);
    let mut story = String::new();
    let mut latest = 0;
    let mut last = Position(0);
    for one in &decided {
        let command = one.request.command::<Rooms>().expect("its own command");
        let principal: &Principal = &one.request.principal;
        story.push_str(&format!(
            "\n{} {principal:?} {command:?} -> {:?}",
            one.position, one.outcome
        ));
        if one.position == last {
            return Err(format!("{last} was given twice{story}"));
        }
        if one.answered < latest {
            return Err(format!(
                "it was answered before one of an earlier position was sent{story}"
            ));
        }
        latest = latest.max(one.sent);
        last = one.position;
        let given = (&one.outcome, one.position);
        let expected = pair.oracle.decide(BEGINNING, principal, &command, given)?;
        if expected != one.outcome {
            return Err(format!("the machine answers {expected:?}{story}"));
        }
    }
    pair.tick().await?;
    pair.compare()
        .await
        .map_err(|difference| format!("{difference}{story}"))
}
