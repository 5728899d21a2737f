//! How answers and events are written in a script.

use std::fmt::Write as _;

use turnstile_travel::{
    AbortReason, Answer, Bill, Desks, Done, Event, EventKind, ItineraryView, LateAnswer, Outcome,
    Refusal, Stock, TransactionView,
};
use turnstile_types::Timestamp;

use crate::scenery::NEW_YEAR;

pub(super) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(done) => self::done(done),
        Outcome::Refused(refusal) => format!("no: {}", self::refusal(refusal)),
        Outcome::Waiting { ticket } => format!("waits as {ticket}"),
    }
}

fn stock(stock: Option<Stock>) -> String {
    let Some(stock) = stock else {
        return "nothing".to_owned();
    };
    format!(
        "{} free, {} reserved, {} each",
        stock.free, stock.reserved, stock.price
    )
}

fn bill(bill: &Bill) -> String {
    let mut text = format!("customer {} owes {}", bill.customer, bill.total());
    for line in &bill.lines {
        write!(text, "; {} {} {}", line.count, line.item, line.price).unwrap();
    }
    text
}

fn done(done: &Done) -> String {
    match done {
        Done::Started { xid } => format!("started {xid}"),
        Done::Stock(found) => stock(*found),
        Done::CustomerAdded(customer) => format!("customer {customer} added"),
        Done::Bill(None) => "nobody".to_owned(),
        Done::Bill(Some(found)) => bill(found),
        Done::Summary(bills) => {
            let bills: Vec<String> = bills.iter().map(bill).collect();
            format!("{} customers\n{}", bills.len(), bills.join("\n"))
        }
        Done::Booked {
            locator,
            price,
            until: None,
        } => format!("booked {locator} for {price}"),
        Done::Booked {
            locator,
            price,
            until: Some(until),
        } => format!("held {locator} for {price} until {}", time(*until)),
        Done::CustomerDeleted => "customer deleted".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// Seconds since the scripts began.
fn time(at: Timestamp) -> String {
    let ms = at.0 - NEW_YEAR;
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}

fn reason(reason: AbortReason) -> String {
    match reason {
        AbortReason::Deadlock { holder } => format!("deadlock with {holder}"),
        AbortReason::LockTimeout { holder } => format!("waited too long for {holder}"),
        AbortReason::DeskAway(desk) | AbortReason::DeskLost(desk) => {
            format!("{} {desk}", reason.code())
        }
        AbortReason::Asked
        | AbortReason::Refused
        | AbortReason::Expired
        | AbortReason::Restarted
        | AbortReason::Evicted => reason.code().to_owned(),
    }
}

fn refusal(refusal: &Refusal) -> String {
    let code = refusal.code();
    match refusal {
        Refusal::NoSuchItem(item)
        | Refusal::SoldOut(item)
        | Refusal::ItemReserved(item)
        | Refusal::NotReserved(item) => format!("{code} {item}"),
        Refusal::Aborted(why) => format!("{code}, {}", reason(*why)),
        _ => code.to_owned(),
    }
}

pub(super) fn event(event: &Event) -> String {
    let what = match &event.kind {
        EventKind::Answered { ticket, outcome } => {
            format!("answer to {ticket}: {}", self::outcome(outcome))
        }
        EventKind::Committed { xid } => format!("{xid} committed"),
        EventKind::Aborted { xid, reason } => format!("{xid} aborted, {}", self::reason(*reason)),
        EventKind::Booked { locator } => format!("{locator} booked"),
        EventKind::Held { locator, until } => format!("{locator} held until {}", time(*until)),
        EventKind::Confirmed { locator } => format!("{locator} confirmed"),
        EventKind::Cancelled { locator } => format!("{locator} cancelled"),
        EventKind::Expired { locator } => format!("{locator} expired"),
        other => format!("{other:?}"),
    };
    format!(
        "  {}.{} at {}: {what}\n",
        event.position,
        event.ordinal,
        time(event.at)
    )
}

fn desks(desks: Desks) -> String {
    let codes: Vec<&str> = desks.iter().map(|desk| desk.code()).collect();
    codes.join(" ")
}

fn transaction(view: &TransactionView) -> String {
    let mut text = format!("{} {:?}", view.xid, view.state);
    if !view.touched.is_empty() {
        write!(text, " at {}", desks(view.touched)).unwrap();
    }
    if let Some(holder) = view.holder {
        write!(text, ", {} waits for {holder}", desks(view.awaited)).unwrap();
        for other in view.before.iter().filter(|other| **other != holder) {
            write!(text, " {other}").unwrap();
        }
    }
    if let Some(deadline) = view.deadline {
        write!(text, ", until {}", time(deadline)).unwrap();
    }
    for branch in &view.branches {
        write!(text, "\n  {} locks at {}", branch.held, branch.desk).unwrap();
        for (resource, mode) in &branch.locks {
            write!(text, ", {} {resource}", mode.code()).unwrap();
        }
        if let Some((resource, mode)) = branch.wanted {
            write!(text, "; wants {} {resource}", mode.code()).unwrap();
        }
    }
    text
}

fn itinerary(view: &ItineraryView) -> String {
    let mut text = match view.customer {
        Some(customer) => format!("{:?} for {customer}", view.state),
        None => format!("{:?}", view.state),
    };
    for (item, price) in &view.items {
        write!(text, "; {item} {price}").unwrap();
    }
    text
}

pub(super) fn late(answer: &LateAnswer) -> String {
    let line = match answer {
        LateAnswer::Given(given) => outcome(given),
        late => format!("{late:?}").to_lowercase(),
    };
    format!("{line}\n")
}

pub(super) fn answer(answer: &Answer) -> String {
    let lines: Vec<String> = match answer {
        Answer::Transaction(None) | Answer::Itinerary(None) => vec!["unknown".to_owned()],
        Answer::Transaction(Some(view)) => vec![transaction(view)],
        Answer::Transactions { transactions, .. } => transactions.iter().map(transaction).collect(),
        Answer::Itinerary(Some(view)) => vec![itinerary(view)],
        Answer::Items { items, .. } => {
            let line = |(item, found): &(_, Stock)| format!("{item}: {}", stock(Some(*found)));
            items.iter().map(line).collect()
        }
        Answer::Customer(None) => vec!["nobody".to_owned()],
        Answer::Customer(Some(found)) => vec![bill(found)],
        Answer::Totals(totals) => vec![format!(
            "{} started, {} open; {} itineraries of {}; {} items, {} customers",
            totals.xids,
            totals.open,
            totals.itineraries,
            totals.booked,
            totals.items,
            totals.customers
        )],
    };
    lines.iter().map(|line| format!("{line}\n")).collect()
}
