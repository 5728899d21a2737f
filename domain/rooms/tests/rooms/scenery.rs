//! Names, nights and guests, as tests write them.

use turnstile_rooms::{CancelReason, GuestId, GuestName, IdKey, IdNumber};
use turnstile_types::{Name, Night, Stay};

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

pub(crate) fn guest(text: &str) -> GuestName<'_> {
    GuestName::parse(text.as_bytes()).unwrap()
}

pub(crate) fn reason(text: &str) -> CancelReason<'_> {
    CancelReason::parse(text.as_bytes()).unwrap()
}

/// The sealed form of the id number that ends in these four digits.
pub(crate) fn id(last_four: u16) -> GuestId {
    let number = format!("23412341{last_four:04}");
    let number = IdNumber::parse(number.as_bytes(), false).unwrap();
    IdKey::new([7; 16]).seal(number)
}

/// The stay that begins on a day after 1970-01-01.
pub(crate) fn stay(arrival: u16, nights: u16) -> Stay {
    let departure = Night::from_days(arrival + nights);
    Stay::new(Night::from_days(arrival), departure).unwrap()
}
