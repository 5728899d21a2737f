-- Who waits for whom. Whatever changes anything takes its locks first, all of them, in one order,
-- so that nobody waits in a circle: idempotency keys, the right to create, symbols, accounts.

-- One command; what it does not need is null.
CREATE TYPE exchange.command AS (
    "do" text,
    principal text,
    key text,
    content bigint,
    account text,
    symbol text,
    side exchange.side,
    amount numeric,
    price numeric,
    low numeric,
    high numeric,
    patience exchange.patience,
    until numeric,
    self_trade exchange.self_trade,
    client_id text,
    order_id bigint,
    price_scale integer,
    quantity_scale integer,
    open_orders bigint,
    halted boolean
);

CREATE FUNCTION exchange.creation() RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT hashtextextended('exchange.creation', 0) $$;

-- How long a key is remembered, in milliseconds; and an order that has ended.
CREATE FUNCTION exchange.day() RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT 86400000::bigint $$;

CREATE FUNCTION exchange.week() RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT 604800000::bigint $$;

-- The order that an account names, by its number or by the id that the account gave it. One that
-- ended a week ago is forgotten.
CREATE FUNCTION exchange.named(at bigint, account integer, c exchange.command)
RETURNS SETOF exchange.open_order LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT o.* FROM exchange.open_order o
    WHERE o.id = coalesce(c.order_id, (
        SELECT k.order_id FROM exchange.client_order k
        WHERE k.account = named.account AND k.client_id = c.client_id
    )) AND (o.ended IS NULL OR o.ended > at - exchange.week())
$$;

-- Open orders whose date has come. Few, as a rule, but the planner expects a third of all, and would
-- walk through whole books for them: where sorting is off, their order leaves it one index only.
CREATE FUNCTION exchange.due(at bigint) RETURNS SETOF exchange.open_order
LANGUAGE sql STABLE ROWS 10 AS $$
    SELECT * FROM exchange.open_order WHERE until <= at AND ended IS NULL ORDER BY until OFFSET 0
$$;

-- The symbols whose books the commands may touch, now that these accounts are theirs.
CREATE FUNCTION exchange.symbols_of(at bigint, commands exchange.command[], own integer[])
RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    c exchange.command;
    touched integer[] := ARRAY(
        SELECT symbol FROM exchange.due(at) WHERE account = ANY(own));
BEGIN
    FOREACH c IN ARRAY commands LOOP
        IF c.symbol IS NOT NULL THEN
            touched := touched || ARRAY(SELECT number FROM exchange.symbol WHERE name = c.symbol);
        ELSIF c."do" IN ('cancel', 'replace') THEN
            touched := touched || ARRAY(
                SELECT o.symbol FROM exchange.account a, exchange.named(at, a.number, c) o
                WHERE a.id = c.account);
        ELSIF c."do" = 'cancel_all' THEN
            touched := touched || ARRAY(
                SELECT o.symbol FROM exchange.open_order o JOIN exchange.account a
                ON o.account = a.number WHERE a.id = c.account AND o.ended IS NULL);
        END IF;
    END LOOP;
    RETURN touched;
END $$;

-- How far an order that trades with side `wanted` of a book goes, as a rank of that side; a market
-- order goes as far as the band.
CREATE FUNCTION exchange.rank(wanted exchange.side, ticks bigint, listed exchange.symbol)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(CASE wanted WHEN 'sell' THEN coalesce(ticks, listed.high)
                                ELSE -coalesce(ticks, listed.low) END, 9223372036854775807)
$$;

CREATE FUNCTION exchange.opposite(side exchange.side) RETURNS exchange.side
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE side WHEN 'buy' THEN 'sell' ELSE 'buy' END::exchange.side
$$;

-- The accounts whose resting orders a new or replaced order may meet. Those of `own` accounts are
-- locked anyway and are no limit to it: it may pass over them.
CREATE FUNCTION exchange.makers(
    at bigint, listed exchange.symbol, c exchange.command, own integer[]
) RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    most numeric := c.amount * 10::numeric ^ listed.quantity_scale;
    ticks bigint := least(c.price * 10::numeric ^ listed.price_scale, 10::numeric ^ 16);
    wanted exchange.side := exchange.opposite(c.side);
    maker record;
    met integer[] := '{}';
BEGIN
    FOR maker IN
        SELECT o.account, o.open FROM exchange.open_order o
        WHERE o.symbol = listed.number AND o.side = wanted AND o.ended IS NULL
            AND o.rank <= exchange.rank(wanted, ticks, listed)
            AND o.account <> ALL(own) AND (o.until IS NULL OR o.until > at)
        ORDER BY o.rank, o.arrival
    LOOP
        EXIT WHEN most <= 0;
        most := most - maker.open;
        met := met || maker.account;
    END LOOP;
    RETURN met;
END $$;

CREATE FUNCTION exchange.accounts_of(
    at bigint, commands exchange.command[], own integer[], symbols integer[]
) RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    c exchange.command;
    listed exchange.symbol;
    old exchange.open_order;
    touched integer[] := own || ARRAY(
        SELECT account FROM exchange.due(at) WHERE symbol = ANY(symbols));
BEGIN
    FOREACH c IN ARRAY commands LOOP
        IF c."do" = 'order' THEN
            SELECT * INTO listed FROM exchange.symbol WHERE name = c.symbol;
            CONTINUE WHEN NOT FOUND;
        ELSIF c."do" = 'replace' THEN
            SELECT o.* INTO old FROM exchange.account a, exchange.named(at, a.number, c) o
            WHERE a.id = c.account;
            CONTINUE WHEN NOT FOUND;
            c.side := old.side;
            SELECT * INTO listed FROM exchange.symbol WHERE number = old.symbol;
            c.price := coalesce(c.price, old.price / 10::numeric ^ listed.price_scale);
        ELSE
            CONTINUE;
        END IF;
        touched := touched || exchange.makers(at, listed, c, own);
    END LOOP;
    RETURN touched;
END $$;

-- Names that are not there yet cannot be locked. Whoever creates one excludes all who found one
-- missing.
CREATE FUNCTION exchange.lock_creation(commands exchange.command[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    creates boolean;
BEGIN
    SELECT bool_or(c.account IS NOT NULL AND a.number IS NULL AND c."do" = 'create_account'
                OR c.symbol IS NOT NULL AND s.number IS NULL
                   AND c."do" IN ('create_symbol', 'grant', 'order'))
    INTO creates
    FROM unnest(commands) c
    LEFT JOIN exchange.account a ON a.id = c.account
    LEFT JOIN exchange.symbol s ON s.name = c.symbol;
    IF creates THEN
        PERFORM pg_advisory_xact_lock(exchange.creation());
    ELSE
        PERFORM pg_advisory_xact_lock_shared(exchange.creation());
    END IF;
END $$;

CREATE FUNCTION exchange.lock(at bigint, commands exchange.command[]) RETURNS integer[]
LANGUAGE plpgsql AS $$
DECLARE
    c exchange.command;
    keys bigint[] := '{}';
    key bigint;
    is_missing boolean := false;
    own integer[] := '{}';
    found_number integer;
    symbols integer[];
BEGIN
    FOREACH c IN ARRAY commands LOOP
        IF c.key IS NOT NULL THEN
            keys := keys || hashtextextended(c.principal || ' ' || c.key, 0);
        END IF;
        IF c.account IS NOT NULL THEN
            SELECT number INTO found_number FROM exchange.account WHERE id = c.account;
            is_missing := is_missing OR NOT FOUND;
            own := own || found_number;
        END IF;
        IF c.symbol IS NOT NULL AND NOT is_missing THEN
            PERFORM FROM exchange.symbol WHERE name = c.symbol;
            is_missing := NOT FOUND;
        END IF;
    END LOOP;
    IF cardinality(keys) > 0 THEN
        FOR key IN SELECT DISTINCT hash FROM unnest(keys) AS hash ORDER BY hash LOOP
            PERFORM pg_advisory_xact_lock(key);
        END LOOP;
    END IF;
    IF is_missing THEN
        PERFORM exchange.lock_creation(commands);
        own := ARRAY(SELECT a.number
                     FROM unnest(commands) n JOIN exchange.account a ON a.id = n.account);
    END IF;
    symbols := exchange.symbols_of(at, commands, own);
    PERFORM FROM exchange.symbol WHERE number = ANY(symbols) ORDER BY number FOR NO KEY UPDATE;
    PERFORM FROM exchange.account
    WHERE number = ANY(exchange.accounts_of(at, commands, own, symbols))
    ORDER BY number FOR NO KEY UPDATE;
    -- Orders may have come while we waited, on books that we did not think of.
    IF NOT exchange.symbols_of(at, commands, own) <@ symbols THEN
        RAISE serialization_failure USING MESSAGE = 'an order came on another book meanwhile';
    END IF;
    RETURN symbols;
END $$;
