//! Guests and buyers who book, hold, cancel and release, so that about as much is sold all the time.

use std::collections::VecDeque;

use anyhow::{Context as _, Result, ensure};
use turnstile_client::resp::Value;

use super::{CommandSource, is_done, person, text};
use crate::dice::Draws;

/// The id number of every guest.
const ID: &str = "234123412346";

/// Of a hundred commands: those that want what is sold already, and are refused.
const VAIN_PERCENT: u32 = 4;

/// Of a hundred sales: holds instead of bookings.
const HOLDS_PERCENT: u32 = 12;

/// Holds at a time: a connection may have 250.
const HOLDS: usize = 150;

/// How long a hold may stay, in seconds.
const HOLD_S: &str = "900";

/// What is sold at once: nights in a room, or seats.
#[derive(Clone, Debug)]
pub(in crate::console) struct SaleSlot(pub(in crate::console) Vec<String>);

/// Where it is sold.
#[derive(Clone, Debug)]
pub(in crate::console) enum Wares {
    /// A slot is a room, an arrival and a departure.
    Rooms { property: String },
    /// A slot is some seats.
    Seats { show: String, section: String },
}

#[derive(Debug)]
struct SoldStay {
    reference: String,
    slot: usize,
    is_held: bool,
    buyer: String,
}

#[derive(Debug)]
enum Asked {
    Sale { slot: usize, buyer: Option<String> },
    End { slot: usize },
    Vain,
}

#[derive(Debug)]
pub(in crate::console) struct Sale {
    wares: Wares,
    slots: Vec<SaleSlot>,
    free: VecDeque<usize>,
    sold: VecDeque<SoldStay>,
    /// Slots that are sold before the oldest sale ends.
    keep: usize,
    asked: VecDeque<Asked>,
    buyers: usize,
    holds: usize,
    draws: Draws,
}

impl Sale {
    /// Sells slots in the order of the list until `keep` are sold; then each sale follows the end of an older one.
    pub(in crate::console) fn new(
        wares: Wares,
        slots: Vec<SaleSlot>,
        keep: usize,
        seed: u64,
    ) -> Self {
        Self {
            wares,
            free: (0..slots.len()).collect(),
            slots,
            sold: VecDeque::new(),
            keep,
            asked: VecDeque::new(),
            buyers: 0,
            holds: 0,
            draws: Draws::new(seed),
        }
    }

    fn sell(&mut self, slot: usize) -> Vec<String> {
        self.buyers += 1;
        let buyer = self.wares.buyer(self.buyers * 7);
        let is_held = self.holds < HOLDS && self.draws.percent(HOLDS_PERCENT);
        self.holds += usize::from(is_held);
        let words = self
            .wares
            .sell(&self.slots[slot], (!is_held).then_some(&buyer));
        let buyer = (!is_held).then_some(buyer);
        self.asked.push_back(Asked::Sale { slot, buyer });
        words
    }

    /// Wants what is sold.
    fn vain(&mut self, slot: usize) -> Vec<String> {
        self.asked.push_back(Asked::Vain);
        let buyer = self.wares.buyer(1);
        self.wares.sell(&self.slots[slot], Some(&buyer))
    }

    fn end(&mut self, sold: &SoldStay) -> Vec<String> {
        self.holds -= usize::from(sold.is_held);
        self.asked.push_back(Asked::End { slot: sold.slot });
        self.wares.end(sold)
    }
}

impl Wares {
    /// Guests have names with spaces; buyers are names of a shop.
    fn buyer(&self, number: usize) -> String {
        match self {
            Self::Rooms { .. } => person(number),
            Self::Seats { .. } => person(number).replace(' ', "."),
        }
    }

    /// A booking, or a hold where there is no buyer.
    fn sell(&self, slot: &SaleSlot, buyer: Option<&String>) -> Vec<String> {
        let verb = if buyer.is_some() { "BOOK" } else { "HOLD" };
        let mut words = match self {
            Self::Rooms { property } => vec![format!("ROOMS.{verb}"), property.clone()],
            Self::Seats { show, section } => {
                vec![format!("SEATS.{verb}"), show.clone(), section.clone()]
            }
        };
        words.extend(slot.0.iter().cloned());
        match (self, buyer) {
            (Self::Rooms { .. }, Some(buyer)) => words.extend([buyer.clone(), ID.to_owned()]),
            (Self::Seats { .. }, Some(buyer)) => words.push(buyer.clone()),
            (_, None) => words.extend(["TTL_SECONDS", HOLD_S].map(str::to_owned)),
        }
        words
    }

    fn end(&self, sold: &SoldStay) -> Vec<String> {
        let service = match self {
            Self::Rooms { .. } => "ROOMS",
            Self::Seats { .. } => "SEATS",
        };
        let reference = sold.reference.clone();
        if sold.is_held {
            return vec![format!("{service}.RELEASE"), reference];
        }
        let by = match self {
            Self::Rooms { .. } => ID.to_owned(),
            Self::Seats { .. } => sold.buyer.clone(),
        };
        vec![format!("{service}.CANCEL"), reference, by]
    }
}

impl CommandSource for Sale {
    fn next(&mut self) -> Vec<String> {
        if let Some(slot) = self.sold.back().map(|sold| sold.slot)
            && self.draws.percent(VAIN_PERCENT)
        {
            return self.vain(slot);
        }
        if self.sold.len() < self.keep
            && let Some(slot) = self.free.pop_front()
        {
            return self.sell(slot);
        }
        match self.sold.pop_front() {
            Some(sold) => self.end(&sold),
            // Every slot waits for an answer.
            None => self.vain(0),
        }
    }

    fn heed(&mut self, answer: &Value) -> Result<()> {
        match self.asked.pop_front().context("an answer to nothing")? {
            Asked::Vain => {}
            Asked::Sale { slot, buyer } => {
                ensure!(is_done(answer), "a sale: {answer}");
                self.sold.push_back(SoldStay {
                    reference: text(answer, "reference")?,
                    slot,
                    is_held: buyer.is_none(),
                    buyer: buyer.unwrap_or_default(),
                });
            }
            // A hold may have ended by itself before it is released.
            Asked::End { slot } => self.free.push_back(slot),
        }
        Ok(())
    }
}
