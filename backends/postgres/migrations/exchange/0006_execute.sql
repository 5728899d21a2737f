-- The way in: a batch of commands, one after the other, in one transaction.

CREATE FUNCTION exchange.decide(at bigint, decided bigint, c exchange.command) RETURNS jsonb
LANGUAGE plpgsql AS $$
BEGIN
    CASE c."do"
        WHEN 'order' THEN RETURN exchange.place_order(at, decided, c);
        WHEN 'cancel' THEN RETURN exchange.cancel_order(at, c);
        WHEN 'replace' THEN RETURN exchange.replace_order(at, decided, c);
        WHEN 'cancel_all' THEN RETURN exchange.cancel_all(at, c);
        WHEN 'create_account' THEN RETURN exchange.create_account(c);
        WHEN 'grant' THEN RETURN exchange.grant_shares(c);
        WHEN 'deposit' THEN RETURN exchange.move_cash(c, 1);
        WHEN 'withdraw' THEN RETURN exchange.move_cash(c, -1);
        WHEN 'create_symbol' THEN RETURN exchange.create_symbol(c);
        WHEN 'set_band' THEN RETURN exchange.set_band(c);
        WHEN 'halt' THEN RETURN exchange.halt(c);
        WHEN 'set_limits' THEN RETURN exchange.set_limits(c);
    END CASE;
END $$;

-- Decides commands at an instant; one row for each, in their order. `outcome` is null where the
-- key was used for another command; then `decided` is that one's position.
CREATE FUNCTION exchange.execute(at bigint, batch jsonb)
RETURNS TABLE (decided bigint, replayed boolean, outcome text) LANGUAGE plpgsql
-- Plans are kept, and the first is made while the tables are still empty: indexes only.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    commands exchange.command[] :=
        ARRAY(SELECT c FROM jsonb_populate_recordset(NULL::exchange.command, batch) c);
    c exchange.command;
    first exchange.answered;
    answer jsonb;
BEGIN
    PERFORM exchange.expire(at, exchange.lock(at, commands));
    FOREACH c IN ARRAY commands LOOP
        IF c.key IS NOT NULL THEN
            SELECT * INTO first FROM exchange.answered a
            WHERE a.principal = c.principal AND a.key = c.key AND a.at > execute.at - exchange.day();
            IF FOUND THEN
                decided := first.decided;
                replayed := true;
                outcome := CASE WHEN first.content = c.content THEN first.outcome END;
                RETURN NEXT;
                CONTINUE;
            END IF;
        END IF;
        decided := nextval('exchange.decided');
        replayed := false;
        answer := exchange.decide(at, decided, c);
        outcome := answer;
        IF c.key IS NOT NULL THEN
            INSERT INTO exchange.answered AS a
            VALUES (c.principal, c.key, c.content, decided, at, answer)
            ON CONFLICT (principal, key) DO UPDATE SET content = excluded.content,
                decided = excluded.decided, at = excluded.at, outcome = excluded.outcome;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;
