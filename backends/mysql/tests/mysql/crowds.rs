//! Many callers through several servers on one database, and no deadlock among these.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use turnstile_contract::{Backend, Request, conformance::Stand};
use turnstile_mysql::Mysql;
use turnstile_rooms::{Command, Done, Outcome, Reference, Rooms};
use turnstile_trial::MariaServer;
use turnstile_types::{Principal, Timestamp};

use crate::{
    hotel::{GUEST, NOW, booking, furnish, runtime, totals},
    stand::Maria,
};

/// Callers of both servers together.
const CALLERS: u16 = 16;

/// Batches of each.
const STEPS: u16 = 40;

/// Bookings in a batch; the next cancels them.
const ROOMS: u16 = 8;

/// Of which it lets the server forget after one.
const STEPS_PER_TICK: u16 = 5;

/// How far the clock goes on with each batch: the keys of earlier ones count no more, and are written
/// again while they are being forgotten.
const STEP_MS: u64 = 25 * 60 * 60 * 1_000;

/// Whoever decided wrote the row of counters by an `INSERT` that finds it there, for which MySQL takes
/// a lock that comes behind those who wait for the row, and they for it: nearly each batch
/// with somebody behind it was a deadlock. The tick forgot keys beside all turns.
fn check(server: MariaServer) {
    let stand = Maria::on(server, "innodb");
    runtime().block_on(async {
        let servers = [
            Arc::new(stand.fresh().await),
            Arc::new(stand.another().await),
        ];
        furnish(&servers[0]).await;
        let clock = Arc::new(AtomicU64::new(0));
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let server = &servers[usize::from(caller) % servers.len()];
                tokio::spawn(call(Arc::clone(server), Arc::clone(&clock), caller))
            })
            .collect();
        for caller in callers {
            caller.await.expect("it was answered");
        }
        assert_eq!(
            totals(&servers[0]).await.bookings,
            u64::from(CALLERS * ROOMS)
        );
        assert_eq!(stand.deadlocks(), 0);
        for server in &servers {
            let tally = server.tally();
            let again = (
                tally.deadlock_retries.get(),
                tally.serialization_retries.get(),
                tally.reconnects.get(),
            );
            assert_eq!(again, (0, 0, 0), "{:?}", tally.named());
        }
    });
}

#[test]
fn a_crowd_on_two_servers_meets_in_no_deadlock() {
    check(MariaServer::start());
}

#[test]
fn a_crowd_on_two_servers_meets_in_no_deadlock_of_mysql() {
    check(MariaServer::start_mysql());
}

/// When so many batches were sent.
fn instant(batches: u64) -> Timestamp {
    NOW.plus_ms(batches * STEP_MS)
}

/// Books some rooms and cancels what it booked before, all in one batch; now and then lets the server
/// forget, as if the last batch had been long ago.
async fn call(server: Arc<Mysql>, clock: Arc<AtomicU64>, caller: u16) {
    let mut booked: Vec<Reference> = Vec::new();
    for step in 0..STEPS {
        let rooms = (0..ROOMS).map(|number| book_a_room(caller, step, number));
        let cancelled = booked.drain(..).map(cancellation);
        let requests: Vec<Request> = rooms.chain(cancelled).collect();
        let now = instant(clock.fetch_add(1, Ordering::Relaxed));
        for reply in server.execute(now, &requests).await {
            match reply.map(|reply| reply.outcome) {
                Ok(Outcome::Done(Done::Booked { reference, .. })) => booked.push(reference),
                Ok(Outcome::Done(Done::Cancelled { .. })) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(booked.len(), usize::from(ROOMS));
        if step % STEPS_PER_TICK == caller % STEPS_PER_TICK {
            let late = instant(u64::from(CALLERS * STEPS) + 2);
            server.tick(late).await.expect("the database is there");
        }
    }
}

/// A booking under a key that was used some steps ago, each time with others.
fn book_a_room(caller: u16, step: u16, number: u16) -> Request {
    let room = format!("room-{caller}-{number}");
    let key = format!("key-{caller}-{}", (step * ROOMS + number) * 5 % 11);
    booking(Some(&room), 10 + 2 * (step % 2), Some(&key))
}

fn cancellation(reference: Reference) -> Request {
    let command = Command::Cancel {
        booking: reference,
        id: GUEST,
    };
    Request::new::<Rooms>(Principal::local(), None, &command)
}
