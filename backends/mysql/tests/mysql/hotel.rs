//! A hotel for the tests, and what they ask of it.

use tokio::runtime::{Builder, Runtime};
use turnstile_contract::{Backend, Request};
use turnstile_mysql::Mysql;
use turnstile_rooms::{
    Answer, Command, Done, GuestId, GuestName, Outcome, Query, Reference, Rooms, Totals, Wish,
};
use turnstile_types::{Key, Name, Night, Principal, Stay, Timestamp};

pub(crate) const NOW: Timestamp = Timestamp(1_798_761_600_000);

pub(crate) const GUEST: GuestId = GuestId {
    seal: 7,
    last_four: 2346,
};

pub(crate) fn runtime() -> Runtime {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("a runtime")
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a name of the tests")
}

pub(crate) fn stay(arrival: u16) -> Stay {
    let night = Night::from_days;
    Stay::new(night(arrival), night(arrival + 2)).expect("two nights")
}

/// A booking of any room, or of one.
pub(crate) fn booking(room: Option<&str>, arrival: u16, key: Option<&str>) -> Request {
    let command = Command::Book {
        property: name("hotel"),
        wish: room.map_or(Wish::Any, |room| Wish::Room(name(room))),
        stay: stay(arrival),
        guest: GuestName::parse(b"Ada").expect("a guest of the tests"),
        id: GUEST,
    };
    let key = key.map(|key| Key::parse(key.as_bytes()).expect("a key of the tests"));
    Request::new::<Rooms>(Principal::local(), key, &command)
}

/// Opens an open property, in which there is always a room.
pub(crate) async fn furnish(backend: &Mysql) {
    let command = Command::AddProperty {
        property: name("hotel"),
        open: true,
    };
    let request = Request::new::<Rooms>(Principal::local(), None, &command);
    let replies = backend.execute(NOW, &[request]).await;
    let reply = replies[0].as_ref().expect("the database is there");
    assert_eq!(reply.outcome, Outcome::Done(Done::PropertyAdded));
}

pub(crate) async fn ask(backend: &Mysql, query: &Query) -> Answer {
    let answer = backend.query(NOW, &Principal::local(), query).await;
    answer.expect("the database is there")
}

pub(crate) async fn totals(backend: &Mysql) -> Totals {
    match ask(backend, &Query::Totals).await {
        Answer::Totals(totals) => totals,
        other => panic!("{other:?} are no totals"),
    }
}

/// The bookings that were made; everything must have been.
pub(crate) async fn book(backend: &Mysql, requests: &[Request]) -> Vec<Reference> {
    let replies = backend.execute(NOW, requests).await;
    let made = replies.iter().map(|reply| match reply {
        Ok(reply) => match reply.outcome {
            Outcome::Done(Done::Booked { reference, .. }) => reference,
            ref other => panic!("{other:?} is no booking"),
        },
        Err(failure) => panic!("{failure}"),
    });
    made.collect()
}
