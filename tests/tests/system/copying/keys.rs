//! Idempotency keys that are moved, and those that cannot be.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use turnstile_contract::{Backend as _, Failure, Reply, Request, copy::Refusal};
use turnstile_rooms::{Command, Done, Outcome, Reference, Rooms};
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Key, Principal, Timestamp};

use super::{
    block_on, copy_between,
    interrupted::{NOW, booking, execute, furnish, guest_id},
    places::{Any, Place},
};

type Decided = Result<Reply<Rooms>, Failure>;

/// Has a command decided under a key.
async fn keyed(backend: &Any, now: Timestamp, key: &str, command: &Command<'_>) -> Decided {
    let key = Key::parse(key.as_bytes()).unwrap();
    let request = [Request::new::<Rooms>(
        Principal::local(),
        Some(key),
        command,
    )];
    backend.execute(now, &request).await.pop().unwrap()
}

/// A house that is sold out, which was answered under a key.
async fn sell_out(place: &Place) -> Decided {
    furnish(place).await;
    let backend = Any::open(&place.url()).await.unwrap();
    keyed(&backend, NOW, "late", &booking("Alan")).await
}

#[test]
fn an_answer_that_an_earlier_version_kept_is_not_moved_until_it_is_forgotten() {
    let in_postgres = "UPDATE rooms.idempotency_key SET outcome.arrival = NULL";
    let in_redis = "EVAL redis.call('HSET','{rooms}/key/local/late','answer',\
        cmsgpack.pack({'refused','sold_out','111'})) 0";
    let rows = [(Place::postgres(), in_postgres), (Place::redis(), in_redis)];
    block_on(async {
        for (source, meddling) in rows {
            let first = sell_out(&source).await.unwrap();
            source.meddle(meddling);
            // Whoever asks again has said the arrival itself.
            let backend = Any::open(&source.url()).await.unwrap();
            let again = keyed(&backend, NOW, "late", &booking("Alan")).await;
            let expected = Reply::<Rooms> {
                replayed: true,
                ..first
            };
            assert_eq!(again, Ok(expected), "{source:?}");
            drop(backend);
            let target = Place::directory();
            let refused = copy_between((&source, &target), NOW, false).await;
            let expected = Refusal::EarlierKey {
                principal: Principal::local(),
                key: "late".into(),
                forgotten: NOW.plus_ms(KEY_MS),
            };
            assert_eq!(refused, Err(expected), "{source:?}");
            let later = NOW.plus_ms(KEY_MS);
            let copied = copy_between((&source, &target), later, true).await;
            assert_eq!(copied, Ok(()), "{source:?}");
        }
    });
}

#[test]
fn a_key_of_mariadb_from_before_the_common_hash_is_refused_and_not_done_twice() {
    block_on(async {
        for engine in ["innodb", "memory"] {
            let place = Place::maria(engine);
            let first = sell_out(&place).await.unwrap();
            place.meddle(
                "ALTER TABLE idempotency_keys MODIFY content VARBINARY(16) NOT NULL; \
                 UPDATE idempotency_keys SET content=UNHEX(MD5('wide')); \
                 ALTER TABLE idempotency_keys MODIFY content BINARY(16) NOT NULL; \
                 UPDATE turnstile SET version=2",
            );
            let target = Place::directory();
            copy_between((&place, &target), NOW, false).await.unwrap();
            for place in [&place, &target] {
                let backend = Any::open(&place.url()).await.unwrap();
                let again = keyed(&backend, NOW, "late", &booking("Alan")).await;
                let first = first.position;
                assert_eq!(again, Err(Failure::KeyReused { first }), "{place:?}");
            }
        }
    });
}

/// Books a room of the house, and gives the reference.
async fn book(backend: &Any) -> Reference {
    match execute(backend, &booking("Alan")).await {
        Outcome::Done(Done::Booked { reference, .. }) => reference,
        other => panic!("not booked: {other:?}"),
    }
}

async fn cancel(backend: &Any, booking: Reference) -> Outcome {
    let id = guest_id();
    execute(backend, &Command::Cancel { booking, id }).await
}

/// A booking of a slot that others had before was told as never given when it was cancelled in Redis, and
/// its reference was given again elsewhere. Where all of a page had ended, Redis was asked nothing, and
/// the copy failed.
#[test]
fn references_that_end_in_redis_are_never_given_again() {
    let later = NOW.plus_ms(2 * KEY_MS);
    let is_over = Outcome::Refused(turnstile_rooms::Refusal::Ended);
    block_on(async {
        let (source, redis, last) = (Place::directory(), Place::redis(), Place::directory());
        furnish(&source).await;
        let backend = Any::open(&source.url()).await.unwrap();
        for slot in 0..2 {
            let generation = 0;
            let cancelled = cancel(&backend, Reference { slot, generation }).await;
            assert!(matches!(cancelled, Outcome::Done(_)), "{cancelled:?}");
        }
        let given = [book(&backend).await, book(&backend).await];
        drop(backend);
        copy_between((&source, &redis), NOW, false).await.unwrap();
        let backend = Any::open(&redis.url()).await.unwrap();
        for booking in given {
            let cancelled = cancel(&backend, booking).await;
            assert!(matches!(cancelled, Outcome::Done(_)), "{cancelled:?}");
            assert_eq!(cancel(&backend, booking).await, is_over, "{booking}");
        }
        backend.tick(later).await.unwrap();
        drop(backend);
        copy_between((&redis, &last), later, false).await.unwrap();
        let backend = Any::open(&last.url()).await.unwrap();
        for booking in given {
            assert_eq!(cancel(&backend, booking).await, is_over, "{booking}");
        }
        for _ in given {
            let reference = book(&backend).await;
            assert!(!given.contains(&reference), "{reference} is given again");
        }
    });
}
