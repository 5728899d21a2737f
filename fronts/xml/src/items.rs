//! The items of a request as the machine is asked for them.

use turnstile_exchange::{
    AccountId, Command, Order, OrderRef, Query, SelfTrade, Side, TimeInForce,
};

use crate::{
    Attribute, Echo, Invalid, Options, number,
    scan::{Kind, RootChild},
};

/// One item, and what its answer repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestItem<'a> {
    pub echo: Echo<'a>,
    pub ask: Ask,
}

/// What an item asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// An account, a grant or an order: its outcome is the answer
    /// ([`Answers::outcome`](crate::Answers::outcome)).
    Command(Command),
    /// [`Answers::status`](crate::Answers::status).
    Query(Query),
    /// A cancel, and the query that is answered once it is done
    /// ([`Answers::cancelled`](crate::Answers::cancelled)); when it is refused, its outcome is.
    Cancel { command: Command, then: Query },
    /// Nothing: [`Answers::invalid`](crate::Answers::invalid).
    Nothing(Invalid),
}

impl<'a> RequestItem<'a> {
    /// Reads the values of one child of the root. `account` is that of `transactions`.
    #[inline]
    pub(crate) fn read(
        child: &RootChild,
        xml: &'a str,
        account: Result<AccountId, Invalid>,
        options: &Options,
    ) -> Self {
        let [first, second, third] = child.values.map(|value| value.of(xml));
        let (echo, ask) = match child.kind {
            Kind::Account => {
                let echo = Echo::Account { id: first };
                (echo, open_account(first, second, options))
            }
            Kind::Grant => {
                let echo = Echo::Grant {
                    sym: first,
                    id: second,
                };
                (echo, grant(first, second, third, options))
            }
            Kind::Order => {
                let echo = Echo::Order {
                    sym: first,
                    amount: second,
                    limit: third,
                };
                (echo, order([first, second, third], account, options))
            }
            Kind::Query => (Echo::Query { id: first }, query(first, account)),
            Kind::Cancel => (Echo::Cancel { id: first }, cancel(first, account)),
            Kind::InSymbol | Kind::EmptySymbol => {
                let echo = Echo::Grant {
                    sym: first,
                    id: second,
                };
                (echo, Err(stray(child.kind)))
            }
            Kind::InCreate | Kind::InTransactions => (Echo::Unknown, Err(stray(child.kind))),
        };
        Self {
            echo,
            ask: ask.unwrap_or_else(Ask::Nothing),
        }
    }
}

fn open_account(
    id: Option<&str>,
    balance: Option<&str>,
    options: &Options,
) -> Result<Ask, Invalid> {
    Ok(Ask::Command(Command::CreateAccount {
        account: number::account(id, options)?,
        cash: number::not_negative(balance, Attribute::Balance)?,
    }))
}

fn grant(
    sym: Option<&str>,
    id: Option<&str>,
    shares: Option<&str>,
    options: &Options,
) -> Result<Ask, Invalid> {
    Ok(Ask::Command(Command::Grant {
        symbol: number::symbol(sym)?,
        account: number::account(id, options)?,
        quantity: number::positive(shares, Attribute::Shares)?,
    }))
}

#[inline]
fn order(
    [sym, amount, limit]: [Option<&str>; 3],
    account: Result<AccountId, Invalid>,
    options: &Options,
) -> Result<Ask, Invalid> {
    let account = account?;
    let symbol = number::symbol(sym)?;
    let amount = number::signed(amount, Attribute::Amount)?;
    if amount.number.is_zero() {
        return Err(Invalid::Zero(Attribute::Amount));
    }
    let limit = number::positive(limit, Attribute::Limit)?;
    Ok(Ask::Command(Command::Order(Order {
        account,
        symbol,
        side: if amount.negative {
            Side::Sell
        } else {
            Side::Buy
        },
        quantity: amount.number,
        limit: Some(limit),
        time_in_force: TimeInForce::GoodTillCancel,
        self_trade: if options.self_match {
            SelfTrade::Allow
        } else {
            SelfTrade::Skip
        },
        client_id: None,
    })))
}

fn query(id: Option<&str>, account: Result<AccountId, Invalid>) -> Result<Ask, Invalid> {
    Ok(Ask::Query(Query::Order {
        account: Some(account?),
        order: OrderRef::Id(number::order(id)?),
    }))
}

fn cancel(id: Option<&str>, account: Result<AccountId, Invalid>) -> Result<Ask, Invalid> {
    let account = account?;
    let order = OrderRef::Id(number::order(id)?);
    Ok(Ask::Cancel {
        command: Command::Cancel { account, order },
        then: Query::Order {
            account: Some(account),
            order,
        },
    })
}

fn stray(kind: Kind) -> Invalid {
    kind.why_stray()
        .expect("the kind is one that is out of place")
}
