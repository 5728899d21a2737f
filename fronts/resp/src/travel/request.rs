//! Arguments to commands and queries of travel.

use turnstile_travel::{Command, Query, Step, Xid};

use super::{
    Invalid, Verb,
    words::{Words, item},
};
use crate::{
    Arguments,
    words::{PAGE, number},
};

/// One request to travel.
pub type Request<'a> = crate::Request<'a, Command, Query>;

/// Reads the arguments of a request whose words the catalogue has counted.
///
/// # Errors
/// The first argument that is not what it should be.
pub fn parse<'a>(verb: Verb, arguments: Arguments<'a, '_>) -> Result<Request<'a>, Invalid> {
    let name_words = match verb {
        Verb::TxList | Verb::TxShow | Verb::TxResolve => 2,
        _ => 1,
    };
    let words = &mut Words::behind(name_words, verb, arguments);
    match verb {
        Verb::Start => with_key(words, Command::Start),
        Verb::Book => book(words),
        Verb::Confirm => {
            let locator = words.locator()?;
            with_key(words, Command::Confirm { locator })
        }
        Verb::Cancel => {
            let locator = words.locator()?;
            with_key(words, Command::Cancel { locator })
        }
        Verb::TxResolve => {
            let command = Command::Resolve {
                desk: words.desk()?,
                xid: words.xid()?,
                commit: words.decision()?,
            };
            with_key(words, command)
        }
        Verb::Abort => {
            let xid = words.xid()?;
            with_key(words, Command::Abort { xid })
        }
        Verb::Itinerary
        | Verb::Customer
        | Verb::Items
        | Verb::Totals
        | Verb::TxList
        | Verb::TxShow => query(verb, words).map(Request::Query),
        Verb::Add
        | Verb::Delete
        | Verb::Query
        | Verb::AddCustomer
        | Verb::DeleteCustomer
        | Verb::QueryCustomer
        | Verb::Reserve
        | Verb::Summary
        | Verb::Commit => {
            let xid = words.xid()?;
            let step = step(verb, words)?;
            with_key(words, Command::Within { xid, step })
        }
    }
}

/// The one option of most commands. Those that only read have been counted by the catalogue, and
/// nothing is left of them.
fn with_key<'a>(words: &mut Words<'a, '_>, command: Command) -> Result<Request<'a>, Invalid> {
    let key = words.only_key()?;
    Ok(Request::Command { command, key })
}

fn book<'a>(words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let customer = words.customer()?;
    let trip = words.trip()?;
    let options = words.options(&["HOLD", "KEY"])?;
    let command = Command::Book {
        customer,
        trip,
        hold_ms: options.hold_ms,
    };
    let key = options.key;
    Ok(Request::Command { command, key })
}

/// What is asked of a transaction.
fn step(verb: Verb, words: &mut Words<'_, '_>) -> Result<Step, Invalid> {
    Ok(match verb {
        Verb::Add => Step::Add {
            item: words.item()?,
            count: words.number("count")?,
            price: words.number("price")?,
        },
        Verb::Delete => Step::Delete {
            item: words.item()?,
        },
        Verb::Query => Step::Query {
            item: words.item()?,
        },
        Verb::AddCustomer => Step::AddCustomer {
            customer: words.optional_customer()?,
        },
        Verb::DeleteCustomer => Step::DeleteCustomer {
            customer: words.customer()?,
        },
        Verb::QueryCustomer => Step::QueryCustomer {
            customer: words.customer()?,
        },
        Verb::Reserve => Step::Reserve {
            customer: words.customer()?,
            trip: words.trip()?,
        },
        Verb::Summary => Step::Summary,
        _ => Step::Commit,
    })
}

fn query(verb: Verb, words: &mut Words<'_, '_>) -> Result<Query, Invalid> {
    Ok(match verb {
        Verb::Itinerary => Query::Itinerary {
            locator: words.locator()?,
        },
        Verb::Customer => Query::Customer {
            customer: words.customer()?,
        },
        Verb::Items => {
            let desk = words.desk()?;
            let options = words.options(&["AFTER", "COUNT"])?;
            Query::Items {
                desk,
                after: words.late("AFTER", options.after, item)?,
                limit: options.count.unwrap_or(PAGE).into(),
            }
        }
        Verb::TxList => {
            let options = words.options(&["STATE", "AFTER", "COUNT"])?;
            let after = words.late("AFTER", options.after, number)?;
            Query::Transactions {
                after: Xid(after.unwrap_or(0)),
                stage: options.stage,
                limit: options.count.unwrap_or(PAGE).into(),
            }
        }
        Verb::TxShow => Query::Transaction { xid: words.xid()? },
        _ => Query::Totals,
    })
}
