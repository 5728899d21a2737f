//! A new order.

use std::cell::OnceCell;

use turnstile_types::Context;

use crate::{
    Cash, Done, EventKind, Exchange, Order, Refusal, Ticket, TicketState,
    apply::quote::Wish,
    clients::ClientOrder,
    executions::Chain,
    ledger::{OrderValidity, Row, State},
    limits,
    slab::NONE,
};

impl Exchange {
    pub(super) fn order(&mut self, context: &Context<'_>, order: &Order) -> Result<Done, Refusal> {
        let answer = self.open(context, order);
        if let Err(refusal) = &answer {
            let kind = EventKind::Rejected {
                account: order.account,
                client_id: order.client_id,
                code: refusal.code(),
            };
            self.tell(context, order.symbol, kind);
        }
        answer
    }

    fn open(&mut self, context: &Context<'_>, order: &Order) -> Result<Done, Refusal> {
        let account = self.accounts.find(&order.account);
        let account = account.ok_or(Refusal::UnknownAccount)?;
        let known = order
            .client_id
            .and_then(|id| self.ledger.find_client(account, &id));
        if let Some(row) = known {
            return self.repeated(row, order);
        }
        let wish = self.wish(account, order)?;
        self.admit(context, &wish, order)?;

        let symbol = self.listed(wish.symbol, order.symbol);
        let (patience, until) = OrderValidity::of(order.time_in_force);
        let row = self.ledger.accept(Row {
            id: self.ledger.next_id(),
            account,
            symbol,
            quantity: wish.quantity,
            rest: wish.quantity,
            limit: wish.limit.unwrap_or(0),
            since: context.now,
            until,
            executions: Chain::EMPTY,
            client: NONE,
            sender: self.senders.enrol(context.principal),
            state: State::Arriving,
            side: order.side,
            patience,
            self_trade: order.self_trade,
        });
        self.introduce(row, order);
        let incoming = wish.incoming(row, self.symbols.at(symbol));
        let ticket = self.arrive(context, row, &incoming);
        self.ledger.note_answer(row, ticket.state);
        Ok(Done::Accepted {
            ticket,
            again: false,
        })
    }

    fn wish(&self, account: u32, order: &Order) -> Result<Wish, Refusal> {
        let symbol = self.symbols.find(&order.symbol);
        let scales = self.scales_of(symbol);
        Ok(Wish {
            account,
            symbol,
            scales,
            side: order.side,
            quantity: scales.shares(order.quantity)?,
            limit: order.limit.map(|limit| scales.ticks(limit)).transpose()?,
            patience: OrderValidity::of(order.time_in_force).0,
            self_trade: order.self_trade,
            quote: OnceCell::new(),
        })
    }

    /// Refuses an order that may not enter; see the order of refusals at the top of `apply`.
    fn admit(&self, context: &Context<'_>, wish: &Wish, order: &Order) -> Result<(), Refusal> {
        let (patience, until) = OrderValidity::of(order.time_in_force);
        if wish.limit.is_none() && patience.waits() {
            return Err(Refusal::MarketMustNotWait);
        }
        if patience == OrderValidity::GoodTillDate && until <= context.now {
            return Err(Refusal::DateOver);
        }
        self.trades_now(wish)?;
        self.within_bounds(wish)?;
        let account = self.accounts.at(wish.account);
        if patience.waits()
            && let Some(limit) = account.bounds().open_orders
            && account.open.count >= limit
        {
            return Err(Refusal::TooManyOpenOrders { limit });
        }
        self.matches_as_wished(wish)?;
        self.covered(wish, 0)?;
        if patience.waits() && self.ledger.open() >= limits::OPEN_ORDERS_MAX {
            let limit = limits::OPEN_ORDERS_MAX;
            return Err(Refusal::Full { limit });
        }
        self.may_list(wish.symbol)
    }

    /// Keeps the client id of an order, so that the first event already carries it.
    fn introduce(&mut self, row: u32, order: &Order) {
        let Some(id) = order.client_id else {
            return;
        };
        let client = ClientOrder {
            id,
            state: TicketState::Open,
            at_once: 0,
            sent: self.ledger.at(row).sent(),
        };
        self.ledger.introduce(row, &client);
    }

    /// Answers an order under a client id that its account has used.
    fn repeated(&self, row: u32, order: &Order) -> Result<Done, Refusal> {
        let row = self.ledger.at(row);
        let client = self.ledger.client(row);
        let client = client.expect("the order was found by its client id");
        let listed = self.symbols.at(row.symbol);
        let scales = listed.scales;
        let limit = order.limit.map(|limit| scales.ticks(limit));
        let same = listed.name == order.symbol
            && row.side == order.side
            && row.time_in_force() == order.time_in_force
            && row.self_trade == order.self_trade
            && scales.shares(order.quantity) == Ok(client.sent.quantity)
            && limit.unwrap_or(Ok(0)) == Ok(client.sent.limit);
        if !same {
            return Err(Refusal::ClientIdReused { order: row.id });
        }
        let (mut filled, mut value) = (0, 0);
        let at_once = self.ledger.executions.iter(row.executions);
        for executed in at_once.take(client.at_once as usize) {
            filled += executed.quantity;
            value += scales.value(executed.price, executed.quantity);
        }
        let open = match client.state {
            TicketState::Open => client.sent.quantity - filled,
            TicketState::Filled | TicketState::Ended(_) => 0,
        };
        let ticket = Ticket {
            order: row.id,
            state: client.state,
            filled: scales.quantity(filled),
            value: Cash(value),
            open: scales.quantity(open),
        };
        Ok(Done::Accepted {
            ticket,
            again: true,
        })
    }
}
