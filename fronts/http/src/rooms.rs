//! What the operations of rooms answer.

use turnstile_rooms::{Answer, Done, Outcome};
use turnstile_types::Position;

use crate::{
    answer::{Told, decided},
    conditional::etag_of,
    problem::{Code, Problem},
};

/// Tells a command's outcome.
///
/// # Errors
/// The problem of a refusal.
pub fn tell_outcome(
    position: Position,
    replayed: bool,
    outcome: &Outcome,
) -> Result<Told, Problem> {
    let (done, receipt) = decided(position, replayed, outcome)?;
    let told = Told::done(done, receipt);
    Ok(match done {
        Done::PropertyAdded | Done::RoomAdded => told.made(receipt),
        Done::Booked { reference, .. } | Done::Held { reference, .. } => {
            let path = format!("/v1/rooms/bookings/{reference}");
            told.made(receipt).at(path)
        }
        Done::RoomWithdrawn
        | Done::SaleStopped
        | Done::SaleResumed
        | Done::Released
        | Done::Extended { .. }
        | Done::Confirmed { .. }
        | Done::Cancelled { .. } => told,
    })
}

/// Tells the answer to a query.
///
/// # Errors
/// The problem of a refusal.
pub fn tell_answer(answer: &Answer) -> Result<Told, Problem> {
    match answer {
        Answer::Refused(refusal) => Err(Problem::from(Code::from(*refusal))),
        Answer::Entry(entry) => Ok(Told::answer(answer).with_etag(etag_of(entry.position))),
        answer => Ok(Told::answer(answer)),
    }
}

#[cfg(test)]
mod tests {
    use turnstile_rooms::{Cursor, Entry, EntryState, GuestId, Page, Reference};
    use turnstile_types::{Name, Night, Principal, Stay, Timestamp};

    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text.as_bytes()).unwrap()
    }

    fn told(done: Done, replayed: bool) -> (u16, String, Option<String>) {
        let told = tell_outcome(Position(9), replayed, &Outcome::Done(done)).unwrap();
        (
            told.status,
            String::from_utf8(told.json).unwrap(),
            told.location,
        )
    }

    #[test]
    fn what_is_new_is_created_once_and_told_again_when_replayed() {
        let reference = Reference::parse(b"R00").unwrap();
        let booked = Done::Booked {
            reference,
            room: name("101"),
        };
        let location = Some("/v1/rooms/bookings/R00".to_owned());
        assert_eq!(
            told(booked, false),
            (
                201,
                r#"{"reference":"R00","room":"101","position":9}"#.to_owned(),
                location.clone()
            )
        );
        assert_eq!(
            told(booked, true),
            (
                200,
                r#"{"reference":"R00","room":"101","position":9,"replayed":true}"#.to_owned(),
                location
            )
        );
        let stay = Stay::new(Night::from_days(0), Night::from_days(2)).unwrap();
        let cancelled = Done::Cancelled {
            room: name("101"),
            stay,
        };
        assert_eq!(
            told(cancelled, false).1,
            r#"{"room":"101","arrival":"1970-01-01","departure":"1970-01-03","position":9}"#
        );
        assert_eq!(
            told(Done::Released, false),
            (200, r#"{"position":9}"#.to_owned(), None)
        );
    }

    #[test]
    fn a_page_shows_masked_numbers_and_the_next_cursor() {
        let entry = Entry {
            reference: Reference::parse(b"R00").unwrap(),
            state: EntryState::Booked,
            property: name("grand"),
            room: name("101"),
            stay: Stay::new(Night::from_days(0), Night::from_days(1)).unwrap(),
            guest: Some("ada".into()),
            id: Some(GuestId {
                seal: 7,
                last_four: 46,
            }),
            principal: Principal::local(),
            since: Timestamp(0),
            position: Position(3),
        };
        let page = Answer::Page(Page {
            entries: vec![entry],
            next: Some(Cursor(1)),
        });
        let told = tell_answer(&page).unwrap();
        assert_eq!(told.next.as_deref(), Some("c0000000000000001"));
        assert_eq!(
            String::from_utf8(told.json).unwrap(),
            r#"{"entries":[{"reference":"R00","state":"booked","property":"grand","room":"101","arrival":"1970-01-01","departure":"1970-01-02","guest":"ada","id_number":"********0046","principal":"local","since":"1970-01-01T00:00:00.000Z","position":3}],"next":"c0000000000000001"}"#
        );
    }
}
