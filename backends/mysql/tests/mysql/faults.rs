//! What breaks between a server and its database, and what must not break with it.

use std::{collections::BTreeSet, sync::Arc};

use turnstile_contract::{Backend, Failure, Request, Unready, conformance::Stand};
use turnstile_mysql::{Address, Mysql};
use turnstile_rooms::{
    Answer, CancelReason, Command, Done, Outcome, Query, Reference, Refusal, Rooms,
};
use turnstile_trial::MariaServer;
use turnstile_types::{Key, Principal};

use crate::{
    hotel::{NOW, ask, book, booking, furnish, runtime, totals},
    proxy::Proxy,
    stand::Maria,
};

/// Wherever the wire is cut, bookings are made once, with a key or without.
fn check_cuts(stand: &Maria) {
    runtime().block_on(async {
        let direct = stand.fresh().await;
        furnish(&direct).await;
        let proxy = Proxy::start(stand.server.port()).await;
        let backend = stand.through(proxy.port).await;
        let mut made = BTreeSet::new();
        let mut cut = 0_u64;
        for step in 0..60 {
            let bytes = 1 + i64::from(step / 2) * 211;
            if step % 2 == 0 {
                proxy.cut_requests(bytes);
            } else {
                proxy.cut_answers(bytes);
            }
            let key = format!("key-{step}");
            let requests = [
                booking(None, 400, None),
                booking(Some("suite"), 1_000 + 2 * step, Some(&key)),
                booking(None, 401, None),
            ];
            made.extend(book(&backend, &requests).await);
            cut += u64::from(!proxy.spare());
        }
        assert_eq!(made.len(), 180, "each has a reference of its own");
        assert_eq!(totals(&direct).await.bookings, 180);
        assert!(cut > 20, "{cut} cuts came while somebody was asking");
        let resolved = backend.tally().resolved.get();
        assert!(
            resolved > 0,
            "some were committed when their answer was lost"
        );
        assert!(backend.tally().reconnects.get() >= cut / 2);
    });
}

#[test]
fn a_wire_cut_anywhere_loses_and_doubles_nothing_in_transactions() {
    check_cuts(&Maria::start("innodb"));
}

#[test]
fn a_wire_cut_anywhere_loses_and_doubles_nothing_in_memory() {
    check_cuts(&Maria::start("memory"));
}

/// One command that cannot be written is answered so; the others of its batch are done, and of it
/// nothing is left, though all but its key had been written.
fn check_half_written(stand: &Maria) {
    runtime().block_on(async {
        let backend = stand.fresh().await;
        furnish(&backend).await;
        stand.sql("CREATE TRIGGER no_keys BEFORE INSERT ON idempotency_keys FOR EACH ROW \
             SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT='no keys today'",
        );
        let requests = [
            booking(Some("one"), 10, None),
            booking(Some("two"), 10, Some("key")),
            booking(Some("three"), 10, None),
        ];
        let replies = backend.execute(NOW, &requests).await;
        let reason = "no keys today (1644)".to_owned();
        let is_booked = |number: usize| matches!(&replies[number], Ok(reply) if matches!(reply.outcome, Outcome::Done(_)));
        assert!(is_booked(0) && is_booked(2), "{replies:?}");
        assert_eq!(replies[1], Err(Failure::Broken { reason }));
        let rows = "SELECT room FROM nights UNION SELECT name FROM rooms ORDER BY 1";
        assert_eq!(stand.sql(rows), "one\nthree\n");
        assert_eq!(totals(&backend).await.bookings, 2);
        stand.sql("DROP TRIGGER no_keys");
        assert_eq!(book(&backend, &requests[1..2]).await.len(), 1);
    });
}

/// Who cancelled for a guest, and why, is in the tables, written and undone with the rest of its batch.
fn check_cancellation(stand: &Maria) {
    runtime().block_on(async {
        let backend = stand.fresh().await;
        furnish(&backend).await;
        let made = book(&backend, &[booking(Some("one"), 10, None)]).await;
        let reason = CancelReason::parse("l'h\u{f4}tel ferme".as_bytes()).expect("a reason");
        let cancel = Command::CancelForGuest {
            booking: made[0],
            reason,
        };
        let key = Key::parse(b"c").expect("a key");
        let cancel = [Request::new::<Rooms>(
            Principal::local(),
            Some(key),
            &cancel,
        )];
        stand.sql(
            "CREATE TRIGGER no_keys BEFORE INSERT ON idempotency_keys FOR EACH ROW \
             SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT='no keys today'",
        );
        let told = "SELECT principal, reason FROM cancellations";
        let failed = &backend.execute(NOW, &cancel).await[0];
        assert!(matches!(failed, Err(Failure::Broken { .. })), "{failed:?}");
        assert_eq!(stand.sql(told), "");
        stand.sql("DROP TRIGGER no_keys");
        for _ in 0..2 {
            let reply = backend.execute(NOW, &cancel).await.remove(0);
            let reply = reply.expect("the database is there");
            assert!(matches!(
                reply.outcome,
                Outcome::Done(Done::Cancelled { .. })
            ));
        }
        assert_eq!(stand.sql(told), "local\tl'h\u{f4}tel ferme\n");
        assert_eq!(totals(&backend).await.cancelled_total, 1);
    });
}

#[test]
fn who_cancelled_for_a_guest_and_why_is_in_the_tables() {
    check_cancellation(&Maria::start("innodb"));
    check_cancellation(&Maria::start("memory"));
}

#[test]
fn a_command_that_cannot_be_written_leaves_nothing_in_transactions() {
    check_half_written(&Maria::start("innodb"));
}

#[test]
fn a_command_that_cannot_be_written_leaves_nothing_in_memory() {
    check_half_written(&Maria::start("memory"));
}

/// An answer that repeats an earlier one leaves when that is durable: its batch writes something of its own, so its
/// commit waits for the log.
#[test]
fn an_answer_from_a_key_waits_for_the_disk() {
    let stand = Maria::start("innodb");
    runtime().block_on(async {
        let backend = stand.fresh().await;
        furnish(&backend).await;
        let first = book(&backend, &[booking(Some("one"), 10, Some("key"))]).await;
        let count = |sql: &str| -> u64 {
            let found = stand.sql(sql);
            let last = found.split_whitespace().last();
            last.expect("a value").parse().expect("a number")
        };
        let batches = "SELECT SUM(batch) FROM writers";
        let status = |name: &str| count(&format!("SHOW GLOBAL STATUS LIKE 'Innodb_lsn_{name}'"));
        let repeated = booking(Some("one"), 10, Some("key"));
        let reused = booking(Some("two"), 10, Some("key"));
        for request in [repeated, reused] {
            let (before, written) = (count(batches), status("current"));
            let reply = backend.execute(NOW, &[request]).await.remove(0);
            assert!(status("flushed") > written, "the log was not flushed");
            assert_eq!(count(batches), before + 1);
            match reply {
                Ok(reply) => {
                    assert!(reply.replayed);
                    let outcome = reply.outcome;
                    assert!(
                        matches!(outcome, Outcome::Done(Done::Booked { reference, .. }) if reference == first[0]),
                        "{outcome:?}"
                    );
                }
                Err(failure) => assert_eq!(failure.code(), "key_reused"),
            }
        }
    });
}

/// A connection that an operator kills in the middle of its writes is undone, and the batch is written
/// again by another.
fn check_killed_connection(stand: &Maria) {
    runtime().block_on(async {
        let backend = Arc::new(stand.fresh().await);
        furnish(&backend).await;
        stand.sql(
            "CREATE TRIGGER slow BEFORE INSERT ON idempotency_keys FOR EACH ROW \
             SET NEW.position = NEW.position + 0 * SLEEP(5)",
        );
        let asking = Arc::clone(&backend);
        let asked =
            tokio::spawn(
                async move { book(&asking, &[booking(Some("one"), 10, Some("key"))]).await },
            );
        let sleeper = loop {
            let found = stand
                .server
                .sql("SELECT id FROM information_schema.processlist WHERE state='User sleep'");
            if !found.is_empty() {
                break found;
            }
        };
        let half = stand.sql("SELECT COUNT(*) FROM nights");
        assert_eq!(half.trim(), "2", "the batch is half written");
        stand.server.sql(&format!("KILL CONNECTION {sleeper}"));
        stand.sql("DROP TRIGGER slow");
        assert_eq!(asked.await.expect("it was answered").len(), 1);
        assert_eq!(totals(&backend).await.booked_total, 1);
    });
}

#[test]
fn a_killed_connection_leaves_no_half_batch_in_memory() {
    check_killed_connection(&Maria::start("memory"));
}

/// What was acknowledged is there after the database was killed, and nothing is there twice; what was
/// answered as not done was not.
fn check_killed_database(stand: &mut Maria) {
    runtime().block_on(async {
        let backend = Arc::new(stand.fresh().await);
        furnish(&backend).await;
        let callers: Vec<_> = (0..8_u16)
            .map(|caller| tokio::spawn(call(Arc::clone(&backend), caller)))
            .collect();
        while backend.tally().commands.get() < 100 {
            tokio::task::yield_now().await;
        }
        stand.server.restart();
        let mut made = BTreeSet::new();
        for caller in callers {
            let references = caller.await.expect("it was answered");
            for reference in references {
                assert!(made.insert(reference), "{reference} was given twice");
            }
        }
        assert!(made.len() >= 8 * 60, "all callers came to their end");
        for &reference in &made {
            let answer = ask(&backend, &Query::LookUp { reference }).await;
            assert!(
                matches!(answer, Answer::Entry(_)),
                "{reference}: {answer:?}"
            );
        }
        assert_eq!(totals(&backend).await.bookings, made.len() as u64);
    });
}

#[test]
fn a_killed_database_keeps_what_was_acknowledged() {
    check_killed_database(&mut Maria::start("innodb"));
}

/// Books until sixty bookings have been made, whatever happens to the database.
async fn call(backend: Arc<Mysql>, caller: u16) -> Vec<Reference> {
    let mut made = Vec::new();
    while made.len() < 60 {
        let replies = backend
            .execute(NOW, &[booking(None, 10 + caller, None)])
            .await;
        match &replies[0] {
            Ok(reply) => match reply.outcome {
                Outcome::Done(Done::Booked { reference, .. }) => made.push(reference),
                ref other => panic!("{other:?} is no booking"),
            },
            Err(Failure::Unavailable { .. }) => {}
            Err(failure) => panic!("{failure}"),
        }
    }
    made
}

/// With its tables in memory a killed database has forgotten everything, and says so by knowing
/// nothing: a reference from before is never given again.
fn check_forgotten(stand: &mut Maria) {
    runtime().block_on(async {
        let backend = stand.fresh().await;
        furnish(&backend).await;
        let before = book(&backend, &[booking(None, 10, None)]).await;
        assert_eq!(backend.tally().losses.get(), 0, "new tables are no loss");
        stand.server.restart();
        let unknown = backend.execute(NOW, &[booking(None, 10, None)]).await;
        let outcome = unknown[0].as_ref().map(|reply| reply.outcome);
        assert_eq!(outcome, Ok(Outcome::Refused(Refusal::UnknownProperty)));
        assert_eq!(backend.tally().losses.get(), 1, "the loss is counted once");
        furnish(&backend).await;
        let after = book(&backend, &[booking(None, 10, None)]).await;
        assert_eq!(after[0].slot, before[0].slot);
        assert_eq!(after[0].generation, before[0].generation + 1);
        let reference = before[0];
        let answer = ask(&backend, &Query::LookUp { reference }).await;
        assert_eq!(answer, Answer::Refused(Refusal::NotFound));
        let again = stand.another().await;
        let number = turnstile_rooms::IdNumber::parse(b"234123412346", false).expect("a number");
        assert_eq!(again.id_key().seal(number), backend.id_key().seal(number));
    });
}

#[test]
fn a_killed_database_forgets_what_was_in_memory() {
    check_forgotten(&mut Maria::start("memory"));
}

/// A database that takes no writes is answered as unavailable, reads go on, and so do writes later.
fn check_read_only(stand: &Maria) {
    runtime().block_on(async {
        let backend = stand.fresh().await;
        furnish(&backend).await;
        stand.server.sql("SET GLOBAL read_only=1");
        let replies = backend.execute(NOW, &[booking(None, 10, None)]).await;
        assert!(
            matches!(&replies[0], Err(Failure::Unavailable { reason }) if reason.contains("1290")),
            "{replies:?}"
        );
        assert_eq!(totals(&backend).await.bookings, 0);
        stand.server.sql("SET GLOBAL read_only=0");
        assert_eq!(book(&backend, &[booking(None, 10, None)]).await.len(), 1);
    });
}

#[test]
fn a_read_only_database_is_unavailable_for_writes() {
    check_read_only(&Maria::start("innodb"));
}

/// A database is refused when it cannot be used, and no password is told.
fn check_unusable(stand: &Maria) {
    runtime().block_on(async {
        drop(stand.fresh().await);
        let url = stand.url();
        let refused = async |url: &str| {
            let address = Address::parse(url).expect("an address of the tests");
            let refused = Mysql::open(&address).await;
            refused.expect_err("it cannot be used").why
        };
        let reason = "they are engine=innodb, and the address says engine=memory";
        assert_eq!(
            refused(&format!("{url}?engine=memory")).await,
            Unready::Unusable(reason.to_owned())
        );
        let error = refused(&url.replace("secret", "hunter2")).await;
        assert!(matches!(&error, Unready::Unavailable(reason) if reason.contains("1045")));
        assert!(!format!("{error:?}").contains("hunter2"));
        stand.sql("UPDATE turnstile SET version=99");
        let (found, known) = (99, 4);
        assert_eq!(refused(&url).await, Unready::Newer { found, known });
    });
}

#[test]
fn a_database_that_cannot_be_used_says_why() {
    check_unusable(&Maria::start("innodb"));
}

/// All of it on one server, since MySQL takes its time to be installed.
#[test]
fn mysql_breaks_as_mariadb_does() {
    let mut stand = Maria::on(MariaServer::start_mysql(), "innodb");
    check_cuts(&stand);
    check_half_written(&stand);
    check_killed_database(&mut stand);
    check_read_only(&stand);
    check_unusable(&stand);
    stand.engine = "memory";
    check_cuts(&stand);
    check_half_written(&stand);
    check_killed_connection(&stand);
    check_forgotten(&mut stand);
}
