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

CREATE TABLE exchange.symbol (
    number integer PRIMARY KEY CHECK (number BETWEEN 1 AND 1 << 20),
    name text COLLATE "C" NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9._:-]{1,16}$'),
    price_scale integer NOT NULL CHECK (price_scale >= 0),
    quantity_scale integer NOT NULL CHECK (quantity_scale >= 0),
    worth numeric(9) NOT NULL CHECK (worth = 10::numeric ^ (8 - price_scale - quantity_scale)),
    halted boolean NOT NULL DEFAULT false,
    low bigint,
    high bigint,
    issued numeric(20) NOT NULL DEFAULT 0 CHECK (issued BETWEEN 0 AND 18446744073709551615),
    changes bigint NOT NULL DEFAULT 0,
    orders bigint NOT NULL DEFAULT 0,
    trades bigint NOT NULL DEFAULT 0,
    CHECK (price_scale + quantity_scale <= 8),
    CHECK (low <= high)
) WITH (fillfactor = 50);
COMMENT ON TABLE exchange.symbol IS 'What is traded. Its row is locked by whatever touches its book';
COMMENT ON COLUMN exchange.symbol.number IS 'In the order of creation, without gaps';
COMMENT ON COLUMN exchange.symbol.worth IS 'Cash for one unit at one tick';
COMMENT ON COLUMN exchange.symbol.issued IS 'All shares that were ever granted';
COMMENT ON COLUMN exchange.symbol.changes IS 'Changes of the book so far';

CREATE TABLE exchange.account (
    number integer PRIMARY KEY CHECK (number BETWEEN 1 AND 1 << 26),
    id text COLLATE "C" NOT NULL UNIQUE CHECK (id ~ '^[A-Za-z0-9._:-]{1,40}$'),
    free numeric(39) NOT NULL CHECK (free >= 0),
    reserved numeric(39) NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    limit_open_orders bigint,
    limit_quantity numeric,
    limit_notional numeric(39)
) WITH (fillfactor = 70);
COMMENT ON TABLE exchange.account IS 'Whose cash: free, and reserved by open buy orders';

CREATE TABLE exchange.position (
    account integer NOT NULL REFERENCES exchange.account,
    symbol integer NOT NULL REFERENCES exchange.symbol,
    free numeric(20) NOT NULL CHECK (free >= 0),
    reserved numeric(20) NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    PRIMARY KEY (account, symbol)
) WITH (fillfactor = 70);
COMMENT ON TABLE exchange.position IS 'Whose shares: free, and reserved by open sell orders';

CREATE TABLE exchange.open_order (
    id bigint PRIMARY KEY,
    account integer NOT NULL REFERENCES exchange.account,
    symbol integer NOT NULL REFERENCES exchange.symbol,
    side exchange.side NOT NULL,
    price bigint CHECK (price > 0),
    rank bigint GENERATED ALWAYS AS (CASE side WHEN 'sell' THEN price ELSE -price END) STORED,
    quantity bigint NOT NULL CHECK (quantity > 0),
    open bigint NOT NULL CHECK (open BETWEEN 0 AND quantity),
    patience exchange.patience NOT NULL,
    until numeric(20),
    self_trade exchange.self_trade NOT NULL,
    client_id text COLLATE "C",
    since bigint NOT NULL,
    arrival bigint,
    ended bigint,
    CHECK ((open = 0) = (ended IS NOT NULL)),
    CHECK (ended IS NOT NULL OR price IS NOT NULL AND arrival IS NOT NULL),
    CHECK ((patience = 'gtd') = (until IS NOT NULL))
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
    price bigint NOT NULL CHECK (price > 0),
    quantity bigint NOT NULL CHECK (quantity > 0),
    at bigint NOT NULL
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
