//! What the machine answers to a command: done or refused, both with data.

use turnstile_chassis::{Bytes, Fields, Words};
use turnstile_types::Timestamp;

use crate::{BookingNumber, SeatNumber, SeatNumbers};

/// What is answered to a command.
pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub enum Done {
    #[byte(0x01)]
    ShowAdded,
    #[byte(0x02)]
    SectionAdded,
    #[byte(0x03)]
    SaleClosed,
    #[byte(0x04)]
    SaleOpened,
    #[byte(0x05)]
    Booked {
        reference: BookingNumber,
        seats: SeatNumbers,
    },
    #[byte(0x06)]
    Held {
        reference: BookingNumber,
        seats: SeatNumbers,
        /// When the hold expires.
        until: Timestamp,
    },
    #[byte(0x07)]
    Confirmed {
        reference: BookingNumber,
        seats: SeatNumbers,
    },
    #[byte(0x08)]
    Released,
    #[byte(0x09)]
    Cancelled {
        /// The seats that are free again.
        seats: SeatNumbers,
    },
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
pub enum Refusal {
    #[byte(0x81)]
    #[refusal(not_found, "There is no such show")]
    UnknownShow,
    #[byte(0x82)]
    #[refusal(not_found, "The show has no such section")]
    UnknownSection,
    #[byte(0x83)]
    #[refusal(not_found, "The section has no such seat")]
    UnknownSeat { seat: SeatNumber },
    #[byte(0x84)]
    #[refusal(conflict, "The show exists")]
    ShowExists,
    #[byte(0x85)]
    #[refusal(conflict, "The section exists")]
    SectionExists,
    #[byte(0x86)]
    #[refusal(conflict, "There are as many shows as there may be")]
    TooManyShows { limit: u32 },
    #[byte(0x87)]
    #[refusal(conflict, "The show has as many sections as it may have")]
    TooManySections { limit: u32 },
    /// The show, or all shows together, would have more seats than they may have.
    #[byte(0x88)]
    #[refusal(conflict, "There would be more seats than there may be")]
    TooManySeats { limit: u32 },
    /// Some of the seats are booked or held: these.
    #[byte(0x89)]
    #[refusal(conflict, "Some of the seats are taken")]
    Taken { seats: SeatNumbers },
    /// No row of the section has enough adjacent free seats.
    #[byte(0x8a)]
    #[refusal(conflict, "No row of the section has enough adjacent free seats")]
    NotAdjacent {
        /// Free seats of the section.
        free: u32,
    },
    #[byte(0x8b)]
    #[refusal(conflict, "The sale of the show is closed")]
    SaleClosed,
    #[byte(0x8c)]
    #[refusal(gone, "The show has begun")]
    Begun { begins: Timestamp },
    #[byte(0x8d)]
    #[refusal(not_found, "There never was such a booking or hold")]
    NotFound,
    #[byte(0x8e)]
    #[refusal(gone, "The booking was cancelled, or the hold is over")]
    Ended,
    #[byte(0x8f)]
    #[refusal(forbidden, "Another buyer made the booking")]
    WrongBuyer,
    #[byte(0x90)]
    #[refusal(conflict, "It is a booking already")]
    AlreadyConfirmed,
    #[byte(0x91)]
    #[refusal(conflict, "It is a hold, not a booking: release it")]
    NotConfirmed,
}
