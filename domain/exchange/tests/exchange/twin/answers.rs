//! What the twin answers to questions.

use turnstile_exchange::{
    AccountView, Answer, Cash, Cursor, Decimal, DepthView, OrderView, Query, QueuedOrder, Refusal,
    Side, Symbol, SymbolView, Totals,
};

use super::{Holder, Kept, Listed, Twin};

/// A page of items from the first whose number is at least the cursor's.
fn page<T: Clone>(
    items: Vec<(u64, T)>,
    cursor: Option<Cursor>,
    limit: u16,
) -> (Vec<T>, Option<Cursor>) {
    let from = cursor.map_or(0, |Cursor(from)| from);
    let mut rest = items.into_iter().filter(|&(number, _)| number >= from);
    let shown: Vec<T> = rest
        .by_ref()
        .take(usize::from(limit))
        .map(|(_, item)| item)
        .collect();
    (shown, rest.next().map(|(number, _)| Cursor(number)))
}

impl Twin {
    pub(crate) fn query(&self, query: &Query) -> Answer {
        self.answer(query).unwrap_or_else(Answer::Refused)
    }

    fn answer(&self, query: &Query) -> Result<Answer, Refusal> {
        let known = |name: Symbol| self.listed(name).ok_or(Refusal::UnknownSymbol);
        Ok(match *query {
            Query::Account {
                account,
                cursor,
                limit,
            } => Answer::Account(self.account(self.holder(account)?, Some((cursor, limit)))),
            Query::Accounts { cursor, limit } => {
                let views = self
                    .accounts
                    .iter()
                    .map(|holder| self.account(holder, None));
                let (accounts, next) = page((0..).zip(views).collect(), cursor, limit);
                Answer::Accounts { accounts, next }
            }
            Query::Symbols { cursor, limit } => {
                let views = self.symbols.iter().map(|listed| self.symbol(listed));
                let (symbols, next) = page((0..).zip(views).collect(), cursor, limit);
                Answer::Symbols { symbols, next }
            }
            Query::Symbol { symbol } => Answer::Symbol(self.symbol(known(symbol)?)),
            Query::Order { account, order } => {
                if let Some(account) = account {
                    self.holder(account)?;
                }
                Answer::Order(self.view(self.at(self.named(account, order)?)))
            }
            Query::Orders {
                account,
                symbol,
                cursor,
                limit,
            } => {
                self.holder(account)?;
                symbol.map(known).transpose()?;
                let own = self.open_of(account).into_iter();
                let wanted = own.filter(|order| symbol.is_none_or(|it| it == order.sent.symbol));
                let views = wanted.map(|order| (order.id.0, self.view(order)));
                let (orders, next) = page(views.collect(), cursor, limit);
                Answer::Orders { orders, next }
            }
            Query::Depth { symbol, levels } => {
                let seq = known(symbol)?.seq;
                Answer::Depth(DepthView {
                    symbol,
                    seq,
                    bids: self.levels(symbol, Side::Buy, levels),
                    asks: self.levels(symbol, Side::Sell, levels),
                })
            }
            Query::Queue { symbol, limit } => Answer::Queue {
                symbol,
                seq: known(symbol)?.seq,
                bids: self.queue(symbol, Side::Buy, limit),
                asks: self.queue(symbol, Side::Sell, limit),
            },
            Query::Trades {
                symbol,
                cursor,
                limit,
            } => {
                let newest = cursor.map_or(u64::MAX, |Cursor(trade)| trade);
                let trades = known(symbol)?.trades.iter().rev().copied();
                let mut rest = trades.filter(|trade| trade.trade <= newest);
                let trades = rest.by_ref().take(usize::from(limit)).collect();
                let next = rest.next().map(|trade| Cursor(trade.trade));
                Answer::Trades { trades, next }
            }
            Query::Totals => Answer::Totals(self.totals()),
        })
    }

    fn totals(&self) -> Totals {
        let count = |length: usize| u32::try_from(length).unwrap();
        let open = self.orders.iter().filter(|order| order.arrival.is_some());
        Totals {
            accounts: count(self.accounts.len()),
            symbols: count(self.symbols.len()),
            open_orders: count(open.count()),
            orders: self.accepted,
            trades: self.trades,
            remembered: count(self.ended.len()),
            cash: Cash(self.accounts.iter().map(|holder| holder.cash).sum()),
        }
    }

    fn account(&self, holder: &Holder, positions: Option<(Option<Cursor>, u16)>) -> AccountView {
        let rows = holder.shares.iter().map(|&(name, shares)| {
            let place = self.symbols.iter().position(|listed| listed.name == name);
            let reserved = self.reserved_shares(holder.id, name);
            let free = self.quantity(name, shares - reserved);
            let row = (name, free, self.quantity(name, reserved));
            (u64::try_from(place.unwrap()).unwrap(), row)
        });
        let (positions, next) = match positions {
            Some((cursor, limit)) => page(rows.collect(), cursor, limit),
            None => (Vec::new(), None),
        };
        AccountView {
            account: holder.id,
            free: self.free_cash(holder.id),
            reserved: Cash(self.reserved_cash(holder.id)),
            open_orders: u32::try_from(self.open_of(holder.id).len()).unwrap(),
            limit_open_orders: holder.open_orders,
            limit_quantity: holder.quantity,
            limit_notional: holder.notional,
            positions,
            next,
        }
    }

    fn symbol(&self, listed: &Listed) -> SymbolView {
        let name = listed.name;
        let sides = [Side::Buy, Side::Sell];
        let open: usize = sides.iter().map(|&side| self.side(name, side).len()).sum();
        SymbolView {
            symbol: name,
            price_scale: listed.price_scale,
            quantity_scale: listed.quantity_scale,
            halted: listed.halted,
            low: listed.low.map(|low| self.price(name, low)),
            high: listed.high.map(|high| self.price(name, high)),
            issued: self.quantity(name, listed.issued),
            open_orders: u32::try_from(open).unwrap(),
            seq: listed.seq,
            last_price: listed.trades.last().map(|trade| trade.price),
        }
    }

    fn view(&self, order: &Kept) -> OrderView {
        let name = order.sent.symbol;
        let cancelled = order.cancelled;
        OrderView {
            order: order.id,
            client_id: order.sent.client_id,
            account: order.sent.account,
            symbol: name,
            side: order.sent.side,
            quantity: self.quantity(name, order.quantity),
            limit: order.limit.map(|limit| self.price(name, limit)),
            time_in_force: order.sent.time_in_force,
            self_trade: order.sent.self_trade,
            since: order.since,
            open: self.quantity(name, order.open),
            cancelled: cancelled.map(|(rest, at, why)| (self.quantity(name, rest), at, why)),
            executions: order.executions.clone(),
        }
    }

    fn levels(&self, name: Symbol, side: Side, levels: u16) -> Vec<(Decimal, Decimal, u32)> {
        let mut found: Vec<(u64, u64, u32)> = Vec::new();
        for order in self.side(name, side) {
            match found.last_mut() {
                Some((price, sum, orders)) if Some(*price) == order.limit => {
                    *sum += order.open;
                    *orders += 1;
                }
                _ => found.push((order.limit.unwrap(), order.open, 1)),
            }
        }
        found.truncate(usize::from(levels));
        let level =
            |(price, sum, orders)| (self.price(name, price), self.quantity(name, sum), orders);
        found.into_iter().map(level).collect()
    }

    fn queue(&self, name: Symbol, side: Side, limit: u16) -> Vec<QueuedOrder> {
        let orders = self.side(name, side).into_iter().take(usize::from(limit));
        orders
            .map(|order| QueuedOrder {
                order: order.id,
                price: self.price(name, order.limit.unwrap()),
                quantity: self.quantity(name, order.open),
            })
            .collect()
    }
}
