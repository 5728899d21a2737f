//! Seats in HTTP: its routes, and what its operations answer.

use turnstile_services::seats::{self, Answer};

use crate::{
    code::Code,
    operation::{OperationRoute, get, post},
    served::serve,
};

const BOOKING: &str = "/bookings/{reference}";

/// What its declaration cannot say.
pub(crate) const ROUTES: &[OperationRoute] = &[
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

serve! {
    seats::Seats, |_door| (),
    { Answer::Refused(refusal) => Code::from(*refusal) }
}
