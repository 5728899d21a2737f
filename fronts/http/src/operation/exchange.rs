//! The operations of the exchange.

use super::{
    EVENTS, Method, Operation, PAGED, RECEIPT, Success, command, document, read, with_problems,
    with_query,
};

const ORDER_PROBLEMS: &[u16] = &[400, 403, 404, 409, 413, 415, 422];

pub(super) const OPERATIONS: &[Operation] = &[
    command(
        Method::Post,
        "/v1/exchange/orders",
        "placeOrder",
        "Place an order: it matches at once as far as it can, and its rest may wait",
        Some("NewOrder"),
        Success::Made("ExchangeAccepted"),
    ),
    with_problems(
        read(
            "/v1/exchange/orders/{order}",
            "getOrder",
            "An order with every execution; `id:` and the client's id name one of `account`",
            &["account"],
            "ExchangeOrder",
        ),
        &[304, 400, 404],
    ),
    with_problems(
        command(
            Method::Post,
            "/v1/exchange/orders/{order}/cancel",
            "cancelOrder",
            "Cancel what is left of an order",
            Some("OrderCancellation"),
            Success::Json("ExchangeCancelled"),
        ),
        ORDER_PROBLEMS,
    ),
    with_problems(
        command(
            Method::Post,
            "/v1/exchange/orders/{order}/replace",
            "replaceOrder",
            "Change an order in one step; less at the same limit keeps its place in the queue",
            Some("OrderReplacement"),
            Success::Json("ExchangeReplaced"),
        ),
        ORDER_PROBLEMS,
    ),
    command(
        Method::Post,
        "/v1/exchange/orders/cancel",
        "cancelOrders",
        "Cancel every open order of an account, or those of one symbol",
        Some("MassCancellation"),
        Success::Json("ExchangeAllCancelled"),
    ),
    with_problems(
        with_query(
            read(
                "/v1/exchange/books/{symbol}",
                "getBook",
                "The best prices of both sides: `levels=1` is the top (L1), more the depth (L2)",
                &[],
                "ExchangeDepth",
            ),
            &["levels"],
        ),
        &[304, 400, 404],
    ),
    with_problems(
        with_query(
            read(
                "/v1/exchange/books/{symbol}/queue",
                "getQueue",
                "The first orders of both sides, best price first, then by time (L3)",
                &[],
                "ExchangeQueue",
            ),
            &["limit"],
        ),
        &[304, 400, 404],
    ),
    read(
        "/v1/exchange/symbols/{symbol}/trades",
        "listTrades",
        "The latest trades of a symbol, the newest first",
        PAGED,
        "ExchangeTrades",
    ),
    command(
        Method::Post,
        "/v1/exchange/accounts",
        "createAccount",
        "Open an account",
        Some("NewAccount"),
        Success::Made("Receipt"),
    ),
    read(
        "/v1/exchange/accounts",
        "listAccounts",
        "The accounts, in the order of their creation, without their positions",
        PAGED,
        "ExchangeAccounts",
    ),
    read(
        "/v1/exchange/accounts/{account}",
        "getAccount",
        "An account: its cash, its limits, and a page of its positions",
        PAGED,
        "ExchangeAccount",
    ),
    command(
        Method::Post,
        "/v1/exchange/accounts/{account}/deposits",
        "deposit",
        "Put cash into an account",
        Some("CashAmount"),
        Success::Json("ExchangeDeposited"),
    ),
    command(
        Method::Post,
        "/v1/exchange/accounts/{account}/withdrawals",
        "withdraw",
        "Take free cash out of an account",
        Some("CashAmount"),
        Success::Json("ExchangeDeposited"),
    ),
    command(
        Method::Put,
        "/v1/exchange/accounts/{account}/limits",
        "setLimits",
        "Bound what an account may do; what is left out has no bound",
        Some("NewLimits"),
        RECEIPT,
    ),
    read(
        "/v1/exchange/accounts/{account}/orders",
        "listOrders",
        "An account's open orders, the oldest first; of one symbol, or of all",
        &["symbol", "limit", "cursor"],
        "ExchangeOrders",
    ),
    command(
        Method::Post,
        "/v1/exchange/symbols",
        "createSymbol",
        "List a symbol with scales of its own",
        Some("NewSymbol"),
        Success::Made("Receipt"),
    ),
    read(
        "/v1/exchange/symbols",
        "listSymbols",
        "The symbols, in the order of their creation",
        PAGED,
        "ExchangeSymbols",
    ),
    read(
        "/v1/exchange/symbols/{symbol}",
        "getSymbol",
        "A symbol: its scales, its band, whether it is halted",
        &[],
        "ExchangeSymbol",
    ),
    command(
        Method::Post,
        "/v1/exchange/symbols/{symbol}/grants",
        "grant",
        "Give an account new shares",
        Some("NewGrant"),
        Success::Json("ExchangeGranted"),
    ),
    command(
        Method::Put,
        "/v1/exchange/symbols/{symbol}/band",
        "setBand",
        "Refuse orders outside a band of prices; what is left out has no bound",
        Some("NewBand"),
        RECEIPT,
    ),
    command(
        Method::Put,
        "/v1/exchange/symbols/{symbol}/halt",
        "halt",
        "Stop trading; orders that rest stay and may be cancelled",
        None,
        RECEIPT,
    ),
    command(
        Method::Delete,
        "/v1/exchange/symbols/{symbol}/halt",
        "resume",
        "Resume trading",
        None,
        RECEIPT,
    ),
    Operation {
        query: &["since", "symbol", "account"],
        problems: &[400, 503],
        ..document(
            "/v1/exchange/events",
            "exchangeEvents",
            "Follow what happens, as server-sent events: all of it, or what is about one symbol or \
             account; resumes after Last-Event-ID or `since`",
            &[EVENTS],
        )
    },
    Operation {
        success: Success::Protocol("The connection speaks WebSocket from here on"),
        problems: &[403, 426, 503],
        ..document(
            "/v1/exchange/feed",
            "exchangeFeed",
            "Books, trades, tops and orders as snapshots and changes, and order entry, on one \
             WebSocket; docs/feed.md has its messages",
            &[],
        )
    },
];
