//! Seats in HTTP: its routes, and what its operations answer.

use turnstile_rooms::Door;
use turnstile_seats::{Answer, Command, Done, Event, Outcome, Query, Refusal, Seats};
use turnstile_types::Position;

use turnstile_json::Object;

use crate::{
    answer::{Told, decided},
    event::{EventId, put_block},
    given::Given,
    operation::{Operation, Route, Service, get, of_service, post},
    problem::{Code, Problem},
    schema::Schemas,
    served::Served,
};

const BOOKING: &str = "/bookings/{reference}";

/// What its declaration cannot say.
const ROUTES: &[Route] = &[
    post("add_show", "/shows").makes(&[]),
    get("list_shows", "/shows"),
    post("add_section", "/shows/{show}/sections").makes(&[]),
    post("close_sale", "/shows/{show}/sale/close"),
    post("open_sale", "/shows/{show}/sale/open"),
    get("list_bookings", "/shows/{show}/bookings"),
    get("get_availability", "/shows/{show}/availability"),
    get("get_map", "/shows/{show}/sections/{section}/map"),
    post("book", "/bookings").makes(&[BOOKING]),
    get("look_up", BOOKING).versioned(),
    post("cancel", "/bookings/{reference}/cancel"),
    post("hold", "/holds").makes(&[BOOKING]),
    post("confirm", "/holds/{hold}/confirm"),
    post("release", "/holds/{hold}/release"),
    get("get_totals", "/totals"),
];

pub(crate) fn operations() -> Vec<Operation> {
    of_service::<Command, Query, Refusal>(Service::Seats, ROUTES)
}

pub(crate) fn schemas(schemas: Schemas) -> Schemas {
    schemas.done::<Done>().answers::<Answer>().event::<Event>()
}

/// Appends one event.
pub fn put_event(event: &Event, out: &mut Vec<u8>) {
    let id = EventId::of((event.position, event.ordinal));
    put_block(id, event.kind.code(), &Object(event), out);
}

impl Served for Seats {
    type About = ();
    type Done = Done;

    fn read_command<'a>(
        place: usize,
        given: &'a Given<'a>,
        _door: Door<'_>,
    ) -> Result<Command, Problem> {
        given.read(place, ())
    }

    fn read_query<'a>(
        place: usize,
        given: &'a Given<'a>,
        _door: Door<'_>,
    ) -> Result<Query, Problem> {
        given.read(place, ())
    }

    fn about(_command: &Command) {}

    fn tell_outcome(
        (): (),
        position: Position,
        replayed: bool,
        outcome: &Outcome,
    ) -> Result<Told, Problem> {
        let (done, receipt) = decided(position, replayed, outcome)?;
        Ok(Told::done(done, receipt))
    }

    fn tell_answer(_query: &Query, answer: &Answer) -> Result<Told, Problem> {
        match answer {
            Answer::Refused(refusal) => Err(Problem::from(Code::from(*refusal))),
            answer => Ok(Told::answer(answer)),
        }
    }

    fn done(outcome: &Outcome) -> Option<&Done> {
        outcome.done()
    }
}
