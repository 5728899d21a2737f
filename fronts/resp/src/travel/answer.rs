//! Answers to queries as replies: maps in RESP3, flat arrays of fields and values in RESP2.

use turnstile_travel::{
    Answer, CustomerId, Item, ItineraryState, ItineraryView, Refusal, Stage, Stock, Totals,
    TransactionState, TransactionView,
};

use super::{
    outcome::{put_absence, with_reason},
    values::{Field, Value, bill_fields},
};
use crate::{
    Encoder,
    verdict::{put_fields, put_map},
};

/// Appends what was answered to a query. A listing is an array; the next page begins after its last
/// entry. A field that is not set is null.
///
/// # Panics
/// When it is a late answer: that is told as the outcome that it is.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Transaction(Some(view)) => put_transaction(reply, view),
        Answer::Transaction(None) => put_absence(reply, &Refusal::UnknownTransaction),
        Answer::Transactions(views) => {
            reply.array(views.len());
            views.iter().for_each(|view| put_transaction(reply, view));
        }
        Answer::Itinerary(Some(view)) => put_itinerary(reply, view),
        Answer::Itinerary(None) => put_absence(reply, &Refusal::NoSuchItinerary),
        Answer::Items(items) => {
            reply.array(items.len());
            items.iter().for_each(|item| put_item(reply, item));
        }
        Answer::Customer(Some(bill)) => put_map(reply, &bill_fields(bill)),
        Answer::Customer(None) => put_absence(reply, &Refusal::NoSuchCustomer(CustomerId(0))),
        Answer::Totals(totals) => {
            let fields = figures(totals);
            put_map(
                reply,
                &fields.map(|(name, figure)| (name, Value::Number(figure))),
            );
        }
        Answer::Answered(late) => unreachable!("no command asks for {late:?}"),
    }
}

/// The figures of `INFO`, in its words.
#[must_use]
pub const fn facts(totals: &Totals) -> [(&'static str, u64); 6] {
    [
        ("travel_open_transactions", totals.open),
        ("travel_itineraries", totals.itineraries),
        ("travel_items", totals.items),
        ("travel_customers", totals.customers),
        ("travel_xids_total", totals.xids),
        ("travel_booked_total", totals.booked),
    ]
}

/// Those of `TRAVEL.TOTALS`: the same, without the name of the service.
fn figures(totals: &Totals) -> [(&'static str, u64); 6] {
    facts(totals).map(|(name, figure)| (name.trim_start_matches("travel_"), figure))
}

fn put_item(reply: &mut Encoder<'_>, (item, stock): &(Item, Stock)) {
    put_map(
        reply,
        &[
            ("item", Value::Shown(item)),
            ("free", Value::count(stock.free)),
            ("reserved", Value::count(stock.reserved)),
            ("price", Value::count(stock.price)),
        ],
    );
}

fn put_itinerary(reply: &mut Encoder<'_>, view: &ItineraryView) {
    let until = match view.state {
        ItineraryState::Held { until } => Some(until),
        ItineraryState::Booked
        | ItineraryState::Releasing
        | ItineraryState::Booking
        | ItineraryState::Over => None,
    };
    let prices = view.items.iter().map(|(_, price)| u64::from(*price));
    let customer = view.customer.map(|customer| Value::Signed(customer.0));
    put_map(
        reply,
        &[
            ("locator", Value::Shown(&view.locator)),
            ("state", Value::Text(view.state.code())),
            ("until", Value::until(until)),
            ("customer", customer.unwrap_or(Value::Nothing)),
            ("price", Value::Number(prices.sum())),
            ("items", Value::Items(&view.items)),
        ],
    );
}

fn put_transaction(reply: &mut Encoder<'_>, view: &TransactionView) {
    let phase = view.state.code();
    let state = view.state.stage().map_or(phase, Stage::code);
    let holder = view.holder.map(|holder| Value::Number(holder.0));
    let fields = [
        ("xid", Value::Number(view.xid.0)),
        ("state", Value::Text(state)),
        ("phase", Value::Text(phase)),
        ("touched", Value::Desks(view.touched)),
        ("awaited", Value::Desks(view.awaited)),
        ("waits_for", holder.unwrap_or(Value::Nothing)),
        ("before", Value::Xids(&view.before)),
        ("until", Value::until(view.deadline)),
        ("branches", Value::Branches(&view.branches)),
    ];
    let mut put = |more: &[Field<'_>]| {
        reply.map(fields.len() + more.len());
        put_fields(reply, &fields);
        put_fields(reply, more);
    };
    match view.state {
        TransactionState::Aborted(reason) => with_reason(reason, put),
        _ => put(&[]),
    }
}
