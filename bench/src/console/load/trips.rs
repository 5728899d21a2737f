//! Transactions of travel that begin, add a customer and end.

use std::collections::VecDeque;

use anyhow::Result;
use turnstile_client::resp::Value;

use super::{CommandSource, number, words};

/// Transactions that are open at a time.
const OPEN: usize = 24;

#[derive(Debug, Default)]
pub(in crate::console) struct Trips {
    open: VecDeque<i64>,
    asked: VecDeque<bool>,
    commands: u64,
}

impl CommandSource for Trips {
    fn next(&mut self) -> Vec<String> {
        self.commands += 1;
        let begins = self.open.len() < OPEN;
        self.asked.push_back(begins);
        let ends = if begins { None } else { self.open.pop_front() };
        match ends {
            Some(xid) if self.commands.is_multiple_of(4) => words(&format!("TRAVEL.ABORT {xid}")),
            Some(xid) => words(&format!("TRAVEL.COMMIT {xid}")),
            None => words("TRAVEL.START"),
        }
    }

    fn heed(&mut self, answer: &Value) -> Result<()> {
        if self.asked.pop_front() == Some(true) {
            self.open.push_back(number(answer, "xid")?);
        }
        Ok(())
    }
}
