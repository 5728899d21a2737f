//! Travel in HTTP: its routes, and what its operations answer.
//!
//! An item is one word everywhere: `flight-12`, `car-montreal`, `room-new york`.

mod outcome;

use turnstile_travel::{Answer, Command, Done, Outcome, Query, Refusal, Travel};
use turnstile_types::Position;

use crate::{
    answer::Told,
    code::Code,
    operation::{OperationRoute, delete, get, post},
    problem::Problem,
    schema::Schemas,
    served::{Served, reads},
};

pub use outcome::About;

const TRANSACTION: &str = "/transactions/{xid}";
const ITINERARY: &str = "/itineraries/{locator}";

/// What its declaration cannot say.
pub(crate) const ROUTES: &[OperationRoute] = &[
    post("start", "/transactions").makes(&[TRANSACTION]),
    get("list_transactions", "/transactions"),
    get("get_transaction", TRANSACTION).shows("TransactionView"),
    post("resolve", "/transactions/{xid}/resolve"),
    post("add_item", "/transactions/{xid}/items"),
    get("query_item", "/transactions/{xid}/items/{item}").shows("StockView"),
    delete("delete_item", "/transactions/{xid}/items/{item}"),
    post("add_customer", "/transactions/{xid}/customers").makes(&[]),
    get("query_customers", "/transactions/{xid}/customers"),
    get("query_customer", "/transactions/{xid}/customers/{customer}"),
    delete(
        "delete_customer",
        "/transactions/{xid}/customers/{customer}",
    ),
    post("reserve", "/transactions/{xid}/reservations"),
    post("commit", "/transactions/{xid}/commit"),
    post("abort", "/transactions/{xid}/abort"),
    post("book", "/itineraries").makes(&[ITINERARY]),
    get("get_itinerary", ITINERARY)
        .shows("ItineraryView")
        .versioned(),
    post("confirm", "/itineraries/{locator}/confirm"),
    post("cancel", "/itineraries/{locator}/cancel"),
    get("list_items", "/items"),
    get("get_customer", "/customers/{customer}")
        .shows("Bill")
        .versioned(),
    get("get_totals", "/totals"),
];

/// Its reads inside a transaction are commands, and answer no receipt.
pub(crate) fn schemas(schemas: Schemas) -> Schemas {
    schemas
        .done_but::<Done>(&["Bill", "Stock", "Summary"])
        .read::<Done>("Summary")
        .answers::<Answer>()
        .without(&["Customer", "Itinerary", "Transaction"])
        .shown::<turnstile_travel::ItineraryView>()
        .event::<turnstile_travel::Event>()
}

impl Served for Travel {
    type About = About;
    type Done = Done;

    reads!(turnstile_travel, |_door| ());

    fn about(command: &Command) -> About {
        About::of(command)
    }

    fn tell_outcome(
        about: About,
        position: Position,
        replayed: bool,
        outcome: &Outcome,
    ) -> Result<Told, Problem> {
        outcome::tell(about, position, replayed, outcome)
    }

    fn tell_answer(query: &Query, answer: &Answer) -> Result<Told, Problem> {
        match (query, answer) {
            (Query::Customer { customer }, Answer::Customer(bill)) => {
                outcome::tell_bill(*customer, bill.as_ref())
            }
            (_, Answer::Itinerary(None)) => Err(Code::from(Refusal::NoSuchItinerary).into()),
            (_, Answer::Transaction(None)) => Err(Code::from(Refusal::UnknownTransaction).into()),
            (_, answer) => Ok(Told::answer(answer)),
        }
    }

    fn done(outcome: &Outcome) -> Option<&Done> {
        match outcome {
            Outcome::Done(done) => Some(done),
            Outcome::Refused(_) | Outcome::Waiting { .. } => None,
        }
    }
}
