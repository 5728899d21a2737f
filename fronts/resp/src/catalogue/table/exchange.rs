//! The commands of the exchange.

use super::{
    Action, Argument, CURSOR, KEY, Kind, LIMIT, READ, Syntax, WRITE, argument, integer, option,
    optional, text, word,
};
use crate::exchange::Verb;

const ACCOUNT: Argument = text("account");
const SYMBOL: Argument = text("symbol");
const QUANTITY: Argument = text("quantity");
const AMOUNT: Argument = text("amount");
const PRICE: Argument = text("price");
const ORDER: Argument = argument("order", Kind::OneOf(&[text("order"), text("id:CLIENTID")]));
const SIDE: Argument = argument(
    "side",
    Kind::OneOf(&[word("buy", "BUY"), word("sell", "SELL")]),
);
const LIMIT_PRICE: Argument = argument("limit", Kind::OneOf(&[PRICE, word("market", "MARKET")]));
const TIME_IN_FORCE: Argument = optional(argument(
    "time-in-force",
    Kind::OneOf(&[
        word("gtc", "GTC"),
        word("ioc", "IOC"),
        word("fok", "FOK"),
        word("postonly", "POSTONLY"),
        Argument {
            token: Some("UNTIL"),
            ..text("instant")
        },
    ]),
));
const SELF_TRADE: Argument = option(
    "SELFTRADE",
    argument(
        "mode",
        Kind::OneOf(&[
            word("allow", "allow"),
            word("skip", "skip"),
            word("expire_maker", "expire_maker"),
            word("expire_taker", "expire_taker"),
            word("expire_both", "expire_both"),
        ]),
    ),
);
const IN_SYMBOL: Argument = option("SYMBOL", SYMBOL);

const fn service(
    verb: Verb,
    arguments: &'static [Argument],
    flags: &'static [&'static str],
    summary: &'static str,
) -> Syntax {
    Syntax {
        name: verb.name(),
        summary,
        group: "exchange",
        arguments,
        flags,
        action: Some(Action::Exchange(verb)),
        subcommands: &[],
    }
}

/// Every command of the exchange.
pub(super) const COMMANDS: [Syntax; 24] = [
    service(
        Verb::Order,
        &[
            ACCOUNT,
            SYMBOL,
            SIDE,
            QUANTITY,
            LIMIT_PRICE,
            TIME_IN_FORCE,
            SELF_TRADE,
            option("ID", text("client-id")),
            KEY,
        ],
        WRITE,
        "Sends an order; at a price it waits until it is cancelled, at the market's not at all",
    ),
    service(
        Verb::Cancel,
        &[ACCOUNT, ORDER, KEY],
        WRITE,
        "Cancels what is left of an order of the account",
    ),
    service(
        Verb::Replace,
        &[ACCOUNT, ORDER, QUANTITY, option("LIMIT", PRICE), KEY],
        WRITE,
        "Changes what is left open of an order; less at the same price keeps its place",
    ),
    service(
        Verb::CancelAll,
        &[ACCOUNT, IN_SYMBOL, KEY],
        WRITE,
        "Cancels every open order of an account, or those of one symbol",
    ),
    service(
        Verb::Account,
        &[ACCOUNT, text("cash"), KEY],
        WRITE,
        "Opens an account with some cash",
    ),
    service(
        Verb::Deposit,
        &[ACCOUNT, AMOUNT, KEY],
        WRITE,
        "Puts cash into an account",
    ),
    service(
        Verb::Withdraw,
        &[ACCOUNT, AMOUNT, KEY],
        WRITE,
        "Takes free cash out of an account",
    ),
    service(
        Verb::Grant,
        &[ACCOUNT, SYMBOL, QUANTITY, KEY],
        WRITE,
        "Gives an account new shares",
    ),
    service(
        Verb::Limits,
        &[
            ACCOUNT,
            option("OPENORDERS", integer("count")),
            option("QUANTITY", QUANTITY),
            option("NOTIONAL", text("value")),
            KEY,
        ],
        WRITE,
        "Bounds an account's open orders and the size of each; what is not named has no bound",
    ),
    service(
        Verb::Symbol,
        &[
            SYMBOL,
            option("PRICESCALE", integer("digits")),
            option("QUANTITYSCALE", integer("digits")),
            KEY,
        ],
        WRITE,
        "Lists a symbol; its numbers have so many digits after the point (4)",
    ),
    service(
        Verb::Band,
        &[SYMBOL, option("LOW", PRICE), option("HIGH", PRICE), KEY],
        WRITE,
        "Bounds the prices of a symbol's orders; what is not named has no bound",
    ),
    service(
        Verb::Halt,
        &[SYMBOL, KEY],
        WRITE,
        "Stops the trade of a symbol; its orders stay and may be cancelled",
    ),
    service(
        Verb::Resume,
        &[SYMBOL, KEY],
        WRITE,
        "Resumes the trade of a symbol",
    ),
    service(
        Verb::Status,
        &[ORDER, option("ACCOUNT", ACCOUNT)],
        READ,
        "Shows one order and its executions; by a client's id with its account",
    ),
    service(
        Verb::Orders,
        &[ACCOUNT, IN_SYMBOL, LIMIT, CURSOR],
        READ,
        "Lists an account's open orders, the oldest first",
    ),
    service(
        Verb::Balance,
        &[ACCOUNT, LIMIT, CURSOR],
        READ,
        "Shows an account's cash and shares, free and reserved",
    ),
    service(
        Verb::Accounts,
        &[LIMIT, CURSOR],
        READ,
        "Lists the accounts, the oldest first",
    ),
    service(
        Verb::Symbols,
        &[LIMIT, CURSOR],
        READ,
        "Lists the symbols, the oldest first",
    ),
    service(Verb::Instrument, &[SYMBOL], READ, "Shows one symbol"),
    service(
        Verb::Depth,
        &[SYMBOL, option("LEVELS", integer("count"))],
        READ,
        "Shows the best prices of each side of a book (10)",
    ),
    service(
        Verb::Top,
        &[SYMBOL],
        READ,
        "Shows the best price of each side of a book",
    ),
    service(
        Verb::Queue,
        &[SYMBOL, LIMIT],
        READ,
        "Shows the orders of each side of a book in the order in which they match",
    ),
    service(
        Verb::Trades,
        &[SYMBOL, LIMIT, CURSOR],
        READ,
        "Lists a symbol's trades, the newest first",
    ),
    service(Verb::Totals, &[], READ, "How much there is of everything"),
];
