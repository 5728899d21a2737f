-- What can be asked. What is due at the instant of the question counts as expired, whether or not
-- anybody has come by to do it.

CREATE FUNCTION exchange.is_open(o exchange.open_order, at bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT o.ended IS NULL AND (o.until IS NULL OR o.until > at) $$;

-- An account without its positions.
CREATE FUNCTION exchange.account_view(at bigint, a exchange.account) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('account', a.id,
        'free', a.free + due.cash, 'reserved', a.reserved - due.cash,
        'open_orders', (SELECT count(*) FROM exchange.open_order o
                        WHERE o.account = a.number AND exchange.is_open(o, at)),
        'limit_open_orders', a.limit_open_orders,
        'limit_quantity', a.limit_quantity::text,
        'limit_notional', a.limit_notional)
    FROM (SELECT coalesce(sum(o.price::numeric * o.open * s.worth), 0) AS cash
          FROM exchange.due(at) o JOIN exchange.symbol s ON s.number = o.symbol
          WHERE o.account = a.number AND o.side = 'buy'
    ) AS due
$$;

CREATE FUNCTION exchange.position_view(at bigint, p exchange.position) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_array(s.name, p.free + due.shares, p.reserved - due.shares, s.quantity_scale)
    FROM exchange.symbol s, (
        SELECT coalesce(sum(o.open), 0) AS shares FROM exchange.due(at) o
        WHERE o.account = p.account AND o.symbol = p.symbol AND o.side = 'sell'
    ) AS due
    WHERE s.number = p.symbol
$$;

CREATE FUNCTION exchange.ask_account(at bigint, name text, first bigint, most integer)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT exchange.account_view(at, a) || jsonb_build_object(
        'positions', (
            SELECT coalesce(jsonb_agg(exchange.position_view(at, p) ORDER BY p.symbol), '[]')
            FROM (SELECT * FROM exchange.position p
                  WHERE p.account = a.number AND p.symbol >= first ORDER BY symbol LIMIT most) p),
        'next', (SELECT p.symbol FROM exchange.position p
                 WHERE p.account = a.number AND p.symbol >= first
                 ORDER BY symbol OFFSET most LIMIT 1))
    FROM exchange.account a WHERE a.id = name
$$;

CREATE FUNCTION exchange.ask_accounts(at bigint, first bigint, most integer) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'rows', (SELECT coalesce(jsonb_agg(exchange.account_view(at, a) ORDER BY a.number), '[]')
                 FROM exchange.account a WHERE a.number >= greatest(first, 1) AND a.number < greatest(first, 1) + most),
        'next', (SELECT a.number FROM exchange.account a
                 WHERE a.number >= greatest(first, 1) + most ORDER BY number LIMIT 1))
$$;

-- Open orders of a symbol that are due.
CREATE FUNCTION exchange.due(at bigint, s exchange.symbol) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT count(*) FROM exchange.due(at) o WHERE o.symbol = s.number
$$;

CREATE FUNCTION exchange.symbol_view(at bigint, s exchange.symbol) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('symbol', s.name, 'price_scale', s.price_scale,
        'quantity_scale', s.quantity_scale, 'halted', s.halted, 'low', s.low, 'high', s.high,
        'issued', s.issued, 'seq', s.changes + exchange.due(at, s),
        'open_orders', s.open_orders - exchange.due(at, s),
        'last_price', (SELECT price FROM exchange.exec e WHERE e.symbol = s.number
                       ORDER BY trade DESC LIMIT 1))
$$;

CREATE FUNCTION exchange.ask_symbol(at bigint, wanted text) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT exchange.symbol_view(at, s) FROM exchange.symbol s WHERE s.name = wanted
$$;

CREATE FUNCTION exchange.ask_symbols(at bigint, first bigint, most integer) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'rows', (SELECT coalesce(jsonb_agg(exchange.symbol_view(at, s) ORDER BY s.number), '[]')
                 FROM exchange.symbol s WHERE s.number >= greatest(first, 1) AND s.number < greatest(first, 1) + most),
        'next', (SELECT s.number FROM exchange.symbol s
                 WHERE s.number >= greatest(first, 1) + most ORDER BY number LIMIT 1))
$$;

CREATE FUNCTION exchange.order_view(at bigint, o exchange.open_order) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('order', o.id, 'client_id', o.client_id, 'account', a.id,
        'symbol', s.name, 'side', o.side, 'quantity', o.quantity, 'price', o.price,
        'patience', o.patience, 'until', o.until, 'self_trade', o.self_trade, 'since', o.since,
        'price_scale', s.price_scale, 'quantity_scale', s.quantity_scale,
        'open', CASE WHEN exchange.is_open(o, at) THEN o.open ELSE 0 END,
        'cancelled', CASE WHEN o.ended IS NULL AND o.until <= at
            THEN jsonb_build_array(o.open, o.until, 'expired')
            ELSE (SELECT jsonb_build_array(c.quantity, c.at, c.reason)
                  FROM exchange.cancel c WHERE c.order_id = o.id) END,
        'executions', (
            SELECT coalesce(jsonb_agg(
                jsonb_build_array(e.quantity, e.price, e.at, e.other) ORDER BY e.trade), '[]')
            FROM (SELECT trade, quantity, price, e.at, taker AS other
                  FROM exchange.exec e WHERE maker = o.id
                  UNION ALL
                  SELECT trade, quantity, price, e.at, maker
                  FROM exchange.exec e WHERE taker = o.id) AS e))
    FROM exchange.account a, exchange.symbol s
    WHERE a.number = o.account AND s.number = o.symbol
$$;

CREATE FUNCTION exchange.ask_order(at bigint, name text, number bigint, client text)
RETURNS jsonb LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    holder exchange.account;
    o exchange.open_order;
    c exchange.command;
BEGIN
    SELECT * INTO holder FROM exchange.account WHERE id = name;
    IF holder.number IS NULL AND (name IS NOT NULL OR client IS NOT NULL) THEN
        RETURN '"unknown_account"';
    END IF;
    c.order_id := number;
    c.client_id := client;
    SELECT * INTO o FROM exchange.named(at, holder.number, c);
    IF NOT FOUND THEN
        RETURN '"not_found"';
    END IF;
    RETURN jsonb_build_object('found', exchange.order_view(at, o));
END $$;

CREATE FUNCTION exchange.ask_orders(
    at bigint, name text, wanted text, first bigint, most integer
) RETURNS jsonb LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    holder exchange.account;
    listed exchange.symbol;
    o exchange.open_order;
    views jsonb[] := '{}';
BEGIN
    SELECT * INTO holder FROM exchange.account WHERE id = name;
    SELECT * INTO listed FROM exchange.symbol s WHERE s.name = wanted;
    IF wanted IS NOT NULL AND listed.number IS NULL THEN
        RETURN '"unknown_symbol"';
    ELSIF holder.number IS NULL THEN
        RETURN '"unknown_account"';
    END IF;
    FOR o IN
        SELECT * FROM exchange.open_order n
        WHERE n.account = holder.number AND n.ended IS NULL AND exchange.is_open(n, at)
            AND n.symbol = coalesce(listed.number, n.symbol) AND n.id >= first
        ORDER BY n.id LIMIT most + 1
    LOOP
        EXIT WHEN cardinality(views) = most;
        views := views || exchange.order_view(at, o);
        o.id := NULL;
    END LOOP;
    -- The first order that is not on this page, if there is one.
    RETURN jsonb_build_object('found', jsonb_build_object('rows', to_jsonb(views), 'next', o.id));
END $$;

-- One side of a book by prices, the best first.
CREATE FUNCTION exchange.levels(at bigint, listed integer, wanted exchange.side, most integer)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_array(abs(rank), shares, orders) ORDER BY rank), '[]')
    FROM (SELECT o.rank, sum(o.open) AS shares, count(*) AS orders
          FROM exchange.open_order o
          WHERE o.symbol = listed AND o.side = wanted AND o.ended IS NULL
              AND exchange.is_open(o, at)
          GROUP BY o.rank ORDER BY o.rank LIMIT most) AS level
$$;

-- One side of a book order by order, as they trade.
CREATE FUNCTION exchange.queue(at bigint, listed integer, wanted exchange.side, most integer)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_array(id, price, open) ORDER BY rank, arrival), '[]')
    FROM (SELECT o.id, o.price, o.open, o.rank, o.arrival
          FROM exchange.open_order o
          WHERE o.symbol = listed AND o.side = wanted AND o.ended IS NULL
              AND exchange.is_open(o, at)
          ORDER BY o.rank, o.arrival LIMIT most) AS waiting
$$;

CREATE FUNCTION exchange.ask_book(at bigint, wanted text, most integer, by_order boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    s exchange.symbol;
    sides jsonb;
BEGIN
    SELECT * INTO s FROM exchange.symbol WHERE name = wanted;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF by_order THEN
        sides := jsonb_build_object('bids', exchange.queue(at, s.number, 'buy', most),
                                    'asks', exchange.queue(at, s.number, 'sell', most));
    ELSE
        sides := jsonb_build_object('bids', exchange.levels(at, s.number, 'buy', most),
                                    'asks', exchange.levels(at, s.number, 'sell', most));
    END IF;
    RETURN sides || jsonb_build_object('seq', s.changes + exchange.due(at, s),
        'price_scale', s.price_scale, 'quantity_scale', s.quantity_scale);
END $$;

-- The latest thousand trades, the newest first, from one of them on.
CREATE FUNCTION exchange.ask_trades(wanted text, first bigint, most integer) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    s exchange.symbol;
    e exchange.exec;
    views jsonb[] := '{}';
BEGIN
    SELECT * INTO s FROM exchange.symbol WHERE name = wanted;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    FOR e IN
        SELECT * FROM (SELECT * FROM exchange.exec n WHERE n.symbol = s.number
                       ORDER BY n.trade DESC LIMIT 1000) AS latest
        WHERE trade <= first ORDER BY trade DESC LIMIT most + 1
    LOOP
        EXIT WHEN cardinality(views) = most;
        views := views || jsonb_build_array(
            e.trade, e.at, e.price, e.quantity, e.side, e.maker, e.taker);
        e.trade := NULL;
    END LOOP;
    RETURN jsonb_build_object('rows', to_jsonb(views), 'next', e.trade,
        'price_scale', s.price_scale, 'quantity_scale', s.quantity_scale);
END $$;

-- Asked about once a second: nothing here reads more than a row for each symbol.
CREATE FUNCTION exchange.ask_totals(at bigint) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'accounts', (SELECT coalesce(max(number), 0) FROM exchange.account),
        'symbols', all_symbols.count, 'orders', all_symbols.orders, 'trades', all_symbols.trades,
        'open_orders', all_symbols.open - due.count,
        'remembered', all_symbols.orders - all_symbols.open + due.count,
        'cash', (SELECT coalesce(sum(amount), 0) FROM exchange.cash_put_in))
    FROM (SELECT count(*), coalesce(sum(orders), 0) AS orders, coalesce(sum(trades), 0) AS trades,
              coalesce(sum(open_orders), 0) AS open
          FROM exchange.symbol) AS all_symbols,
        (SELECT count(*) FROM exchange.due(at)) AS due
$$;

-- Expires what is due, forgets old keys, so many of each at the most, and adds up what was put in;
-- says whether more is to do.
CREATE FUNCTION exchange.sweep(at bigint, most integer) RETURNS boolean LANGUAGE plpgsql
SET enable_seqscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    symbols integer[] := ARRAY(
        SELECT DISTINCT symbol FROM (
            SELECT symbol FROM exchange.due(at) ORDER BY until LIMIT most
        ) AS due);
    expired integer;
    forgotten integer;
BEGIN
    PERFORM FROM exchange.symbol WHERE number = ANY(symbols) ORDER BY number FOR NO KEY UPDATE;
    PERFORM FROM exchange.account
    WHERE number = ANY(exchange.accounts_of(at, '{}', '{}', symbols))
    ORDER BY number FOR NO KEY UPDATE;
    expired := exchange.expire(at, symbols);
    IF (SELECT count(*) FROM exchange.cash_put_in) > most THEN
        WITH pieces AS (DELETE FROM exchange.cash_put_in RETURNING amount)
        INSERT INTO exchange.cash_put_in
        SELECT sum(amount) FROM pieces HAVING count(*) > 0;
    END IF;
    DELETE FROM exchange.answered WHERE (principal, key) IN (
        SELECT a.principal, a.key FROM exchange.answered a
        WHERE a.at <= sweep.at - exchange.day() ORDER BY a.at LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN expired >= most OR forgotten >= most;
END $$;
