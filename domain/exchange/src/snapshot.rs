//! The whole state in one canonical form, and back. Byte map: `docs/formats/exchange.md`.
//!
//! Equal states give equal bytes: accounts, symbols and positions in order of their numbers, open
//! orders as they stand on the books, ended ones in the order in which they ended. What is reserved
//! is derived from the open orders when it is read, and the sums are compared.
//!
//! ```text
//! snapshot   8 bytes "exch\0\0\0\2", totals, accounts, symbols, positions, open, ended, senders
//! totals     u64 orders accepted, u64 trades, cash all
//! accounts   u32 count, each: label, cash free, option u32 open orders, option decimal quantity,
//!            option cash notional
//! symbols    u32 count, each: label, u8 price scale, u8 quantity scale, flag halted,
//!            option u64 low, option u64 high, u64 issued, u64 seq, u16 count of trades, each:
//!            u64 trade, instant, u64 price, u64 quantity, side, u64 maker, u64 taker
//! positions  u32 count, each: u32 account, u32 symbol, u64 free; by account, then symbol
//! open       u32 count, each: order; by symbol, buys before sells, then as they would trade
//! ended      u32 count, each: order, instant, option reason
//! order      u64 id, u32 account, u32 symbol, side, u64 quantity, u64 rest, u64 limit (0: market),
//!            instant since, time, self trade, option client, u32 count of executions, each:
//!            u64 quantity, u64 price, instant, u64 counterparty
//! senders    u32 count, each: name, u32 count of open orders, each: u64 id; by name, then by id; without
//!            `local`. If there are none, they are not written, and the last byte of the magic is 1
//! client     label, state, u32 executions at once, u64 quantity, u64 limit
//! ```

mod orders;
mod reading;
mod senders;
mod writing;

pub(crate) use reading::read;
pub(crate) use writing::write;

/// What a snapshot begins with: the machine and the version of the form.
const MAGIC: &[u8; 8] = b"exch\0\0\0\x02";

/// The same of a state in which all open orders are those of `local`, as long as there were no others.
const MAGIC_OF_LOCAL: &[u8; 8] = b"exch\0\0\0\x01";
