-- The exchange's tables. Quantities are whole numbers in units of the symbol (10^-quantity_scale),
-- prices in its ticks (10^-price_scale), cash in units of 10^-8, instants in milliseconds since
-- 1970. The views at the end show the same as decimals and times.

CREATE SCHEMA exchange;

CREATE TYPE exchange.side AS ENUM ('buy', 'sell');
CREATE TYPE exchange.patience AS ENUM ('gtc', 'gtd', 'ioc', 'fok', 'post_only');
CREATE TYPE exchange.self_trade AS ENUM
    ('allow', 'skip', 'expire_maker', 'expire_taker', 'expire_both');
CREATE TYPE exchange.reason AS ENUM
    ('cancelled', 'mass_cancelled', 'expired', 'immediate', 'self_trade');

-- A table has one check for all its rules: the database reads the text of each check again for
-- every statement that writes.
CREATE TABLE exchange.symbol (
    number integer PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    price_scale integer NOT NULL,
    quantity_scale integer NOT NULL,
    worth numeric(9) NOT NULL,
    halted boolean NOT NULL DEFAULT false,
    low bigint,
    high bigint,
    issued numeric(20) NOT NULL DEFAULT 0,
    changes bigint NOT NULL DEFAULT 0,
    open_orders integer NOT NULL DEFAULT 0,
    orders bigint NOT NULL DEFAULT 0,
    trades bigint NOT NULL DEFAULT 0,
    CHECK (price_scale >= 0 AND quantity_scale >= 0 AND price_scale + quantity_scale <= 8
        AND low <= high AND issued >= 0 AND open_orders >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE exchange.symbol IS 'What is traded. Its row is locked by whatever touches its book';
COMMENT ON COLUMN exchange.symbol.number IS 'In the order of creation, without gaps';
COMMENT ON COLUMN exchange.symbol.worth IS 'Cash for one unit at one tick';
COMMENT ON COLUMN exchange.symbol.issued IS 'All shares that were ever granted';
COMMENT ON COLUMN exchange.symbol.changes IS 'Changes of the book so far';
COMMENT ON COLUMN exchange.symbol.orders IS 'Orders accepted so far';

CREATE TABLE exchange.account (
    number integer PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    free numeric(39) NOT NULL,
    reserved numeric(39) NOT NULL DEFAULT 0,
    limit_open_orders bigint,
    limit_quantity numeric,
    limit_notional numeric(39),
    CHECK (free >= 0 AND reserved >= 0)
) WITH (fillfactor = 70);
COMMENT ON TABLE exchange.account IS 'Whose cash: free, and reserved by open buy orders';

CREATE TABLE exchange.cash_put_in (amount numeric(40) NOT NULL);
COMMENT ON TABLE exchange.cash_put_in IS
    'What was put in, less what was taken out: in pieces, so that nobody waits for the sum';

CREATE TABLE exchange.position (
    account integer NOT NULL REFERENCES exchange.account,
    symbol integer NOT NULL REFERENCES exchange.symbol,
    free numeric(20) NOT NULL,
    reserved numeric(20) NOT NULL DEFAULT 0,
    PRIMARY KEY (account, symbol),
    CHECK (free >= 0 AND reserved >= 0)
) WITH (fillfactor = 70);
COMMENT ON TABLE exchange.position IS 'Whose shares: free, and reserved by open sell orders';

CREATE TABLE exchange.open_order (
    id bigint PRIMARY KEY,
    account integer NOT NULL REFERENCES exchange.account,
    symbol integer NOT NULL REFERENCES exchange.symbol,
    side exchange.side NOT NULL,
    price bigint,
    rank bigint GENERATED ALWAYS AS (CASE side WHEN 'sell' THEN price ELSE -price END) STORED,
    quantity bigint NOT NULL,
    open bigint NOT NULL,
    patience exchange.patience NOT NULL,
    until numeric(20),
    self_trade exchange.self_trade NOT NULL,
    client_id text COLLATE "C",
    since bigint NOT NULL,
    arrival bigint,
    ended bigint,
    CHECK (price > 0 AND quantity > 0 AND open BETWEEN 0 AND quantity
        AND (open = 0) = (ended IS NOT NULL)
        AND (ended IS NOT NULL OR price IS NOT NULL AND arrival IS NOT NULL)
        AND (patience = 'gtd') = (until IS NOT NULL))
) WITH (fillfactor = 80);
COMMENT ON TABLE exchange.open_order IS 'Every order: on the book while ended is null, history after';
COMMENT ON COLUMN exchange.open_order.quantity IS 'Open, executed and cancelled together';
COMMENT ON COLUMN exchange.open_order.price IS 'The limit; null: the market''s';
COMMENT ON COLUMN exchange.open_order.arrival IS
    'The position that put it on the book: the lower comes first at its price';

COMMENT ON COLUMN exchange.open_order.rank IS 'The price, lower where it is better for the other side';

-- The books as they trade; an account's open orders; what falls due.
CREATE UNIQUE INDEX book ON exchange.open_order (symbol, side, rank, arrival) WHERE ended IS NULL;
CREATE INDEX open_of_account ON exchange.open_order (account, id) WHERE ended IS NULL;
CREATE INDEX due ON exchange.open_order (until) WHERE until IS NOT NULL AND ended IS NULL;

CREATE TABLE exchange.client_order (
    account integer NOT NULL REFERENCES exchange.account,
    client_id text COLLATE "C" NOT NULL,
    order_id bigint NOT NULL REFERENCES exchange.open_order,
    quantity bigint NOT NULL,
    price bigint,
    answer jsonb NOT NULL,
    PRIMARY KEY (account, client_id)
);
COMMENT ON TABLE exchange.client_order IS
    'The ids that clients gave their orders, the numbers that were sent, and the first answer';

CREATE TABLE exchange.exec (
    trade bigint PRIMARY KEY,
    symbol integer NOT NULL REFERENCES exchange.symbol,
    maker bigint NOT NULL REFERENCES exchange.open_order,
    taker bigint NOT NULL REFERENCES exchange.open_order,
    side exchange.side NOT NULL,
    price bigint NOT NULL,
    quantity bigint NOT NULL,
    at bigint NOT NULL,
    CHECK (price > 0 AND quantity > 0)
);
CREATE INDEX exec_maker ON exchange.exec (maker);
CREATE INDEX exec_taker ON exchange.exec (taker);
CREATE INDEX exec_symbol ON exchange.exec (symbol, trade);
COMMENT ON TABLE exchange.exec IS
    'Trades: an order of the book, the maker, met one that arrived, the taker, whose side this is';

CREATE TABLE exchange.cancel (
    order_id bigint PRIMARY KEY REFERENCES exchange.open_order,
    quantity bigint NOT NULL CHECK (quantity > 0),
    reason exchange.reason NOT NULL,
    at bigint NOT NULL
);
COMMENT ON TABLE exchange.cancel IS 'What was left of orders when they ended';

CREATE TABLE exchange.answered (
    principal text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    content bigint NOT NULL,
    decided bigint NOT NULL,
    at bigint NOT NULL,
    outcome jsonb NOT NULL,
    PRIMARY KEY (principal, key)
);
CREATE INDEX answered_at ON exchange.answered (at);
COMMENT ON TABLE exchange.answered IS
    'Idempotency keys: a hash of the command, its position, and what was first answered';

CREATE SEQUENCE exchange.decided;
CREATE SEQUENCE exchange.order_id;
CREATE SEQUENCE exchange.trade;

-- The same for people.
CREATE VIEW exchange.holding AS
    SELECT a.id AS account, s.name AS symbol, trim_scale(p.free / 10::numeric ^ s.quantity_scale) AS free,
        trim_scale(p.reserved / 10::numeric ^ s.quantity_scale) AS reserved
    FROM exchange.position p
    JOIN exchange.account a ON a.number = p.account
    JOIN exchange.symbol s ON s.number = p.symbol;

CREATE VIEW exchange.waiting AS
    SELECT s.name AS symbol, o.side, trim_scale(o.price / 10::numeric ^ s.price_scale) AS price,
        trim_scale(o.open / 10::numeric ^ s.quantity_scale) AS quantity, o.id AS "order", a.id AS account,
        to_timestamp(o.since / 1000.0) AS since
    FROM exchange.open_order o
    JOIN exchange.account a ON a.number = o.account
    JOIN exchange.symbol s ON s.number = o.symbol
    WHERE o.ended IS NULL
    ORDER BY s.name, o.side, o.rank, o.arrival;

CREATE VIEW exchange.trade_tape AS
    SELECT e.trade, s.name AS symbol, e.side, trim_scale(e.price / 10::numeric ^ s.price_scale) AS price,
        trim_scale(e.quantity / 10::numeric ^ s.quantity_scale) AS quantity, e.maker, e.taker,
        to_timestamp(e.at / 1000.0) AS at
    FROM exchange.exec e JOIN exchange.symbol s ON s.number = e.symbol;
