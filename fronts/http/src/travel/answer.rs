//! What travel's reads answer.

use serde::Serialize;
use turnstile_travel::{
    self as travel, Answer, Bill, BillLine, Item, ItineraryState, Locator, Query, Refusal, Stock,
    Totals,
};
use turnstile_types::Timestamp;
use utoipa::ToSchema;

use super::{outcome::tell_bill, query::item_cursor};
use crate::{
    answer::{Text, Told},
    conditional::etag_of_bytes,
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
    /// `booked`, `held`, `releasing` (it is being cancelled) or `over`; of one that is over no more
    /// is known.
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
        let (state, until) = match itinerary.state {
            ItineraryState::Booked => ("booked", None),
            ItineraryState::Held { until } => ("held", Some(until)),
            ItineraryState::Releasing => ("releasing", None),
            ItineraryState::Over => ("over", None),
        };
        let item = |&(item, price): &(Item, u32)| ItineraryItemView {
            item: Text(item),
            price,
        };
        let prices = itinerary.items.iter().map(|(_, price)| u64::from(*price));
        Self {
            locator: Text(itinerary.locator),
            state,
            until: until.map(Text),
            customer: itinerary.customer.map(|customer| customer.0),
            price: prices.sum(),
            items: itinerary.items.iter().map(item).collect(),
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
