-- Orders on the books: what an order would meet, what becomes of it, and how others leave.

-- What an order wants, in units. Without a price it is a market order.
CREATE TYPE exchange.wish AS (
    account integer,
    side exchange.side,
    quantity bigint,
    price bigint,
    patience exchange.patience,
    self_trade exchange.self_trade
);

-- What the book would do with it: the makers that it meets, in their order, with what it takes of
-- each, and those that it takes off; how many are filled by it; whether an order of its own account stops it.
CREATE TYPE exchange.course AS (
    makers bigint[],
    accounts integer[],
    prices bigint[],
    parts bigint[],
    expired bigint[],
    emptied integer,
    filled bigint,
    value numeric,
    stopped boolean
);

CREATE FUNCTION exchange.course(listed exchange.symbol, wish exchange.wish)
RETURNS exchange.course LANGUAGE plpgsql STABLE AS $$
DECLARE
    wanted exchange.side := exchange.opposite(wish.side);
    worst bigint := exchange.rank(wanted, wish.price, listed);
    course exchange.course := ROW('{}', '{}', '{}', '{}', '{}', 0, 0, 0, false);
    part bigint;
    maker record;
BEGIN
    FOR maker IN
        SELECT o.id, o.account, o.price, o.open FROM exchange.open_order o
        WHERE o.symbol = listed.number AND o.side = wanted AND o.ended IS NULL AND o.rank <= worst
        ORDER BY o.rank, o.arrival
    LOOP
        EXIT WHEN course.filled = wish.quantity;
        IF maker.account = wish.account AND wish.self_trade <> 'allow' THEN
            IF wish.self_trade IN ('expire_maker', 'expire_both') THEN
                course.expired := course.expired || maker.id;
            END IF;
            course.stopped := wish.self_trade IN ('expire_taker', 'expire_both');
            EXIT WHEN course.stopped;
            CONTINUE;
        END IF;
        part := least(maker.open, wish.quantity - course.filled);
        course.makers := course.makers || maker.id;
        course.accounts := course.accounts || maker.account;
        course.prices := course.prices || maker.price;
        course.parts := course.parts || part;
        course.filled := course.filled + part;
        course.emptied := course.emptied + (part = maker.open)::integer;
        course.value := course.value + maker.price::numeric * part * listed.worth;
    END LOOP;
    RETURN course;
END $$;

-- Sets cash (a buy) or shares (a sell) aside for an open order, or, less than zero, frees them.
CREATE FUNCTION exchange.reserve(o exchange.open_order, quantity bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    cash numeric;
BEGIN
    IF o.side = 'buy' THEN
        SELECT o.price::numeric * quantity * worth INTO cash
        FROM exchange.symbol WHERE number = o.symbol;
        UPDATE exchange.account SET free = free - cash, reserved = reserved + cash
        WHERE number = o.account;
    ELSE
        UPDATE exchange.position SET free = free - quantity, reserved = reserved + quantity
        WHERE account = o.account AND symbol = o.symbol;
    END IF;
END $$;

-- Takes an open order off its book and ends it.
CREATE FUNCTION exchange.take_off(o exchange.open_order, at bigint, reason exchange.reason)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM exchange.reserve(o, -o.open);
    INSERT INTO exchange.cancel VALUES (o.id, o.open, reason, at);
    UPDATE exchange.open_order SET open = 0, ended = at WHERE id = o.id;
    UPDATE exchange.symbol SET changes = changes + 1, open_orders = open_orders - 1
    WHERE number = o.symbol;
END $$;

-- Expires what is due on these books, the earliest first. Says how many.
CREATE FUNCTION exchange.expire(at bigint, symbols integer[]) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    o exchange.open_order;
    expired integer := 0;
BEGIN
    FOR o IN
        SELECT * FROM exchange.due(at) WHERE symbol = ANY(symbols) ORDER BY until, id
    LOOP
        PERFORM exchange.take_off(o, o.until::bigint, 'expired');
        expired := expired + 1;
    END LOOP;
    RETURN expired;
END $$;

-- Matches an order that is paid for and off the book, and rests or ends it. `o` is its row as it
-- is to be before it matches: `open` is all that it wants now.
CREATE FUNCTION exchange.arrive(
    at bigint, decided bigint, o exchange.open_order, listed exchange.symbol,
    course exchange.course, is_new boolean
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    wanted bigint := o.open;
    rest bigint := o.open - course.filled;
    reason exchange.reason;
    gone exchange.open_order;
BEGIN
    IF rest > 0 AND (course.stopped OR o.patience IN ('ioc', 'fok')) THEN
        reason := CASE WHEN course.stopped THEN 'self_trade' ELSE 'immediate' END;
    END IF;
    o.open := CASE WHEN reason IS NULL THEN rest ELSE 0 END;
    o.arrival := CASE WHEN o.open > 0 THEN decided END;
    o.ended := CASE WHEN o.open = 0 THEN at END;
    IF is_new THEN
        INSERT INTO exchange.open_order (id, account, symbol, side, price, quantity, open, patience,
            until, self_trade, client_id, since, arrival, ended)
        VALUES (o.id, o.account, o.symbol, o.side, o.price, o.quantity, o.open, o.patience,
            o.until, o.self_trade, o.client_id, o.since, o.arrival, o.ended);
    ELSE
        UPDATE exchange.open_order SET price = o.price, quantity = o.quantity, open = o.open,
            arrival = o.arrival, ended = o.ended
        WHERE id = o.id;
    END IF;
    IF course.filled > 0 THEN
        PERFORM exchange.settle(at, o, listed, course);
    END IF;
    FOR gone IN SELECT * FROM exchange.open_order WHERE id = ANY(course.expired) LOOP
        PERFORM exchange.take_off(gone, at, 'self_trade');
    END LOOP;
    IF reason IS NOT NULL THEN
        INSERT INTO exchange.cancel VALUES (o.id, rest, reason, at);
    ELSIF o.open > 0 THEN
        PERFORM exchange.reserve(o, o.open);
    END IF;
    UPDATE exchange.symbol SET
        changes = changes + cardinality(course.makers) + (o.open > 0)::integer,
        open_orders = open_orders + (o.open > 0)::integer - course.emptied,
        trades = trades + cardinality(course.makers),
        orders = orders + is_new::integer
    WHERE number = o.symbol;
    RETURN jsonb_build_object(
        'order', o.id,
        'state', CASE WHEN reason IS NOT NULL THEN reason::text
                      WHEN o.open > 0 THEN 'open' ELSE 'filled' END,
        'filled', course.filled, 'value', course.value, 'open', o.open,
        'scale', listed.quantity_scale);
END $$;

-- Moves cash and shares between an order and its makers, and writes the trades down. A maker has
-- reserved just what it pays or gives; the taker has nothing reserved yet.
CREATE FUNCTION exchange.settle(
    at bigint, taker exchange.open_order, listed exchange.symbol, course exchange.course
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    buys boolean := taker.side = 'buy';
BEGIN
    UPDATE exchange.open_order o
    SET open = o.open - met.part, ended = CASE WHEN o.open = met.part THEN at END
    FROM unnest(course.makers, course.parts) AS met (id, part)
    WHERE o.id = met.id;

    INSERT INTO exchange.exec
    SELECT nextval('exchange.trade'), taker.symbol, met.maker, taker.id, taker.side, met.price,
        met.part, at
    FROM unnest(course.makers, course.prices, course.parts) AS met (maker, price, part);

    UPDATE exchange.account a
    SET free = a.free + moved.free, reserved = a.reserved - moved.reserved
    FROM (
        SELECT account, sum(CASE WHEN buys THEN value ELSE 0 END) AS free,
            sum(CASE WHEN buys THEN 0 ELSE value END) AS reserved
        FROM (SELECT met.account, met.price::numeric * met.part * listed.worth AS value
              FROM unnest(course.accounts, course.prices, course.parts) AS met (account, price, part)
        ) AS makers GROUP BY account
    ) AS moved
    WHERE a.number = moved.account;
    UPDATE exchange.account
    SET free = free + CASE WHEN buys THEN -course.value ELSE course.value END
    WHERE number = taker.account;

    -- Whoever gives shares has a position; whoever takes some may get the first.
    IF buys THEN
        UPDATE exchange.position p SET reserved = p.reserved - given.shares
        FROM (SELECT account, sum(part) AS shares
              FROM unnest(course.accounts, course.parts) AS met (account, part) GROUP BY account
        ) AS given
        WHERE p.account = given.account AND p.symbol = taker.symbol;
        PERFORM exchange.give(ARRAY[taker.account], taker.symbol, ARRAY[course.filled]);
    ELSE
        UPDATE exchange.position SET free = free - course.filled
        WHERE account = taker.account AND symbol = taker.symbol;
        PERFORM exchange.give(course.accounts, taker.symbol, course.parts);
    END IF;
END $$;

-- Adds free shares.
CREATE FUNCTION exchange.give(accounts integer[], listed integer, shares numeric[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO exchange.position AS p (account, symbol, free)
    SELECT account, listed, sum(part) FROM unnest(accounts, shares) AS met (account, part)
    GROUP BY account
    ON CONFLICT (account, symbol) DO UPDATE SET free = p.free + excluded.free;
END $$;
