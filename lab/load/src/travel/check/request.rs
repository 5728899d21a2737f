//! What a planner asks, and its bytes.

use turnstile_check::{rooms::InlineReference, travel::TripItems};
use turnstile_client::resp;

use crate::exchange::put_number;

use super::{
    plan::{ADDED_TEXT, Wish},
    stock::NumberedStock,
};

/// The names of the operations, by their number.
pub(super) const OPERATIONS: [&str; 11] = [
    "start", "query", "bill", "add", "reserve", "commit", "abort", "book", "cancel", "hold",
    "confirm",
];

/// What a planner asks.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlannerRequest {
    Start,
    Within {
        xid: u64,
        wish: Wish,
    },
    Commit {
        xid: u64,
    },
    Abort {
        xid: u64,
    },
    /// Whatever is answered.
    Drop {
        xid: u64,
    },
    Book {
        customer: u16,
        trip: TripItems,
    },
    Cancel {
        locator: InlineReference,
        /// Whether it was held, and not confirmed.
        held: bool,
    },
    Hold {
        customer: u16,
        trip: TripItems,
        hold_ms: u64,
    },
    Confirm {
        locator: InlineReference,
    },
}

impl PlannerRequest {
    /// Whether it decides something: that is noted, and asked again until its answer is known.
    pub(super) const fn decides(&self) -> bool {
        match self {
            Self::Commit { .. }
            | Self::Abort { .. }
            | Self::Book { .. }
            | Self::Cancel { .. }
            | Self::Hold { .. }
            | Self::Confirm { .. } => true,
            Self::Start | Self::Within { .. } | Self::Drop { .. } => false,
        }
    }

    /// Whether it begins a journey.
    pub(super) const fn begins(&self) -> bool {
        match self {
            Self::Start
            | Self::Book { .. }
            | Self::Cancel { .. }
            | Self::Hold { .. }
            | Self::Confirm { .. } => true,
            Self::Within { .. } | Self::Commit { .. } | Self::Abort { .. } | Self::Drop { .. } => {
                false
            }
        }
    }

    /// Its number among the operations.
    pub(super) const fn operation(&self) -> usize {
        match self {
            Self::Start => 0,
            Self::Within { wish, .. } => match wish {
                Wish::Query { .. } => 1,
                Wish::Bill { .. } => 2,
                Wish::Add { .. } => 3,
                Wish::Reserve { .. } => 4,
            },
            Self::Commit { .. } => 5,
            Self::Abort { .. } | Self::Drop { .. } => 6,
            Self::Book { .. } => 7,
            Self::Cancel { .. } => 8,
            Self::Hold { .. } => 9,
            Self::Confirm { .. } => 10,
        }
    }

    /// Appends the request, of which so many words are put behind these.
    pub(super) fn put(&self, out: &mut Vec<u8>, more: usize, stock: &NumberedStock) {
        match *self {
            Self::Start => put_head(out, 1, b"TRAVEL.START"),
            Self::Within { xid, wish } => put_wish(out, stock, xid, &wish),
            Self::Drop { xid } | Self::Abort { xid } => {
                put_step(out, 2 + more, b"TRAVEL.ABORT", xid);
            }
            Self::Commit { xid } => put_step(out, 2 + more, b"TRAVEL.COMMIT", xid),
            Self::Book { customer, trip } => {
                put_head(out, 2 + trip.items().len() + more, b"TRAVEL.BOOK");
                resp::put_bulk(out, stock.customer(customer));
                put_trip(out, stock, &trip);
            }
            Self::Hold {
                customer,
                trip,
                hold_ms,
            } => {
                put_head(out, 4 + trip.items().len() + more, b"TRAVEL.BOOK");
                resp::put_bulk(out, stock.customer(customer));
                put_trip(out, stock, &trip);
                resp::put_bulk(out, b"HOLD_MS");
                put_whole(out, hold_ms);
            }
            Self::Cancel { locator, .. } => {
                put_locator(out, 2 + more, b"TRAVEL.CANCEL", locator);
            }
            Self::Confirm { locator } => put_locator(out, 2 + more, b"TRAVEL.CONFIRM", locator),
        }
    }
}

fn put_head(out: &mut Vec<u8>, words: usize, name: &[u8]) {
    resp::put_count(out, b'*', words);
    resp::put_bulk(out, name);
}

/// The beginning of what is asked of a transaction.
fn put_step(out: &mut Vec<u8>, words: usize, name: &[u8], xid: u64) {
    put_head(out, words, name);
    put_whole(out, xid);
}

fn put_whole(out: &mut Vec<u8>, number: u64) {
    let digits = usize::try_from(number.checked_ilog10().unwrap_or(0) + 1).expect("20 at most");
    resp::put_count(out, b'$', digits);
    resp::put_decimal(out, number);
    out.extend_from_slice(b"\r\n");
}

/// What is asked of an itinerary.
fn put_locator(out: &mut Vec<u8>, words: usize, name: &[u8], locator: InlineReference) {
    put_head(out, words, name);
    let bytes = locator.bytes();
    let end = bytes.iter().position(|&byte| byte == 0);
    resp::put_bulk(out, &bytes[..end.unwrap_or(bytes.len())]);
}

fn put_trip(out: &mut Vec<u8>, stock: &NumberedStock, trip: &TripItems) {
    for &item in trip.items() {
        resp::put_bulk(out, stock.item(item));
    }
}

fn put_wish(out: &mut Vec<u8>, stock: &NumberedStock, xid: u64, wish: &Wish) {
    match wish {
        Wish::Query { item } => {
            put_step(out, 3, b"TRAVEL.QUERY-ITEM", xid);
            resp::put_bulk(out, stock.item(*item));
        }
        Wish::Bill { customer } => {
            put_step(out, 3, b"TRAVEL.QUERY-CUSTOMER", xid);
            resp::put_bulk(out, stock.customer(*customer));
        }
        Wish::Add { item, price } => {
            put_step(out, 5, b"TRAVEL.ADD-ITEM", xid);
            resp::put_bulk(out, stock.item(*item));
            resp::put_bulk(out, ADDED_TEXT);
            // Without one the price stays as it is.
            put_number(out, u64::from(price.unwrap_or(0)), 0);
        }
        Wish::Reserve { customer, trip } => {
            put_step(out, 3 + trip.items().len(), b"TRAVEL.RESERVE", xid);
            resp::put_bulk(out, stock.customer(*customer));
            put_trip(out, stock, trip);
        }
    }
}
