//! What these tests ask for.

use turnstile_contract::{Backend, Failure, Reply, Request};
use turnstile_postgres::Postgres;
use turnstile_rooms::{
    Answer, Command, Done, GuestId, GuestName, IdKey, IdNumber, Outcome, Query, Reference, Rooms,
    Totals, Wish,
};
use turnstile_types::{Key, Name, Night, Principal, Stay, Timestamp};

pub(crate) const NOW: Timestamp = Timestamp(1_798_761_600_000);

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a name of the tests")
}

pub(crate) fn id() -> GuestId {
    let number = IdNumber::parse(b"234123412346", false).expect("an id number of the tests");
    IdKey::new([7; 16]).seal(number)
}

/// Two nights.
pub(crate) fn stay() -> Stay {
    Stay::new(Night::from_days(21_000), Night::from_days(21_002)).expect("a stay of the tests")
}

/// A command, under a key unless that is empty.
pub(crate) fn request(key: &str, command: &Command<'_>) -> Request {
    let key = Key::parse(key.as_bytes()).ok();
    Request::new::<Rooms>(Principal::local(), key, command)
}

pub(crate) fn add_property() -> Request {
    let property = name("hotel");
    request(
        "",
        &Command::AddProperty {
            property,
            open: true,
        },
    )
}

/// A booking of one room for [`stay`].
pub(crate) fn book(key: &str, room: &str, guest: &str) -> Request {
    let command = Command::Book {
        property: name("hotel"),
        wish: Wish::Room(name(room)),
        stay: stay(),
        guest: GuestName::parse(guest.as_bytes()).expect("a guest of the tests"),
        id: id(),
    };
    request(key, &command)
}

pub(crate) fn hold(room: &str, ttl_ms: u32) -> Request {
    let command = Command::Hold {
        property: name("hotel"),
        wish: Wish::Room(name(room)),
        stay: stay(),
        ttl_ms,
    };
    request("", &command)
}

pub(crate) async fn execute(
    backend: &Postgres<Rooms>,
    now: Timestamp,
    request: Request,
) -> Result<Reply<Rooms>, Failure> {
    let [result] = <[_; 1]>::try_from(backend.execute(now, &[request]).await)
        .expect("one answer to one command");
    result
}

pub(crate) async fn totals(backend: &Postgres<Rooms>) -> Totals {
    let answer = backend
        .query(NOW, &Principal::local(), &Query::Totals)
        .await;
    match answer.expect("the totals are known") {
        Answer::Totals(totals) => totals,
        other => panic!("{other:?}"),
    }
}

/// The reference that a booking or hold was given.
pub(crate) fn given(result: &Result<Reply<Rooms>, Failure>) -> Reference {
    match result.as_ref().map(|reply| &reply.outcome) {
        Ok(Outcome::Done(Done::Booked { reference, .. } | Done::Held { reference, .. })) => {
            *reference
        }
        other => panic!("{other:?}"),
    }
}
