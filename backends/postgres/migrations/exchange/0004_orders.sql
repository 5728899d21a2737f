-- Orders: new ones, replacements, cancels. Refusals come in the machine's order.

CREATE FUNCTION exchange.zero(field text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('zero', jsonb_build_object('field', field))
$$;

CREATE FUNCTION exchange.too_large(field text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('too_large', jsonb_build_object('field', field))
$$;

-- A number in units of its scale, from 1 to the largest; null is no number at all.
CREATE FUNCTION exchange.units(
    number numeric, scale integer, field text, OUT units bigint, OUT refusal jsonb
) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    scaled numeric := number * 10::numeric ^ scale;
BEGIN
    IF number = 0 THEN
        refusal := exchange.zero(field);
    ELSIF scaled <> trunc(scaled) THEN
        refusal := jsonb_build_object('too_many_digits',
            jsonb_build_object('field', field, 'scale', scale));
    ELSIF scaled > 1000000000000000 THEN
        refusal := exchange.too_large(field);
    ELSE
        units := scaled;
    END IF;
END $$;

-- Refuses an order that may not enter. `old` is the order that it replaces.
CREATE FUNCTION exchange.admit(
    holder exchange.account, listed exchange.symbol, wish exchange.wish, course exchange.course,
    old exchange.open_order
) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    is_new boolean := old.id IS NULL;
    notional numeric := coalesce(wish.price::numeric * wish.quantity * listed.worth, course.value);
    needed numeric;
    held numeric;
BEGIN
    IF listed.halted THEN
        RETURN '"symbol_halted"';
    END IF;
    IF wish.price < listed.low OR wish.price > listed.high THEN
        RETURN jsonb_build_object('outside_band', jsonb_build_object(
            'low', listed.low, 'high', listed.high, 'scale', listed.price_scale));
    END IF;
    IF wish.quantity > holder.limit_quantity * 10::numeric ^ listed.quantity_scale THEN
        RETURN jsonb_build_object('quantity_limit',
            jsonb_build_object('limit', holder.limit_quantity::text));
    END IF;
    IF notional > holder.limit_notional THEN
        RETURN jsonb_build_object('notional_limit',
            jsonb_build_object('limit', holder.limit_notional));
    END IF;
    IF is_new AND holder.limit_open_orders IS NOT NULL AND wish.patience NOT IN ('ioc', 'fok')
        AND (SELECT count(*) FROM exchange.open_order
             WHERE account = holder.number AND ended IS NULL) >= holder.limit_open_orders
    THEN
        RETURN jsonb_build_object('too_many_open_orders',
            jsonb_build_object('limit', holder.limit_open_orders));
    END IF;
    IF wish.price IS NULL AND course.filled = 0 THEN
        RETURN '"no_market"';
    END IF;
    IF wish.patience = 'fok' AND course.filled < wish.quantity THEN
        RETURN '"not_fillable"';
    END IF;
    IF wish.patience = 'post_only' AND course.filled > 0 THEN
        RETURN '"would_match"';
    END IF;
    IF wish.side = 'buy' THEN
        needed := notional;
        IF NOT is_new THEN
            needed := greatest(needed - old.price::numeric * old.open * listed.worth, 0);
        END IF;
        IF needed > holder.free THEN
            RETURN jsonb_build_object('insufficient_funds',
                jsonb_build_object('needed', needed, 'free', holder.free));
        END IF;
        RETURN NULL;
    END IF;
    needed := CASE WHEN is_new THEN wish.quantity ELSE greatest(wish.quantity - old.open, 0) END;
    SELECT free INTO held FROM exchange.position
    WHERE account = wish.account AND symbol = listed.number;
    held := coalesce(held, 0);
    IF needed > held THEN
        RETURN jsonb_build_object('insufficient_shares', jsonb_build_object(
            'needed', needed, 'free', held, 'scale', listed.quantity_scale));
    END IF;
    RETURN NULL;
END $$;

-- A symbol as it is listed without being asked for.
CREATE FUNCTION exchange.unlisted(name text) RETURNS exchange.symbol LANGUAGE plpgsql STABLE AS $$
DECLARE
    listed exchange.symbol;
BEGIN
    listed.name := name;
    listed.price_scale := 4;
    listed.quantity_scale := 4;
    listed.worth := 1;
    listed.halted := false;
    listed.issued := 0;
    RETURN listed;
END $$;

-- Lists a symbol that is not there, and says its number; nobody else creates anything meanwhile.
CREATE FUNCTION exchange.list(listed exchange.symbol) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    SELECT coalesce(max(number), 0) + 1 INTO listed.number FROM exchange.symbol;
    INSERT INTO exchange.symbol (number, name, price_scale, quantity_scale, worth)
    VALUES (listed.number, listed.name, listed.price_scale, listed.quantity_scale,
        10::numeric ^ (8 - listed.price_scale - listed.quantity_scale));
    RETURN listed.number;
END $$;

-- Refuses a symbol that would have to be listed where there is no room.
CREATE FUNCTION exchange.may_list(listed exchange.symbol) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF listed.number IS NULL AND (SELECT max(number) FROM exchange.symbol) >= 1 << 20 THEN
        RETURN jsonb_build_object('full', jsonb_build_object('limit', 1 << 20));
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION exchange.place_order(at bigint, decided bigint, c exchange.command)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    holder exchange.account;
    listed exchange.symbol;
    o exchange.open_order;
    wish exchange.wish;
    course exchange.course;
    answer jsonb;
    quantity_ bigint;
    price_ bigint;
BEGIN
    SELECT * INTO holder FROM exchange.account WHERE id = c.account;
    IF NOT FOUND THEN
        RETURN '"unknown_account"';
    END IF;
    SELECT * INTO listed FROM exchange.symbol WHERE name = c.symbol;
    IF NOT FOUND THEN
        listed := exchange.unlisted(c.symbol);
    END IF;
    IF c.client_id IS NOT NULL THEN
        answer := exchange.repeated(at, holder.number, listed, c);
        IF answer IS NOT NULL THEN
            RETURN answer;
        END IF;
    END IF;
    SELECT units, refusal INTO quantity_, answer
    FROM exchange.units(c.amount, listed.quantity_scale, 'quantity');
    IF answer IS NOT NULL THEN
        RETURN answer;
    END IF;
    IF c.price IS NOT NULL THEN
        SELECT units, refusal INTO price_, answer
        FROM exchange.units(c.price, listed.price_scale, 'price');
        IF answer IS NOT NULL THEN
            RETURN answer;
        END IF;
    ELSIF c.patience NOT IN ('ioc', 'fok') THEN
        RETURN '"market_must_not_wait"';
    END IF;
    IF c.until <= at THEN
        RETURN '"date_over"';
    END IF;
    wish := ROW(holder.number, c.side, quantity_, price_, c.patience, c.self_trade);
    course := exchange.course(listed, wish);
    answer := coalesce(exchange.admit(holder, listed, wish, course, NULL),
                       exchange.may_list(listed));
    IF answer IS NOT NULL THEN
        RETURN answer;
    END IF;
    listed.number := coalesce(listed.number, exchange.list(listed));
    o.id := nextval('exchange.order_id');
    o.account := holder.number;
    o.symbol := listed.number;
    o.side := c.side;
    o.price := price_;
    o.quantity := quantity_;
    o.open := quantity_;
    o.patience := c.patience;
    o.until := c.until;
    o.self_trade := c.self_trade;
    o.client_id := c.client_id;
    o.since := at;
    answer := exchange.arrive(at, decided, o, listed, course, true);
    IF c.client_id IS NOT NULL THEN
        INSERT INTO exchange.client_order AS k
        VALUES (holder.number, c.client_id, o.id, quantity_, price_, answer)
        ON CONFLICT (account, client_id) DO UPDATE SET order_id = excluded.order_id,
            quantity = excluded.quantity, price = excluded.price, answer = excluded.answer;
    END IF;
    RETURN jsonb_build_object('accepted',
        jsonb_build_object('ticket', answer, 'again', false));
END $$;

-- What is answered to an order under a client id that its account has used; null when it has not.
CREATE FUNCTION exchange.repeated(
    at bigint, account integer, listed exchange.symbol, c exchange.command
) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    o exchange.open_order;
    same boolean;
    answer jsonb;
BEGIN
    SELECT * INTO o FROM exchange.named(at, account, c);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT k.answer, (o.symbol, o.side, o.patience, o.self_trade, k.quantity)
            = (listed.number, c.side, c.patience, c.self_trade,
               c.amount * 10::numeric ^ listed.quantity_scale)
        AND o.until IS NOT DISTINCT FROM c.until
        AND k.price IS NOT DISTINCT FROM c.price * 10::numeric ^ listed.price_scale
    INTO answer, same
    FROM exchange.client_order k
    WHERE k.account = repeated.account AND k.client_id = c.client_id;
    IF same IS TRUE THEN
        RETURN jsonb_build_object('accepted',
            jsonb_build_object('ticket', answer, 'again', true));
    END IF;
    RETURN jsonb_build_object('client_id_reused', jsonb_build_object('order', o.id));
END $$;

-- Why an account may not change the order that it names; null when it may.
CREATE FUNCTION exchange.not_own_open(holder exchange.account, o exchange.open_order)
RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN o.id IS NULL THEN '"not_found"'::jsonb
                WHEN o.account <> holder.number THEN '"not_yours"'
                WHEN o.ended IS NOT NULL THEN '"not_open"' END
$$;

CREATE FUNCTION exchange.cancel_order(at bigint, c exchange.command) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    holder exchange.account;
    o exchange.open_order;
    refusal jsonb;
    digits integer;
BEGIN
    SELECT * INTO holder FROM exchange.account WHERE id = c.account;
    IF NOT FOUND THEN
        RETURN '"unknown_account"';
    END IF;
    SELECT * INTO o FROM exchange.named(at, holder.number, c);
    refusal := exchange.not_own_open(holder, o);
    IF refusal IS NOT NULL THEN
        RETURN refusal;
    END IF;
    PERFORM exchange.take_off(o, at, 'cancelled');
    SELECT quantity_scale INTO digits FROM exchange.symbol WHERE number = o.symbol;
    RETURN jsonb_build_object('cancelled',
        jsonb_build_object('order', o.id, 'quantity', o.open, 'scale', digits));
END $$;

CREATE FUNCTION exchange.cancel_all(at bigint, c exchange.command) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    holder exchange.account;
    listed exchange.symbol;
    o exchange.open_order;
    orders integer := 0;
BEGIN
    SELECT * INTO holder FROM exchange.account WHERE id = c.account;
    IF NOT FOUND THEN
        RETURN '"unknown_account"';
    END IF;
    SELECT * INTO listed FROM exchange.symbol WHERE name = c.symbol;
    IF c.symbol IS NOT NULL AND listed.number IS NULL THEN
        RETURN '"unknown_symbol"';
    END IF;
    FOR o IN
        SELECT * FROM exchange.open_order
        WHERE account = holder.number AND ended IS NULL
            AND symbol = coalesce(listed.number, symbol)
        ORDER BY id
    LOOP
        PERFORM exchange.take_off(o, at, 'mass_cancelled');
        orders := orders + 1;
    END LOOP;
    RETURN jsonb_build_object('all_cancelled', jsonb_build_object('orders', orders));
END $$;

CREATE FUNCTION exchange.replace_order(at bigint, decided bigint, c exchange.command)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    holder exchange.account;
    listed exchange.symbol;
    o exchange.open_order;
    wish exchange.wish;
    course exchange.course;
    answer jsonb;
    shrinks boolean;
BEGIN
    SELECT * INTO holder FROM exchange.account WHERE id = c.account;
    IF NOT FOUND THEN
        RETURN '"unknown_account"';
    END IF;
    SELECT * INTO o FROM exchange.named(at, holder.number, c);
    answer := exchange.not_own_open(holder, o);
    IF answer IS NOT NULL THEN
        RETURN answer;
    END IF;
    SELECT * INTO listed FROM exchange.symbol WHERE number = o.symbol;
    wish := ROW(o.account, o.side, NULL, o.price, o.patience, o.self_trade);
    SELECT units, refusal INTO wish.quantity, answer
    FROM exchange.units(c.amount, listed.quantity_scale, 'quantity');
    IF answer IS NOT NULL THEN
        RETURN answer;
    ELSIF o.quantity - o.open + wish.quantity > 1000000000000000 THEN
        RETURN exchange.too_large('quantity');
    END IF;
    IF c.price IS NOT NULL THEN
        SELECT units, refusal INTO wish.price, answer
        FROM exchange.units(c.price, listed.price_scale, 'price');
        IF answer IS NOT NULL THEN
            RETURN answer;
        END IF;
    END IF;
    IF wish.price = o.price AND wish.quantity <= o.open AND NOT listed.halted THEN
        RETURN exchange.reduce(o, listed, wish.quantity);
    END IF;
    course := exchange.course(listed, wish);
    answer := exchange.admit(holder, listed, wish, course, o);
    IF answer IS NOT NULL THEN
        RETURN answer;
    END IF;
    PERFORM exchange.reserve(o, -o.open);
    UPDATE exchange.symbol SET changes = changes + 1, open_orders = open_orders - 1
    WHERE number = o.symbol;
    o.quantity := o.quantity - o.open + wish.quantity;
    o.open := wish.quantity;
    o.price := wish.price;
    answer := exchange.arrive(at, decided, o, listed, course, false);
    RETURN jsonb_build_object('replaced',
        jsonb_build_object('ticket', answer, 'kept_place', false));
END $$;

-- Reduces an order where it stands.
CREATE FUNCTION exchange.reduce(
    o exchange.open_order, listed exchange.symbol, rest bigint
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    IF rest < o.open THEN
        PERFORM exchange.reserve(o, rest - o.open);
        UPDATE exchange.open_order SET open = rest, quantity = o.quantity - o.open + rest
        WHERE id = o.id;
        UPDATE exchange.symbol SET changes = changes + 1 WHERE number = o.symbol;
    END IF;
    RETURN jsonb_build_object('replaced', jsonb_build_object('kept_place', true, 'ticket',
        jsonb_build_object('order', o.id, 'state', 'open', 'filled', 0, 'value', 0,
            'open', rest, 'scale', listed.quantity_scale)));
END $$;
