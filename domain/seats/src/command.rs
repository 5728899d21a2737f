//! What the machine can be asked to do.

use turnstile_chassis::{Bytes, Fields, Operations, Words};
use turnstile_types::{Name, Timestamp};

use crate::{BookingNumber, Choice, Done, UpTo, about::About, limits};

/// The longest time that a hold lasts.
type HoldSeconds = UpTo<{ limits::HOLD_SECONDS_MAX }>;

/// How long a hold lasts by default.
const HOLD_SECONDS: HoldSeconds = HoldSeconds::new(600).expect("ten minutes are allowed");

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words, Operations)]
#[operations(answers = Done, about = About, routed)]
pub enum Command {
    /// Adds a show, which is on sale until it begins.
    #[byte(0x01)]
    #[operation(answer = ShowAdded, right = manage, about = Show(*show), route = show)]
    AddShow { show: Name, begins: Timestamp },
    /// Adds a section to a show: rows with as many seats each.
    #[byte(0x02)]
    #[operation(answer = SectionAdded, right = manage, about = Show(*show), route = show)]
    AddSection {
        show: Name,
        section: Name,
        rows: UpTo<{ limits::ROWS_MAX }>,
        /// Seats in each row.
        #[parameter(name = "row_seats")]
        row_seats: UpTo<{ limits::ROW_SEATS_MAX }>,
    },
    /// Closes the sale of a show. Bookings that stand stay, and holds can be confirmed.
    #[byte(0x03)]
    #[word(closed, "close_sale", "open_sale")]
    #[operation(answer = SaleClosed | SaleOpened, otherwise = "Opens the sale of a show again", right = manage, about = Show(*show), route = show)]
    CloseSale {
        show: Name,
        #[field(skip)]
        closed: bool,
    },
    /// Books several seats of a section, or none of them: those that are named, or the best adjacent ones.
    #[byte(0x04)]
    #[operation(answer = Booked, waits_in_line, about = Show(*show), route = show)]
    Book {
        show: Name,
        section: Name,
        /// Seats as ROW-NUMBER with commas between them, or best:COUNT.
        seats: Choice,
        /// Who buys, as the shop names them. Only this buyer can cancel.
        buyer: Name,
    },
    /// Keeps several seats for a while (600 seconds), to be confirmed.
    #[byte(0x05)]
    #[operation(answer = Held, waits_in_line, opens, about = Show(*show), route = show)]
    Hold {
        show: Name,
        section: Name,
        seats: Choice,
        #[parameter(default = HOLD_SECONDS, shown = HOLD_SECONDS.get())]
        ttl_seconds: HoldSeconds,
    },
    /// Turns a hold into a booking.
    #[byte(0x06)]
    #[operation(answer = Confirmed, of_holder, about = Hold(*hold), route = hold)]
    Confirm { hold: BookingNumber, buyer: Name },
    /// Gives a hold back.
    #[byte(0x07)]
    #[operation(answer = Released, of_holder, about = Hold(*hold), route = hold)]
    Release { hold: BookingNumber },
    /// Cancels a booking before the show begins; only for the buyer who booked it.
    #[byte(0x08)]
    #[operation(answer = Cancelled, about = Booking(*booking), route = booking)]
    Cancel {
        #[parameter(name = "reference")]
        booking: BookingNumber,
        buyer: Name,
    },
}
