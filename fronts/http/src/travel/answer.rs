//! What travel's reads answer.

use serde::Serialize;
use turnstile_travel::{
    self as travel, AbortReason, Answer, Bill, BillLine, Desk, Desks, Item, ItineraryState,
    Locator, LockMode, Query, Refusal, Resource, Stage, Stock, Totals, TransactionState,
};
use turnstile_types::Timestamp;
use utoipa::ToSchema;

use super::{outcome::tell_bill, query::item_cursor};
use crate::{
    answer::{Text, Told},
    conditional::etag_of_bytes,
    cursor::cursor_text,
    problem::{Code, Problem},
};

/// What there is of an item.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StockView {
    #[schema(value_type = String, example = "flight-12")]
    item: Text<Item>,
    free: u32,
    reserved: u32,
    /// Of one.
    price: u32,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StockPage {
    items: Vec<StockView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// So many of one item.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BillLineView {
    #[schema(value_type = String, example = "flight-12")]
    item: Text<Item>,
    count: u32,
    /// Of one, when the first of them was reserved.
    price: u32,
}

/// What a customer has, sorted by item.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BillView {
    customer: i32,
    lines: Vec<BillLineView>,
    /// The sum of count x price.
    total: u64,
}

/// One reserved item.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ItineraryItemView {
    #[schema(value_type = String, example = "flight-12")]
    item: Text<Item>,
    /// When it was reserved.
    price: u32,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ItineraryView {
    #[schema(value_type = String, example = "7K2M9Q")]
    locator: Text<Locator>,
    /// `booked`, `held`, `releasing` (it is being cancelled), `booking` (a restart has not heard yet
    /// whether it was booked) or `over`; of the last two no more is known.
    #[schema(value_type = String, example = "booked")]
    state: &'static str,
    /// When a hold ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Text<Timestamp>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer: Option<i32>,
    items: Vec<ItineraryItemView>,
    /// Of all its items.
    price: u64,
}

/// Something that is locked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LockView {
    /// An item, `customer-<number>`, or `customers`: all of them.
    #[schema(value_type = String, example = "flight-12")]
    what: Text<Resource>,
    /// `shared`, `intent` (to change single ones of all) or `exclusive`.
    #[schema(value_type = String, example = "exclusive")]
    mode: &'static str,
}

/// A transaction at one desk.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BranchView {
    #[schema(value_type = String, example = "flights")]
    desk: &'static str,
    /// Whether the desk has voted yes, so that an operator may resolve the transaction there.
    prepared: bool,
    /// How many locks it holds.
    held: u64,
    /// What it holds, in the order in which it got it: at most 1,000, and none of it in a listing.
    locks: Vec<LockView>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    wants: Option<LockView>,
}

/// Where a transaction stands: who has what, and why something waits.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TransactionView {
    xid: u64,
    /// `active`, `waiting` (for a lock), `prepared` (its end has begun), `in-doubt` (how it ends is
    /// known elsewhere), `committed` or `aborted`.
    #[schema(value_type = String, example = "prepared")]
    state: &'static str,
    /// The same, but of one that is prepared `preparing`, `delegated` (its only desk decides) or
    /// `committing`.
    #[schema(value_type = String, example = "preparing")]
    phase: &'static str,
    /// Why it was aborted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    reason: Option<&'static str>,
    /// Who had what it wanted, where that is why.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<u64>,
    /// Who has what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for: Option<u64>,
    /// Those who must end before it gets that; not in a listing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<u64>,
    /// When it is given up, as things are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Text<Timestamp>>,
    /// The desks that have been asked for something.
    #[schema(value_type = Vec<String>)]
    touched: Vec<&'static str>,
    /// The desks whose word is missing.
    #[schema(value_type = Vec<String>)]
    awaited: Vec<&'static str>,
    /// What it has at the desks that this server plays.
    branches: Vec<BranchView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TransactionPage {
    transactions: Vec<TransactionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// How much there is, of the parts of travel that this server plays.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TravelTotals {
    /// Numbers given to transactions, with those that a restart skipped.
    xids: u64,
    /// Transactions that are not over.
    open: u64,
    /// Itineraries that stand, held ones among them.
    itineraries: u64,
    /// Itineraries ever made.
    booked: u64,
    items: u64,
    customers: u64,
}

/// Tells the answer to a query, which the answer does not repeat.
///
/// # Errors
/// What was asked for is not there.
///
/// # Panics
/// The answer is to a query that no operation asks.
pub fn tell_answer(query: &Query, answer: &Answer) -> Result<Told, Problem> {
    Ok(match (query, answer) {
        (Query::Items { limit, .. }, Answer::Items(items)) => tell_items(items, *limit),
        (Query::Customer { customer }, Answer::Customer(bill)) => {
            with_etag(tell_bill(*customer, bill.as_ref())?)
        }
        (_, Answer::Itinerary(Some(itinerary))) => {
            with_etag(Told::of(200, &ItineraryView::of(itinerary)))
        }
        (_, Answer::Itinerary(None)) => {
            return Err(Problem::from(Code::from(Refusal::NoSuchItinerary)));
        }
        (_, Answer::Transaction(Some(transaction))) => {
            Told::of(200, &TransactionView::of(transaction))
        }
        (_, Answer::Transaction(None)) => {
            return Err(Problem::from(Code::from(Refusal::UnknownTransaction)));
        }
        (Query::Transactions { limit, .. }, Answer::Transactions(transactions)) => {
            tell_transactions(transactions, *limit)
        }
        (_, Answer::Totals(totals)) => Told::of(200, &TravelTotals::of(totals)),
        (other, _) => unreachable!("no operation asks {other:?}"),
    })
}

/// A page that is full may be the last one; then an empty one follows.
fn tell_items(items: &[(Item, Stock)], limit: usize) -> Told {
    let last = items.last().filter(|_| items.len() == limit);
    let next = last.map(|(item, _)| item_cursor(*item));
    let view = |(item, stock): &(Item, Stock)| StockView::of(*item, *stock);
    let page = StockPage {
        items: items.iter().map(view).collect(),
        next_cursor: next.clone(),
    };
    Told {
        next,
        ..Told::of(200, &page)
    }
}

fn tell_transactions(transactions: &[travel::TransactionView], limit: usize) -> Told {
    let last = transactions.last();
    let last = last.filter(|_| transactions.len() == limit);
    let next = last.map(|transaction| cursor_text(transaction.xid.0));
    let page = TransactionPage {
        transactions: transactions.iter().map(TransactionView::of).collect(),
        next_cursor: next.clone(),
    };
    Told {
        next,
        ..Told::of(200, &page)
    }
}

/// Nobody counts the changes of these things.
fn with_etag(told: Told) -> Told {
    Told {
        etag: Some(etag_of_bytes(&told.json)),
        ..told
    }
}

impl StockView {
    pub(super) const fn of(item: Item, stock: Stock) -> Self {
        Self {
            item: Text(item),
            free: stock.free,
            reserved: stock.reserved,
            price: stock.price,
        }
    }
}

impl BillView {
    pub(super) fn of(bill: &Bill) -> Self {
        let line = |line: &BillLine| BillLineView {
            item: Text(line.item),
            count: line.count,
            price: line.price,
        };
        Self {
            customer: bill.customer.0,
            lines: bill.lines.iter().map(line).collect(),
            total: bill.total(),
        }
    }
}

impl ItineraryView {
    fn of(itinerary: &travel::ItineraryView) -> Self {
        let until = match itinerary.state {
            ItineraryState::Held { until } => Some(until),
            ItineraryState::Booked
            | ItineraryState::Releasing
            | ItineraryState::Booking
            | ItineraryState::Over => None,
        };
        let item = |&(item, price): &(Item, u32)| ItineraryItemView {
            item: Text(item),
            price,
        };
        let prices = itinerary.items.iter().map(|(_, price)| u64::from(*price));
        Self {
            locator: Text(itinerary.locator),
            state: itinerary.state.code(),
            until: until.map(Text),
            customer: itinerary.customer.map(|customer| customer.0),
            price: prices.sum(),
            items: itinerary.items.iter().map(item).collect(),
        }
    }
}

impl LockView {
    const fn of((what, mode): (Resource, LockMode)) -> Self {
        Self {
            what: Text(what),
            mode: mode.code(),
        }
    }
}

impl BranchView {
    fn of(branch: &travel::BranchView) -> Self {
        Self {
            desk: branch.desk.code(),
            prepared: branch.prepared,
            held: branch.held,
            locks: branch.locks.iter().copied().map(LockView::of).collect(),
            wants: branch.wanted.map(LockView::of),
        }
    }
}

impl TransactionView {
    fn of(transaction: &travel::TransactionView) -> Self {
        let reason = match &transaction.state {
            TransactionState::Aborted(reason) => Some(reason),
            _ => None,
        };
        let blamed = match reason {
            Some(AbortReason::Deadlock { holder } | AbortReason::LockTimeout { holder }) => {
                Some(*holder)
            }
            _ => None,
        };
        let phase = transaction.state.code();
        let words = |desks: Desks| desks.iter().map(Desk::code).collect();
        Self {
            xid: transaction.xid.0,
            state: transaction.state.stage().map_or(phase, Stage::code),
            phase,
            reason: reason.map(AbortReason::code),
            holder: blamed.map(|xid| xid.0),
            waits_for: transaction.holder.map(|xid| xid.0),
            before: transaction.before.iter().map(|xid| xid.0).collect(),
            until: transaction.deadline.map(Text),
            touched: words(transaction.touched),
            awaited: words(transaction.awaited),
            branches: transaction.branches.iter().map(BranchView::of).collect(),
        }
    }
}

impl TravelTotals {
    const fn of(totals: &Totals) -> Self {
        Self {
            xids: totals.xids,
            open: totals.open,
            itineraries: totals.itineraries,
            booked: totals.booked,
            items: totals.items,
            customers: totals.customers,
        }
    }
}
