//! What clients were told, and who judges it: we, by the positions of the answers, and porcupine, which knows
//! nothing of positions.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::trades::{TradeRequest, whole};
use crate::{
    clients::installed,
    cluster_scene::{Answered, in_order},
    crash::{
        answer::Answer,
        books::Books as _,
        hotel::Hotel,
        request::{DOUBLES, Request, Stay, Wish},
    },
    program::output,
};

/// What a client asks for.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    Stay(Request),
    Trade(TradeRequest),
}

/// Judges by positions: they are one order, in which every answer about rooms is right. Gives the books of the
/// rooms after all of it.
pub(super) fn judge(history: &[Answered<Wanted>]) -> Hotel {
    let mut books = Hotel::default();
    for one in in_order(history) {
        if let Wanted::Stay(request) = &one.wanted {
            let entered = books.enter(request, &one.answer);
            entered.unwrap_or_else(|why| panic!("{why}"));
        }
    }
    books
}

/// What the outside judge says: `ok`, or which part of the history no order explains.
pub(super) fn outside(history: &[Value]) -> String {
    let lines: Vec<String> = history.iter().map(Value::to_string).collect();
    let program = installed("TURNSTILE_TEST_PORCUPINE");
    // A verdict against us is no failure of the program's caller.
    let arguments = ["-c", "\"$0\" || true", program.to_str().expect("UTF-8")];
    output("sh", &arguments, lines.join("\n").as_bytes())
}

/// The history in words of the outside judge.
pub(super) fn told(history: &[Answered<Wanted>]) -> Vec<Value> {
    let begin = history.iter().map(|one| one.asked).min();
    let begin = begin.expect("somebody asked for something");
    let mut houses = BTreeMap::new();
    for one in history {
        let given = one.answer.text("reference");
        if let (
            Wanted::Stay(Request::Book { wish, .. } | Request::Hold { wish, .. }),
            Some(given),
        ) = (&one.wanted, given)
        {
            houses.insert(given.to_owned(), house(*wish));
        }
    }
    let lines = history.iter().map(|one| {
        let mut line = match &one.wanted {
            Wanted::Stay(request) => stay(request, &one.answer, &houses),
            Wanted::Trade(request) => trade(request, &one.answer),
        };
        let nanos = |at: Instant| u64::try_from((at - begin).as_nanos()).expect("a few minutes");
        line["client"] = json!(one.client);
        line["call"] = json!(nanos(one.asked));
        line["return"] = json!(nanos(one.answered));
        line["done"] = json!(one.answer.text("outcome") == Some("done"));
        line["reason"] = json!(one.answer.text("reason").unwrap_or_default());
        line
    });
    lines.collect()
}

/// Rooms of which one is given for a wish.
fn house(wish: Wish) -> String {
    match wish {
        Wish::Room(number) => format!("room r{number}"),
        Wish::Double => format!("rooms {}", DOUBLES.join(",")),
    }
}

fn nights(stay: Stay) -> u64 {
    stay.days().map(|day| 1 << day).sum()
}

fn day(date: &str) -> Option<u8> {
    date.strip_prefix("2027-03-")?.parse().ok()
}

fn stay(request: &Request, answer: &Answer, houses: &BTreeMap<String, String>) -> Value {
    let text = |field: &str| answer.text(field).unwrap_or_default().to_owned();
    let of = |reference: &String| houses.get(reference).expect("it was given").clone();
    let sale = |op: &str, wish: Wish, asked: Stay, guest: u64| {
        let taken = text("nights");
        let taken = taken.split(',').filter_map(day).map(|day| 1_u64 << day);
        json!({
            "op": op, "part": house(wish), "nights": nights(asked), "guest": guest,
            "reference": text("reference"), "room": text("room"), "taken": taken.sum::<u64>(),
        })
    };
    match request {
        Request::Book { wish, stay, guest } => sale("book", *wish, *stay, guest.number()),
        Request::Hold { wish, stay } => sale("hold", *wish, *stay, 0),
        Request::Confirm { hold, guest } => json!({
            "op": "confirm", "part": of(hold), "reference": hold, "guest": guest.number(),
            "room": text("room"),
        }),
        Request::Release { hold } => {
            json!({ "op": "release", "part": of(hold), "reference": hold })
        }
        Request::Cancel { booking, guest } => {
            let days = day(&text("arrival")).zip(day(&text("departure")));
            let nights: u64 = days.map_or(0, |(from, to)| (from..to).map(|day| 1 << day).sum());
            json!({
                "op": "cancel", "part": of(booking), "reference": booking, "guest": guest.number(),
                "room": text("room"), "nights": nights,
            })
        }
    }
}

fn trade(request: &TradeRequest, answer: &Answer) -> Value {
    let amount = |field: &str| whole(answer, field).unwrap_or_default();
    match request {
        TradeRequest::Place {
            symbol,
            is_buy,
            quantity,
            price,
            at_once,
            ..
        } => json!({
            "op": "place", "part": format!("symbol {symbol}"), "is_buy": is_buy, "quantity": quantity,
            "price": price, "at_once": at_once, "order": answer.number("order").unwrap_or_default(),
            "filled": amount("filled"), "value": amount("value"),
        }),
        TradeRequest::Cancel { symbol, order, .. } => json!({
            "op": "cancel", "part": format!("symbol {symbol}"), "order": order,
            "quantity": amount("quantity"),
        }),
    }
}

/// A server that does something wrong, as its clients would see it.
type PlantedFault = fn(&mut Vec<Value>) -> bool;

/// Faults of a server, each planted in a history that is right; each says whether it found a place.
pub(super) const PLANTED: [(&str, PlantedFault); 9] = [
    ("a booking is lost", |history| {
        // Much later its nights are sold again, and were never given back.
        let kept = kept(history);
        sold_again(history, kept, "R-again")
    }),
    ("a booking is entered twice", |history| {
        let kept = kept(history);
        let Some(reference) = kept.map(|at| history[at]["reference"].clone()) else {
            return false;
        };
        let reference = reference.as_str().unwrap_or_default().to_owned();
        sold_again(history, kept, &reference)
    }),
    ("a refusal without a reason", |history| {
        let at = first(history, |one| one["op"] == "book" && one["done"] == true);
        at.is_some_and(|at| {
            history[at]["done"] = json!(false);
            history[at]["reason"] = json!("sold_out");
            history[at]["taken"] = history[at]["nights"].clone();
            true
        })
    }),
    ("a cancelled booking that is cancelled again", |history| {
        again(history, |one| {
            one["op"] == "cancel" && one["room"] != "" && one["done"] == true
        })
    }),
    ("a released hold that is confirmed", |history| {
        let released = |one: &Value| one["op"] == "release" && one["done"] == true;
        let Some(at) = first(history, released) else {
            return false;
        };
        let mut confirmed = history[at].clone();
        confirmed["op"] = json!("confirm");
        push_last(history, confirmed);
        true
    }),
    ("an answer from before what had been answered", |history| {
        // Nights that were given back long before are still said to be taken.
        let given_back = |one: &Value| {
            let part = one["part"].as_str().unwrap_or_default();
            part.starts_with("room ") && one["op"] == "cancel" && one["done"] == true
        };
        let Some(at) = first(history, given_back) else {
            return false;
        };
        let (part, nights) = (history[at]["part"].clone(), history[at]["nights"].clone());
        // Only what came before the cancellation is kept of this room, so that nobody has it since.
        let end = history[at]["return"].as_u64();
        history.retain(|one| one["part"] != part || one["return"].as_u64() <= end);
        let stale = json!({
            "op": "book", "part": part, "nights": nights, "guest": 1, "taken": nights, "done": false,
            "reason": "sold_out", "client": 0,
        });
        push_last(history, stale);
        true
    }),
    ("a trade that is not told", |history| {
        let traded = first(history, |one| one["filled"].as_u64() > Some(0));
        traded.is_some_and(|at| {
            history[at]["filled"] = json!(0);
            history[at]["value"] = json!(0);
            true
        })
    }),
    ("a trade at a worse price", |history| {
        let traded = first(history, |one| one["filled"].as_u64() > Some(0));
        traded.is_some_and(|at| {
            history[at]["value"] = json!(history[at]["value"].as_u64().unwrap_or_default() + 1);
            true
        })
    }),
    ("an order that is cancelled twice", |history| {
        again(history, |one| {
            one["op"] == "cancel" && one["order"].is_u64() && one["done"] == true
        })
    }),
];

/// The first one of a kind that nothing else about the same room or symbol overlapped: its answer has one
/// explanation at most.
fn first(history: &[Value], is_it: impl Fn(&Value) -> bool) -> Option<usize> {
    let time = |one: &Value| one["call"].as_u64().zip(one["return"].as_u64());
    let is_alone = |at: usize| {
        let (call, answered) = time(&history[at]).expect("all have times");
        let mut others = history.iter().enumerate();
        others.all(|(other, one)| {
            let (asked, end) = time(one).expect("all have times");
            other == at || one["part"] != history[at]["part"] || end < call || asked > answered
        })
    };
    (0..history.len()).find(|at| is_it(&history[*at]) && is_alone(*at))
}

/// A booking of one room that nobody has cancelled, or asked to.
fn kept(history: &[Value]) -> Option<usize> {
    first(history, |one| {
        let part = one["part"].as_str().unwrap_or_default();
        let named = |other: &Value| other["reference"] == one["reference"];
        let times = history.iter().filter(|other| named(other)).count();
        one["op"] == "book" && one["done"] == true && part.starts_with("room ") && times == 1
    })
}

fn sold_again(history: &mut Vec<Value>, at: Option<usize>, reference: &str) -> bool {
    let Some(at) = at else {
        return false;
    };
    let mut again = history[at].clone();
    again["reference"] = json!(reference);
    push_last(history, again);
    true
}

fn again(history: &mut Vec<Value>, is_it: impl Fn(&Value) -> bool) -> bool {
    let Some(at) = first(history, is_it) else {
        return false;
    };
    let again = history[at].clone();
    push_last(history, again);
    true
}

/// Adds an operation that was asked after everything had been answered.
fn push_last(history: &mut Vec<Value>, mut one: Value) {
    let ends = history.iter().filter_map(|one| one["return"].as_u64());
    let end = ends.max().unwrap_or_default();
    let millisecond = u64::try_from(Duration::from_millis(1).as_nanos()).expect("few");
    one["call"] = json!(end + millisecond);
    one["return"] = json!(end + 2 * millisecond);
    history.push(one);
}
