//! The locators of a bureau.

use turnstile_travel::{
    Command, CustomerId, Done, Item, Locator, Outcome, Step, Travel, Trip, Xid, limits,
};
use turnstile_types::{Context, Machine as _, Position, Principal, Timestamp};

/// A machine that makes locators: it has one customer, and seats without end.
pub(super) fn mint() -> Travel {
    let mut mint = Travel::empty();
    let (item, xid) = (Item::Flight(1), Xid(1));
    let (count, price) = (limits::COUNT_MAX, 1);
    let customer = Some(CustomerId(1));
    let steps = [
        Step::Add { item, count, price },
        Step::AddCustomer { customer },
        Step::Commit,
    ];
    let within = |step| Command::Within { xid, step };
    for command in [Command::Start].into_iter().chain(steps.map(within)) {
        say(&mut mint, 1, &command);
    }
    mint
}

pub(super) fn locator(mint: &mut Travel, position: u64) -> Locator {
    let command = Command::Book {
        customer: CustomerId(1),
        trip: Trip::of(Item::Flight(1)),
        hold_ms: None,
    };
    match say(mint, 1 + position, &command) {
        Outcome::Done(Done::Booked { locator, .. }) => locator,
        other => panic!("{other:?}"),
    }
}

fn say(mint: &mut Travel, position: u64, command: &Command) -> Outcome {
    let context = Context {
        position: Position(position),
        now: Timestamp(1),
        principal: &Principal::local(),
    };
    let outcome = mint.apply(&context, command);
    mint.drain_events(&mut |_event| {});
    outcome
}
