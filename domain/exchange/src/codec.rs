//! The stable bytes of commands and outcomes. Byte map and promise: `docs/formats/exchange.md`.
//!
//! One leading byte says what follows; it is never reused, and a field is never added: a new form
//! gets a new byte. Integers are little-endian; nothing may be left over.
//!
//! ```text
//! label      u8 length, bytes: an account, a symbol, a client id
//! decimal    u64 units, u8 scale: units / 10^scale, in its shortest form
//! cash       u128 units of 10^-8
//! option     0x00 | 0x01 and the value
//! flag       0x00 | 0x01
//! side       0x00 buy | 0x01 sell
//! time       0x00 until cancelled | 0x01 instant u64 ms | 0x02 immediate or cancel
//!            | 0x03 fill or kill | 0x04 post only
//! self trade 0x00 allow | 0x01 skip | 0x02 expire maker | 0x03 expire taker | 0x04 expire both
//! order      0x00 u64 id | 0x01 label client id
//! state      0x00 open | 0x01 filled | 0x10 and more: ended, a reason
//! reason     0x10 cancelled | 0x11 mass cancelled | 0x12 expired | 0x13 immediate
//!            | 0x14 self trade
//! ticket     u64 order, state, decimal filled, cash value, decimal open
//! field      0x00 price | 0x01 quantity | 0x02 cash
//!
//! command
//! 0x01 CreateAccount label account, decimal cash
//! 0x02 CreateSymbol  label symbol, u8 price scale, u8 quantity scale
//! 0x03 Grant         label account, label symbol, decimal quantity
//! 0x04 Deposit       label account, decimal amount
//! 0x05 Withdraw      label account, decimal amount
//! 0x06 Order         label account, label symbol, side, decimal quantity, option decimal limit,
//!                    time, self trade, option label client id
//! 0x07 Cancel        label account, order
//! 0x08 Replace       label account, order, decimal quantity, option decimal limit
//! 0x09 CancelAll     label account, option label symbol
//! 0x0a SetBand       label symbol, option decimal low, option decimal high
//! 0x0b Halt          label symbol, flag halted
//! 0x0c SetLimits     label account, option u32 open orders, option decimal quantity,
//!                    option decimal notional
//!
//! outcome, done
//! 0x01 AccountCreated   0x02 SymbolCreated
//! 0x03 Granted          decimal position
//! 0x04 Deposited        cash
//! 0x05 Withdrawn        cash
//! 0x06 Accepted         ticket, flag again
//! 0x07 Cancelled        u64 order, decimal quantity
//! 0x08 Replaced         ticket, flag kept place
//! 0x09 AllCancelled     u32 orders
//! 0x0a BandSet          0x0b Halted         0x0c Resumed        0x0d LimitsSet
//!
//! outcome, refused
//! 0x81 UnknownAccount   0x82 AccountExists  0x83 UnknownSymbol  0x84 SymbolExists
//! 0x85 ScaleTooLarge
//! 0x86 TooManyDigits    field, u8 scale
//! 0x87 TooLarge         field
//! 0x88 Zero             field
//! 0x89 InsufficientFunds   cash needed, cash free
//! 0x8a InsufficientShares  decimal needed, decimal free
//! 0x8b MarketMustNotWait   0x8c NoMarket    0x8d NotFillable    0x8e WouldMatch
//! 0x8f DateOver
//! 0x90 OutsideBand      option decimal low, option decimal high
//! 0x91 EmptyBand        0x92 SymbolHalted
//! 0x93 TooManyOpenOrders   u32 limit
//! 0x94 QuantityLimit    decimal limit
//! 0x95 NotionalLimit    cash limit
//! 0x96 ClientIdReused   u64 order
//! 0x97 NotFound         0x98 NotYours       0x99 NotOpen
//! 0x9a Full             u32 limit
//! ```

mod commands;
mod fields;
mod outcomes;

pub(crate) use commands::{command, put_command};
pub(crate) use fields::{
    account, cash, client_id, decimal, end_reason, option, patience, put_account, put_cash,
    put_client_id, put_decimal, put_end_reason, put_option, put_patience, put_self_trade, put_side,
    put_symbol, put_ticket_state, put_u32_option, put_u64_option, self_trade, side, symbol,
    ticket_state,
};
pub(crate) use outcomes::{outcome, put_outcome};
