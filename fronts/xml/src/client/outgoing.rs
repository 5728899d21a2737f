//! Requests as bytes.

use turnstile_exchange::{AccountId, Decimal, OrderId, Side, Symbol};

use crate::digits::{put_decimal, put_integer, put_length_line};

/// A request under way: appended to the output item by item.
#[derive(Debug)]
pub struct Outgoing<'a> {
    out: &'a mut Vec<u8>,
    /// Where the XML starts in the output.
    start: usize,
    end: &'static [u8],
}

impl<'a> Outgoing<'a> {
    pub fn create(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(b"<create>");
        Self {
            out,
            start,
            end: b"</create>",
        }
    }

    pub fn transactions(out: &'a mut Vec<u8>, account: &AccountId) -> Self {
        let start = out.len();
        let mut request = Self {
            out,
            start,
            end: b"</transactions>",
        };
        request.put(b"<transactions id=\"");
        request.put(account.as_bytes());
        request.put(b"\">");
        request
    }

    /// An account; only in `create`.
    pub fn account(&mut self, id: &AccountId, balance: Decimal) {
        self.put(b"<account id=\"");
        self.put(id.as_bytes());
        self.put(b"\" balance=\"");
        put_decimal(self.out, balance);
        self.put(b"\"/>");
    }

    /// Shares of a symbol for each of these accounts, of which there must be one; only in
    /// `create`.
    pub fn shares(&mut self, symbol: &Symbol, accounts: &[(AccountId, Decimal)]) {
        self.put(b"<symbol sym=\"");
        self.put(symbol.as_bytes());
        self.put(b"\">");
        for (account, shares) in accounts {
            self.put(b"<account id=\"");
            self.put(account.as_bytes());
            self.put(b"\">");
            put_decimal(self.out, *shares);
            self.put(b"</account>");
        }
        self.put(b"</symbol>");
    }

    /// An order; only in `transactions`.
    pub fn order(&mut self, symbol: &Symbol, side: Side, quantity: Decimal, limit: Decimal) {
        self.put(b"<order sym=\"");
        self.put(symbol.as_bytes());
        self.put(match side {
            Side::Buy => b"\" amount=\"",
            Side::Sell => b"\" amount=\"-",
        });
        put_decimal(self.out, quantity);
        self.put(b"\" limit=\"");
        put_decimal(self.out, limit);
        self.put(b"\"/>");
    }

    /// Only in `transactions`.
    pub fn query(&mut self, order: OrderId) {
        self.named(b"<query id=\"", order);
    }

    /// Only in `transactions`.
    pub fn cancel(&mut self, order: OrderId) {
        self.named(b"<cancel id=\"", order);
    }

    /// Ends the request and puts its length before it.
    pub fn finish(self) {
        self.out.extend_from_slice(self.end);
        put_length_line(self.out, self.start);
    }

    fn named(&mut self, begin: &[u8], order: OrderId) {
        self.put(begin);
        put_integer(self.out, order.0);
        self.put(b"\"/>");
    }

    fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }
}
