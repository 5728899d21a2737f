-- What is left of bookings that were over before a state was copied to here.

CREATE TABLE rooms.ended (
    slot bigint PRIMARY KEY,
    generation bigint NOT NULL
);
COMMENT ON TABLE rooms.ended IS
    'References that ended before this state was copied to here. A reference is a slot, its lower '
    '32 bits, and a generation';
COMMENT ON COLUMN rooms.ended.generation IS 'All references of the slot up to this one have ended';

CREATE FUNCTION rooms.has_ended(of_reference bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM rooms.ended e
        WHERE e.slot = of_reference & 4294967295
          AND e.generation >= of_reference >> 32 & 4294967295
    )
$$;

CREATE OR REPLACE FUNCTION rooms.look_up(of_reference bigint, moment timestamptz)
RETURNS rooms.found LANGUAGE plpgsql STABLE AS $$
DECLARE
    result rooms.found;
    entry rooms.booking;
BEGIN
    SELECT * INTO entry FROM rooms.booking b WHERE b.reference = of_reference;
    IF NOT FOUND THEN
        result.answer := CASE WHEN rooms.has_ended(of_reference) THEN 'ended' ELSE 'not_found' END;
        RETURN result;
    END IF;
    IF entry.state = 'held' AND entry.held_until <= moment THEN
        entry.state := 'expired';
    END IF;
    IF entry.state IN ('released', 'cancelled', 'forgotten')
        OR entry.state = 'expired' AND entry.held_until <= moment - interval '1 day' THEN
        result.answer := 'ended';
    END IF;
    result.booking := entry;
    RETURN result;
END $$;

-- Decides commands in their order, as one transaction. What is decided has no exceptions: an error
-- takes back everything.
CREATE OR REPLACE FUNCTION rooms.execute(moment timestamptz, commands rooms.command[])
RETURNS SETOF rooms.reply LANGUAGE plpgsql AS $$
DECLARE
    c rooms.command;
    result rooms.reply;
    missing rooms.outcome := ROW('not_found', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    known bigint[];
    more_booked integer := 0;
    more_cancelled integer := 0;
    more_held integer := 0;
BEGIN
    -- A booking that is not there before the locks are taken is not known to who names it.
    SELECT array_agg(b.reference) INTO known FROM rooms.booking b
    WHERE b.reference IN (SELECT one.reference FROM unnest(commands) one);
    PERFORM rooms.take(rooms.locks_of(commands));
    FOREACH c IN ARRAY commands LOOP
        IF c.key IS NOT NULL THEN
            result := rooms.remembered(moment, c);
            IF result.position IS NOT NULL THEN
                RETURN NEXT result;
                CONTINUE;
            END IF;
        END IF;
        result.position := nextval('rooms.position');
        result.replayed := false;
        IF c.reference IS NOT NULL AND (known IS NULL OR c.reference <> ALL (known)) THEN
            result.outcome := missing;
            IF rooms.has_ended(c.reference) THEN
                result.outcome.answer := 'ended';
            END IF;
        ELSE
            result.outcome := rooms.decide(moment, result.position, c);
        END IF;
        IF c.key IS NOT NULL THEN
            INSERT INTO rooms.idempotency_key AS k VALUES (
                c.principal, c.key, c.content, moment, result.position, result.outcome
            ) ON CONFLICT (principal, key) DO UPDATE
            SET content = EXCLUDED.content, at = EXCLUDED.at, position = EXCLUDED.position,
                outcome = EXCLUDED.outcome;
        END IF;
        CASE (result.outcome).answer
            WHEN 'booked', 'confirmed' THEN more_booked := more_booked + 1;
            WHEN 'cancelled' THEN more_cancelled := more_cancelled + 1;
            WHEN 'held' THEN more_held := more_held + 1;
            ELSE NULL;
        END CASE;
        RETURN NEXT result;
    END LOOP;
    IF more_booked + more_cancelled + more_held > 0 THEN
        INSERT INTO rooms.tally AS t
        VALUES (rooms.shard(), more_booked, more_cancelled, more_held)
        ON CONFLICT (shard) DO UPDATE
        SET booked = t.booked + more_booked, cancelled = t.cancelled + more_cancelled,
            held = t.held + more_held;
    END IF;
END $$
