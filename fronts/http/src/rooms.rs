//! Rooms in HTTP: its routes, and what its operations answer.

use turnstile_rooms::Answer;

use crate::{
    code::Code,
    operation::{OperationRoute, delete, get, post, put},
    served::serve,
};

/// What its declaration cannot say.
pub(crate) const ROUTES: &[OperationRoute] = &[
    post("book", "/bookings").makes(&["/bookings/{reference}"]),
    get("look_up", "/bookings/{reference}").versioned(),
    post("cancel", "/bookings/{reference}/cancel").with_precondition(),
    post("cancel_for_guest", "/bookings/{reference}/cancel-for-guest").with_precondition(),
    post("move", "/bookings/{reference}/move"),
    post("hold", "/holds").makes(&["/bookings/{reference}"]),
    get("list_holds", "/holds"),
    post("extend", "/holds/{hold}/extend"),
    post("confirm", "/holds/{hold}/confirm"),
    post("release", "/holds/{hold}/release"),
    // In a body, so that the id number stands in no URL and no access log.
    post("list_guest_bookings", "/guests/search"),
    post("add_property", "/properties").makes(&[]),
    get("list_properties", "/properties"),
    post("add_room", "/properties/{property}/rooms").makes(&[]),
    get("list_rooms", "/properties/{property}/rooms"),
    delete("withdraw_room", "/properties/{property}/rooms/{room}"),
    put("stop_sell", "/properties/{property}/rooms/{room}/stop-sell"),
    delete(
        "resume_sell",
        "/properties/{property}/rooms/{room}/stop-sell",
    ),
    get("list_stop_sells", "/properties/{property}/stop-sells"),
    get("list_bookings", "/properties/{property}/bookings"),
    get("get_availability", "/properties/{property}/availability"),
    get("explain", "/properties/{property}/explain"),
    get("get_totals", "/totals"),
];

serve! {
    turnstile_rooms::Rooms, |door| door,
    { Answer::Refused(refusal) => Code::from(*refusal) }

    fn version(answer: &Answer) -> Option<u64> {
        match answer {
            Answer::Entry(entry) => Some(entry.position.0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use turnstile_rooms::{
        Cursor, Done, Entry, EntryState, GuestId, Outcome, Page, Query, Reference, Rooms,
    };
    use turnstile_types::{Name, Night, Position, Principal, Stay, Timestamp};

    use super::*;
    use crate::{Served as _, served::answer_of};

    fn name(text: &str) -> Name {
        Name::parse(text.as_bytes()).unwrap()
    }

    fn told(path: &str, done: Done, replayed: bool) -> (u16, Option<String>, String) {
        let path = format!("/v1/rooms{path}");
        answer_of::<Rooms>(&path, (), replayed, &Outcome::Done(done)).unwrap()
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
            told("/bookings", booked, false),
            (
                201,
                location.clone(),
                r#"{"reference":"R00","room":"101","position":9}"#.to_owned()
            )
        );
        assert_eq!(
            told("/bookings", booked, true),
            (
                200,
                location,
                r#"{"reference":"R00","room":"101","position":9,"replayed":true}"#.to_owned()
            )
        );
        let stay = Stay::new(Night::from_days(0), Night::from_days(2)).unwrap();
        let cancelled = Done::Cancelled {
            room: name("101"),
            stay,
        };
        assert_eq!(
            told("/bookings/R00/cancel", cancelled, false).2,
            r#"{"room":"101","arrival":"1970-01-01","departure":"1970-01-03","position":9}"#
        );
        assert_eq!(
            told("/holds/R00/release", Done::Released, false),
            (200, None, r#"{"position":9}"#.to_owned())
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
        let told = Rooms::tell_answer(&Query::Totals, &page).unwrap();
        assert_eq!(told.next.as_deref(), Some("c0000000000000001"));
        assert_eq!(
            String::from_utf8(told.json).unwrap(),
            r#"{"entries":[{"reference":"R00","state":"booked","property":"grand","room":"101","arrival":"1970-01-01","departure":"1970-01-02","guest":"ada","id_number":"********0046","principal":"local","since":"1970-01-01T00:00:00.000Z","position":3}],"next":"c0000000000000001"}"#
        );
    }
}
