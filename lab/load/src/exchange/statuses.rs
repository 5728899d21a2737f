//! What the server says of every order that it accepted: whether that is what it acknowledged, and
//! what it comes to for each account.

use turnstile_check::Charge;
use turnstile_client::{Connection, ConnectionError, ServerAddress, resp::Value};
use turnstile_exchange::{CASH_SCALE, Cash, Decimal, OrderId, Side};
use turnstile_xml::client::{Outgoing, Part, Replies, Reply, ReplyKind};

use super::{
    Config, Door, RunMarket, Trader, market::connect_xml, proof::text, trader::SentOrder,
    wire::xml_code,
};
use crate::{
    Error,
    again::Keyed,
    door::{self, field},
};

/// How many orders are asked about at once.
const BATCH: usize = 500;

/// Digits after the point of shares and of prices: the default of symbols that nobody made first.
const SCALE: u8 = CASH_SCALE / 2;

/// What was executed: shares in units of 10^-4, value in units of 10^-8, and how many executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExecutedSum {
    pub(super) shares: u128,
    pub(super) value: u128,
    pub(super) count: u64,
}

/// What one account bought and sold of one symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dealt {
    pub(super) bought: ExecutedSum,
    pub(super) sold: ExecutedSum,
}

/// What the statuses say.
#[derive(Debug)]
pub(super) struct Statuses {
    pub(super) asked: u64,
    /// Orders that are not what was acknowledged.
    pub(super) charge: Charge,
    symbols: usize,
    /// By account, and within it by symbol.
    dealt: Vec<Dealt>,
}

/// The status of one order.
#[derive(Clone, Copy, Debug, Default)]
struct OrderStatus {
    open: bool,
    executed: ExecutedSum,
}

/// Asks for the status of every order that the traders remember, through the door that was driven.
pub(super) fn ask(
    config: &Config,
    market: &RunMarket,
    traders: &[Keyed<Trader<false>>],
) -> Result<Statuses, Error> {
    let mut statuses = Statuses {
        asked: 0,
        charge: Charge::default(),
        symbols: market.symbols.len(),
        dealt: vec![Dealt::default(); market.accounts.len() * market.symbols.len()],
    };
    let sent = traders.iter().flat_map(|trader| trader.user.sent().0);
    let sent: Vec<SentOrder> = sent.copied().collect();
    match config.door {
        Door::Resp => statuses.ask_resp(&config.pace.address, &sent, market)?,
        Door::Xml => {
            if let Some(resp) = config.witness() {
                // Only at this door a server says when it has recovered.
                door::connect_again(resp)?;
            }
            statuses.ask_xml(&config.pace.address, &sent, market)?;
        }
    }
    Ok(statuses)
}

impl Statuses {
    /// What an account dealt in a symbol.
    pub(super) fn dealt(&self, account: usize, symbol: usize) -> &Dealt {
        &self.dealt[account * self.symbols + symbol]
    }

    /// What an account dealt in all symbols.
    pub(super) fn of_account(&self, account: usize) -> Dealt {
        sum((0..self.symbols).map(|symbol| self.dealt(account, symbol)))
    }

    /// What all accounts dealt in a symbol.
    pub(super) fn of_symbol(&self, symbol: usize) -> Dealt {
        sum(self.dealt.iter().skip(symbol).step_by(self.symbols))
    }

    /// What all accounts dealt in all symbols.
    pub(super) fn in_all(&self) -> Dealt {
        sum(self.dealt.iter())
    }

    fn ask_resp(
        &mut self,
        address: &ServerAddress,
        sent: &[SentOrder],
        market: &RunMarket,
    ) -> Result<(), Error> {
        let mut door = door::connect_again(address)?;
        for batch in sent.chunks(BATCH) {
            for sent in batch {
                door.send(&[b"EXCHANGE.GET-ORDER", sent.order.to_string().as_bytes()]);
            }
            for sent in batch {
                self.hear_resp(sent, &mut door, market)?;
            }
        }
        Ok(())
    }

    fn hear_resp(
        &mut self,
        sent: &SentOrder,
        door: &mut Connection,
        market: &RunMarket,
    ) -> Result<(), Error> {
        let answer = door.receive()?;
        if let Value::Error(sentence) = &answer {
            return Err(unanswered(sentence));
        }
        match read_resp(&answer, sent, market) {
            Some(status) => self.judge(sent, status),
            None => self.contradicts(sent, &answer.to_string()),
        }
        Ok(())
    }

    fn ask_xml(
        &mut self,
        address: &ServerAddress,
        sent: &[SentOrder],
        market: &RunMarket,
    ) -> Result<(), Error> {
        let mut door = connect_xml(address)?;
        for batch in sent.chunks(BATCH) {
            let mut request = Outgoing::transactions(door.outbox(), &market.accounts[0]);
            for sent in batch {
                request.query(OrderId(sent.order));
            }
            request.finish();
            self.hear_xml(batch, door.receive()?)?;
        }
        Ok(())
    }

    fn hear_xml(&mut self, batch: &[SentOrder], answer: &[u8]) -> Result<(), Error> {
        let unusable = || Error::Preparation {
            command: "query",
            answer: String::from_utf8_lossy(answer).chars().take(200).collect(),
        };
        let mut replies = Replies::new(answer).map_err(|_garbled| unusable())?;
        for sent in batch {
            let reply = replies.next().and_then(Result::ok).ok_or_else(unusable)?;
            if reply.kind == ReplyKind::Error && xml_code(reply.text.as_bytes()).is_some() {
                return Err(unanswered(reply.text));
            }
            match read_xml(&reply, sent) {
                Some(status) => self.judge(sent, status),
                None => self.contradicts(sent, reply.text),
            }
        }
        Ok(())
    }

    /// Compares a status with what was acknowledged, and adds it to what its account dealt.
    fn judge(&mut self, sent: &SentOrder, status: OrderStatus) {
        self.asked += 1;
        let (order, shares) = (sent.order, status.executed.shares);
        let acknowledged = Decimal::new(sent.executed.into(), 0).at_scale(SCALE);
        if acknowledged.is_some_and(|acknowledged| shares < acknowledged) {
            self.charge.add(|| {
                format!(
                    "{} shares of order {order} were executed when it was accepted, now it says {}",
                    sent.executed,
                    Cash(status.executed.fine_shares())
                )
            });
        }
        if sent.ended && status.open {
            self.charge
                .add(|| format!("order {order} had ended, and is open"));
        }
        let cell = usize::from(sent.account) * self.symbols + usize::from(sent.symbol);
        match sent.side {
            Side::Buy => self.dealt[cell].bought.add(&status.executed),
            Side::Sell => self.dealt[cell].sold.add(&status.executed),
        }
    }

    fn contradicts(&mut self, sent: &SentOrder, answer: &str) {
        self.asked += 1;
        let order = sent.order;
        self.charge.add(|| {
            let answer: String = answer.chars().take(200).collect();
            format!("order {order} was accepted, but is: {answer}")
        });
    }
}

/// An error says nothing of an order.
fn unanswered(sentence: &str) -> Error {
    ConnectionError::Server(sentence.to_owned()).into()
}

/// A status in RESP; none when it is not of this order.
fn read_resp(answer: &Value, sent: &SentOrder, market: &RunMarket) -> Option<OrderStatus> {
    let is = |name, expected: &[u8]| Some(field(answer, name)?.as_bytes()? == expected);
    let side = if sent.side == Side::Buy {
        "buy"
    } else {
        "sell"
    };
    let same = text(field(answer, "order")?)? == sent.order.to_string()
        && is(
            "account",
            market.accounts[usize::from(sent.account)].as_bytes(),
        )?
        && is(
            "symbol",
            market.symbols[usize::from(sent.symbol)].as_bytes(),
        )?
        && is("side", side.as_bytes())?;
    if !same {
        return None;
    }
    let mut status = OrderStatus {
        open: is("state", b"open")?,
        ..OrderStatus::default()
    };
    for execution in field(answer, "executions")?.as_array()? {
        let number = |name| scaled(Decimal::parse(text(field(execution, name)?)?.as_bytes()).ok()?);
        status.execute(number("quantity")?, number("price")?);
    }
    Some(status)
}

/// A status in XML; none when it is not of this order.
fn read_xml(reply: &Reply<'_>, sent: &SentOrder) -> Option<OrderStatus> {
    if reply.kind != ReplyKind::Status || reply.order() != Some(OrderId(sent.order)) {
        return None;
    }
    let mut status = OrderStatus::default();
    for part in &reply.parts {
        match *part {
            Part::Open { .. } => status.open = true,
            Part::Cancelled { .. } => {}
            Part::Executed { shares, price, .. } => {
                status.execute(scaled(shares)?, scaled(price)?);
            }
        }
    }
    Some(status)
}

fn scaled(number: Decimal) -> Option<u128> {
    number.at_scale(SCALE)
}

fn sum<'a>(all: impl Iterator<Item = &'a Dealt>) -> Dealt {
    all.fold(Dealt::default(), |mut sum, dealt| {
        sum.bought.add(&dealt.bought);
        sum.sold.add(&dealt.sold);
        sum
    })
}

impl OrderStatus {
    const fn execute(&mut self, shares: u128, price: u128) {
        self.executed.shares += shares;
        self.executed.value += shares * price;
        self.executed.count += 1;
    }
}

impl ExecutedSum {
    const fn add(&mut self, other: &Self) {
        self.shares += other.shares;
        self.value += other.value;
        self.count += other.count;
    }

    /// Shares in units of 10^-8, as accounts are counted.
    pub(super) fn fine_shares(&self) -> u128 {
        self.shares * 10_u128.pow(u32::from(CASH_SCALE - SCALE))
    }
}
