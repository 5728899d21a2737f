-- Accounts, symbols and what may be done.

-- An amount of cash: in units of 10^-8, or why it is none.
CREATE FUNCTION exchange.cash(amount numeric, OUT units numeric, OUT refusal jsonb)
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    units := trunc(amount * 100000000);
    IF units <> amount * 100000000 THEN
        refusal := jsonb_build_object('too_many_digits',
            jsonb_build_object('field', 'cash', 'scale', 8));
    END IF;
END $$;

CREATE FUNCTION exchange.create_account(c exchange.command) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    cash numeric;
    answer jsonb;
    last integer;
BEGIN
    IF EXISTS (SELECT FROM exchange.account WHERE id = c.account) THEN
        RETURN '"account_exists"';
    END IF;
    SELECT units, refusal INTO cash, answer FROM exchange.cash(c.amount);
    IF answer IS NOT NULL THEN
        RETURN answer;
    END IF;
    SELECT coalesce(max(number), 0) INTO last FROM exchange.account;
    IF last >= 1 << 26 THEN
        RETURN jsonb_build_object('full', jsonb_build_object('limit', 1 << 26));
    END IF;
    INSERT INTO exchange.account (number, id, free) VALUES (last + 1, c.account, cash);
    INSERT INTO exchange.cash_put_in VALUES (cash);
    RETURN '"account_created"';
END $$;

-- A deposit, or, with a sign of -1, a withdrawal.
CREATE FUNCTION exchange.move_cash(c exchange.command, sign integer) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    holder exchange.account;
    cash numeric;
    answer jsonb;
BEGIN
    SELECT * INTO holder FROM exchange.account WHERE id = c.account;
    IF NOT FOUND THEN
        RETURN '"unknown_account"';
    ELSIF c.amount = 0 THEN
        RETURN exchange.zero('cash');
    END IF;
    SELECT units, refusal INTO cash, answer FROM exchange.cash(c.amount);
    IF answer IS NOT NULL THEN
        RETURN answer;
    ELSIF holder.free + sign * cash < 0 THEN
        RETURN jsonb_build_object('insufficient_funds',
            jsonb_build_object('needed', cash, 'free', holder.free));
    END IF;
    UPDATE exchange.account SET free = free + sign * cash WHERE number = holder.number;
    INSERT INTO exchange.cash_put_in VALUES (sign * cash);
    RETURN jsonb_build_object(CASE sign WHEN 1 THEN 'deposited' ELSE 'withdrawn' END,
        jsonb_build_object('cash', holder.free + sign * cash));
END $$;

CREATE FUNCTION exchange.create_symbol(c exchange.command) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    listed exchange.symbol := exchange.unlisted(c.symbol);
    answer jsonb;
BEGIN
    IF EXISTS (SELECT FROM exchange.symbol WHERE name = c.symbol) THEN
        RETURN '"symbol_exists"';
    ELSIF c.price_scale + c.quantity_scale > 8 THEN
        RETURN '"scale_too_large"';
    END IF;
    answer := exchange.may_list(listed);
    IF answer IS NOT NULL THEN
        RETURN answer;
    END IF;
    listed.price_scale := c.price_scale;
    listed.quantity_scale := c.quantity_scale;
    PERFORM exchange.list(listed);
    RETURN '"symbol_created"';
END $$;

CREATE FUNCTION exchange.grant_shares(c exchange.command) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    holder exchange.account;
    listed exchange.symbol;
    shares bigint;
    answer jsonb;
    held numeric;
BEGIN
    SELECT * INTO holder FROM exchange.account WHERE id = c.account;
    IF NOT FOUND THEN
        RETURN '"unknown_account"';
    END IF;
    SELECT * INTO listed FROM exchange.symbol WHERE name = c.symbol;
    IF NOT FOUND THEN
        listed := exchange.unlisted(c.symbol);
    END IF;
    SELECT units, refusal INTO shares, answer
    FROM exchange.units(c.amount, listed.quantity_scale, 'quantity');
    IF answer IS NULL AND listed.issued + shares > 18446744073709551615 THEN
        answer := exchange.too_large('quantity');
    END IF;
    answer := coalesce(answer, exchange.may_list(listed));
    IF answer IS NOT NULL THEN
        RETURN answer;
    END IF;
    listed.number := coalesce(listed.number, exchange.list(listed));
    UPDATE exchange.symbol SET issued = issued + shares WHERE number = listed.number;
    PERFORM exchange.give(ARRAY[holder.number], listed.number, ARRAY[shares]);
    SELECT free + reserved INTO held FROM exchange.position
    WHERE account = holder.number AND symbol = listed.number;
    RETURN jsonb_build_object('granted',
        jsonb_build_object('position', held, 'scale', listed.quantity_scale));
END $$;

CREATE FUNCTION exchange.set_band(c exchange.command) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    listed exchange.symbol;
    low_ bigint;
    high_ bigint;
    answer jsonb;
BEGIN
    SELECT * INTO listed FROM exchange.symbol WHERE name = c.symbol;
    IF NOT FOUND THEN
        RETURN '"unknown_symbol"';
    END IF;
    SELECT units, refusal INTO low_, answer
    FROM exchange.units(c.low, listed.price_scale, 'price');
    IF answer IS NULL THEN
        SELECT units, refusal INTO high_, answer
        FROM exchange.units(c.high, listed.price_scale, 'price');
    END IF;
    IF answer IS NOT NULL THEN
        RETURN answer;
    ELSIF low_ > high_ THEN
        RETURN '"empty_band"';
    END IF;
    UPDATE exchange.symbol SET low = low_, high = high_ WHERE number = listed.number;
    RETURN '"band_set"';
END $$;

CREATE FUNCTION exchange.halt(c exchange.command) RETURNS jsonb
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE exchange.symbol SET halted = c.halted WHERE name = c.symbol;
    IF NOT FOUND THEN
        RETURN '"unknown_symbol"';
    END IF;
    RETURN to_jsonb(CASE WHEN c.halted THEN 'halted' ELSE 'resumed' END);
END $$;

CREATE FUNCTION exchange.set_limits(c exchange.command) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    cash numeric;
    answer jsonb;
BEGIN
    IF NOT EXISTS (SELECT FROM exchange.account WHERE id = c.account) THEN
        RETURN '"unknown_account"';
    END IF;
    SELECT units, refusal INTO cash, answer FROM exchange.cash(c.price);
    IF answer IS NOT NULL THEN
        RETURN answer;
    END IF;
    UPDATE exchange.account
    SET limit_open_orders = c.open_orders, limit_quantity = c.amount, limit_notional = cash
    WHERE id = c.account;
    RETURN '"limits_set"';
END $$;
