//! Copies that are not made, or not to their end.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use turnstile_contract::{
    Backend as _, Request,
    copy::{Refusal, Stage, copy},
};
use turnstile_rooms::{Command, Done, GuestId, GuestName, IdKey, IdNumber, Outcome, Rooms, Wish};
use turnstile_types::{Name, Night, Principal, Stay, Timestamp};

use super::{
    block_on, copy_between,
    places::{Any, Place, every_place, opened},
};

pub(super) const NOW: Timestamp = Timestamp(1_798_761_600_000);

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

fn stay() -> Stay {
    Stay::new(Night::from_days(30), Night::from_days(33)).unwrap()
}

pub(super) async fn execute(backend: &Any, command: &Command<'_>) -> Outcome {
    let request = [Request::new::<Rooms>(Principal::local(), None, command)];
    let mut answers = backend.execute(NOW, &request).await;
    answers.pop().unwrap().unwrap().outcome
}

/// Makes a small state: a house whose two rooms are booked for three nights, and a hold.
pub(super) async fn furnish(place: &Place) {
    let backend = Any::open(&place.url()).await.unwrap();
    let property = name("hotel");
    let open = false;
    execute(&backend, &Command::AddProperty { property, open }).await;
    for room in ["1", "2"] {
        let (room, room_type) = (name(room), name("double"));
        let add = Command::AddRoom {
            property,
            room,
            room_type,
        };
        execute(&backend, &add).await;
    }
    for guest in ["Ada", "Grace"] {
        execute(&backend, &booking(guest)).await;
    }
    let hold = Command::Hold {
        property,
        wish: Wish::Any,
        stay: Stay::new(Night::from_days(40), Night::from_days(41)).unwrap(),
        ttl_ms: 900_000,
    };
    execute(&backend, &hold).await;
}

pub(super) fn booking(guest: &str) -> Command<'_> {
    Command::Book {
        property: name("hotel"),
        wish: Wish::Any,
        stay: stay(),
        guest: GuestName::parse(guest.as_bytes()).unwrap(),
        id: guest_id(),
    }
}

/// Of all guests of this house.
pub(super) fn guest_id() -> GuestId {
    let id = IdNumber::parse(b"234123412346", false).unwrap();
    IdKey::new([7; 16]).seal(id)
}

#[test]
fn only_an_empty_place_takes_a_state() {
    let places = every_place();
    block_on(async {
        let source = Place::directory();
        furnish(&source).await;
        for place in &places {
            furnish(place).await;
            let refused = copy_between((&source, place), NOW, true).await;
            let refused = refused.unwrap_err();
            assert!(
                matches!(refused, Refusal::NotEmpty { .. }),
                "{place:?}: {refused}"
            );
        }
    });
}

/// Begins a copy, and lets go of it in the middle.
async fn break_off(source: &Place, target: &Place) {
    let (mut from, mut to) = (opened(&source.url()).await, opened(&target.url()).await);
    let head = from.head().await.unwrap();
    to.begin(&head, NOW, false).await.unwrap();
    let open = true;
    let name = name("half");
    let half = vec![turnstile_rooms::Piece::Property { name, open }];
    to.take(half).await.unwrap();
}

#[test]
fn a_copy_that_was_cut_off_is_not_there_or_says_so_until_it_is_made_again() {
    let places = every_place();
    block_on(async {
        let source = Place::directory();
        furnish(&source).await;
        for (place, is_taken_back) in places.iter().zip([false, true, true, false, false]) {
            break_off(&source, place).await;
            if !is_taken_back {
                let served = Any::open(&place.url()).await.unwrap_err();
                assert!(served.contains("unfinished copy"), "{place:?}: {served}");
                let refused = copy_between((&source, place), NOW, false).await;
                let refused = refused.unwrap_err();
                assert!(matches!(refused, Refusal::Unfinished { .. }), "{refused}");
                let read = opened(&place.url()).await.head().await.unwrap_err();
                assert!(matches!(read, Refusal::Unfinished { .. }), "{read}");
            }
            let again = !is_taken_back;
            let copied = copy_between((&source, place), NOW, again).await;
            copied.unwrap_or_else(|refusal| panic!("{place:?}: {refusal}"));
            let backend = Any::open(&place.url()).await.unwrap();
            let refused = execute(&backend, &booking("Alan")).await;
            assert!(
                matches!(refused, Outcome::Refused(_)),
                "{place:?}: {refused:?}"
            );
        }
    });
}

#[test]
fn what_redis_does_not_offer_is_refused_before_anything_is_written() {
    block_on(async {
        let (source, target) = (Place::directory(), Place::redis());
        furnish(&source).await;
        let backend = Any::open(&source.url()).await.unwrap();
        let stop = Command::StopSell {
            property: name("hotel"),
            room: name("2"),
            stay: Stay::new(Night::from_days(90), Night::from_days(95)).unwrap(),
            stopped: true,
        };
        execute(&backend, &stop).await;
        drop(backend);
        let refused = copy_between((&source, &target), NOW, false).await;
        let refused = refused.unwrap_err().to_string();
        let what = "stop_sell, and the source has stop-sell hotel 2 from 1970-04-01 for 5 nights";
        assert!(refused.contains(what), "{refused}");
        // Nothing is there: no mark, and no state.
        let backend = Any::open(&target.url()).await.unwrap();
        let added = Command::AddProperty {
            property: name("hotel"),
            open: false,
        };
        assert_eq!(
            execute(&backend, &added).await,
            Outcome::Done(Done::PropertyAdded)
        );
    });
}

/// What changes a guest's name in the target as soon as it is written, or while it is compared.
async fn check_difference(source: &Place, target: &Place, meddling: &str, when: Stage) {
    let (mut from, mut to) = (opened(&source.url()).await, opened(&target.url()).await);
    if when == Stage::Looking {
        target.meddle(meddling);
    }
    let sides = (&mut *from as _, &mut *to as _);
    let mut is_changed = false;
    let mut change = |stage, _, _| {
        if stage == when && !is_changed {
            is_changed = true;
            target.meddle(meddling);
        }
    };
    let found = copy(sides, NOW, false, &mut change).await.unwrap_err();
    drop((from, to));
    let found = found.to_string();
    assert!(
        found.contains("the source has booking"),
        "{target:?}: {found}"
    );
    assert!(found.contains("for Ada"), "{target:?}: {found}");
    assert!(found.contains("for Eve"), "{target:?}: {found}");
}

#[test]
fn a_difference_is_found_and_nobody_serves_it() {
    block_on(async {
        let source = Place::directory();
        furnish(&source).await;
        let in_postgres = "CREATE FUNCTION rooms.meddle() RETURNS trigger LANGUAGE plpgsql AS \
            'BEGIN NEW.guest := replace(NEW.guest, ''Ada'', ''Eve''); RETURN NEW; END'; \
            CREATE TRIGGER meddle BEFORE INSERT ON rooms.booking \
            FOR EACH ROW EXECUTE FUNCTION rooms.meddle()";
        let in_maria = "CREATE TRIGGER meddle BEFORE INSERT ON bookings FOR EACH ROW \
            SET NEW.guest = REPLACE(NEW.guest, 'Ada', 'Eve')";
        let in_redis = "HSET {rooms}/booking/0 name Eve";
        let (postgres, redis) = (Place::postgres(), Place::redis());
        check_difference(&source, &postgres, in_postgres, Stage::Looking).await;
        for engine in ["innodb", "memory"] {
            let maria = Place::maria(engine);
            check_difference(&source, &maria, in_maria, Stage::Looking).await;
        }
        check_difference(&source, &redis, in_redis, Stage::Copying).await;
        // It was taken back, or nobody opens it.
        postgres.meddle("DROP TRIGGER meddle ON rooms.booking");
        copy_between((&source, &postgres), NOW, false)
            .await
            .unwrap();
        let served = Any::open(&redis.url()).await.unwrap_err();
        assert!(served.contains("unfinished copy"), "{served}");
    });
}
