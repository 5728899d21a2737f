//! The answers that planners read.

use turnstile_check::{
    Model as _,
    rooms::InlineReference,
    travel::{Agency, BillRow, CustomerBill, ItemOffer},
};
use turnstile_client::resp::Token;

use super::stock::NumberedStock;
use crate::{
    pace::Garbled,
    reply::{Tokens, error, millis},
};

/// What a planner was told.
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken as soon as it is read, and nearly always an outcome"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told<'a> {
    Error(&'a [u8]),
    Outcome(Outcome<'a>),
}

/// What was answered to a command: those fields that it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome<'a> {
    /// Why it was refused; nothing when it was done.
    pub(super) reason: Option<&'a [u8]>,
    /// Why its transaction was aborted.
    pub(super) cause: Option<&'a [u8]>,
    /// Of the command.
    pub(super) position: u64,
    /// Where it was decided, when it had waited: a position and an ordinal.
    pub(super) decided: Option<(u64, u64)>,
    /// Whether it is the first answer to the same key.
    pub(super) replayed: bool,
    pub(super) xid: Option<u64>,
    pub(super) locator: Option<InlineReference>,
    pub(super) item: Option<u16>,
    /// When a hold ends, in milliseconds.
    pub(super) until: Option<u64>,
    free: Option<i64>,
    reserved: Option<i64>,
    price: Option<i64>,
    total: Option<i64>,
    lines: Option<Vec<BillRow>>,
}

impl Outcome<'_> {
    /// The place of its command.
    pub(super) const fn asked_at(&self) -> u64 {
        self.position * Agency::PLACES
    }

    /// The place where it was decided; nothing when an answer from before is all that is left of that.
    pub(super) fn place(&self) -> Option<u64> {
        match self.decided {
            Some((position, ordinal)) => {
                let within = (ordinal + 1).min(Agency::PLACES - 1);
                Some(position * Agency::PLACES + within)
            }
            None if self.replayed => None,
            None => Some(self.asked_at()),
        }
    }

    pub(super) fn offer(&self) -> Option<ItemOffer> {
        Some(ItemOffer {
            free: self.free?,
            reserved: self.reserved?,
            price: u32::try_from(self.price?).ok()?,
        })
    }

    pub(super) fn paid(&self) -> Option<u64> {
        u64::try_from(self.price?).ok()
    }

    pub(super) fn into_bill(self) -> Option<CustomerBill> {
        Some(CustomerBill {
            lines: self.lines?,
            total: u64::try_from(self.total?).ok()?,
        })
    }

    fn take(&mut self, name: &[u8], number: i64) {
        let wide = u64::try_from(number).ok();
        match name {
            b"position" => self.position = wide.unwrap_or(0),
            b"decided" => self.decided = wide.map(|position| (position, 0)),
            b"ordinal" => {
                self.decided = self
                    .decided
                    .zip(wide)
                    .map(|(place, ordinal)| (place.0, ordinal));
            }
            b"xid" => self.xid = wide,
            b"free" => self.free = Some(number),
            b"reserved" => self.reserved = Some(number),
            b"price" => self.price = Some(number),
            b"total" => self.total = Some(number),
            _ => {}
        }
    }
}

/// Reads a whole reply in RESP3 to a command.
pub(super) fn told<'a>(reply: &'a [u8], stock: &NumberedStock) -> Result<Told<'a>, Garbled> {
    if let Some(code) = error(reply)? {
        return Ok(Told::Error(code));
    }
    let mut tokens = Tokens(reply);
    let mut outcome = Outcome::default();
    let mut done = false;
    for _ in 0..tokens.pairs()? {
        let name = tokens.text()?;
        match (name, tokens.next()?) {
            (b"outcome", Token::Bulk(word) | Token::Simple(word)) => done = word == b"done",
            (b"reason", Token::Bulk(word) | Token::Simple(word)) => outcome.reason = Some(word),
            (b"cause", Token::Bulk(word) | Token::Simple(word)) => outcome.cause = Some(word),
            (b"locator", Token::Bulk(text) | Token::Simple(text)) => {
                outcome.locator = InlineReference::parse(text).ok();
            }
            (b"item", Token::Bulk(text) | Token::Simple(text)) => {
                outcome.item = stock.number(text);
            }
            (b"until", Token::Bulk(text) | Token::Simple(text)) => {
                outcome.until = Some(millis(text).ok_or(Garbled)?);
            }
            (b"replayed", Token::Boolean(replayed)) => outcome.replayed = replayed,
            (b"lines", Token::Array(count)) => {
                outcome.lines = Some(lines(&mut tokens, count, stock)?);
            }
            (_, Token::Integer(number)) => outcome.take(name, number),
            // What else there is has one value.
            (_, Token::Array(_) | Token::Map(_)) => return Err(Garbled),
            _ => {}
        }
    }
    if done == outcome.reason.is_some() || outcome.position == 0 {
        return Err(Garbled);
    }
    Ok(Told::Outcome(outcome))
}

fn lines(
    tokens: &mut Tokens<'_>,
    count: usize,
    stock: &NumberedStock,
) -> Result<Vec<BillRow>, Garbled> {
    let mut lines = Vec::new();
    for _ in 0..count {
        let (mut item, mut count, mut price) = (None, None, None);
        for _ in 0..tokens.pairs()? {
            match (tokens.text()?, tokens.next()?) {
                (b"item", Token::Bulk(text) | Token::Simple(text)) => item = Some(text),
                (b"count", Token::Integer(number)) => count = Some(number),
                (b"price", Token::Integer(number)) => price = Some(number),
                (_, Token::Array(_) | Token::Map(_)) => return Err(Garbled),
                _ => {}
            }
        }
        let all = item.zip(count).zip(price).ok_or(Garbled)?;
        let ((item, count), price) = all;
        lines.push(line(stock, item, count, price).ok_or(Garbled)?);
    }
    lines.sort_unstable_by_key(|line| line.item);
    Ok(lines)
}

/// A line of a bill in the numbers of the run; what is none of its items has the highest number.
pub(super) fn line(stock: &NumberedStock, item: &[u8], count: i64, price: i64) -> Option<BillRow> {
    Some(BillRow {
        item: stock.number(item).unwrap_or(u16::MAX),
        count,
        price: u32::try_from(price).ok()?,
    })
}
