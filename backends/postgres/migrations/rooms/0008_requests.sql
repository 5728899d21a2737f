-- Commands come with what the server knows of their callers: the bookings and holds that they may name. And a
-- manager cancels a booking for its guest, without the id number, and says why.

CREATE TABLE rooms.cancellation (
    reference bigint PRIMARY KEY REFERENCES rooms.booking,
    principal text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    at timestamptz NOT NULL
);
COMMENT ON TABLE rooms.cancellation IS
    'Bookings that a manager cancelled for the guest, without the id number';
COMMENT ON COLUMN rooms.cancellation.principal IS 'The manager';

CREATE TYPE rooms.request AS (command rooms.command, reason text, own text, others text);
COMMENT ON TYPE rooms.request IS
    'A command; why it is sent, where it says that; and the properties of the bookings and holds that '
    'it may name, of those of its principal and of those of others: patterns such as hotel-1 acme:*';

CREATE FUNCTION rooms.covers(patterns text, name text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT EXISTS (
        SELECT FROM unnest(string_to_array(patterns, ' ')) one
        WHERE one = name OR right(one, 1) = '*' AND starts_with(name, left(one, -1))
    )
$$;

-- Why a request may not name a booking or hold; nothing where it may.
CREATE FUNCTION rooms.out_of_scope(moment timestamptz, r rooms.request, is_known boolean)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    found_one rooms.found;
    house text;
BEGIN
    IF is_known THEN
        found_one := rooms.look_up((r.command).reference, moment);
    END IF;
    IF NOT is_known OR found_one.answer IS NOT NULL THEN
        RETURN CASE WHEN r.own <> '*' THEN 'out_of_names' END;
    END IF;
    SELECT p.name INTO house FROM rooms.room JOIN rooms.property p USING (property)
    WHERE room.room = (found_one.booking).room;
    RETURN CASE
        WHEN NOT rooms.covers(r.own, house) THEN 'out_of_names'
        WHEN (found_one.booking).principal <> (r.command).principal
            AND NOT rooms.covers(r.others, house) THEN 'held_by_another'
    END;
END $$;

CREATE FUNCTION rooms.cancel_for_guest(
    moment timestamptz, at_position bigint, by_principal text, of_reference bigint, why text
) RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    entry rooms.booking;
BEGIN
    SELECT * INTO entry FROM rooms.booking b WHERE b.reference = of_reference;
    result := rooms.cancel(
        moment, at_position, of_reference, entry.guest_seal, entry.guest_last_four
    );
    IF result.answer = 'cancelled' THEN
        INSERT INTO rooms.cancellation VALUES (of_reference, by_principal, why, moment);
    END IF;
    RETURN result;
END $$;

-- Decides one request.
CREATE FUNCTION rooms.decide(moment timestamptz, at_position bigint, r rooms.request)
RETURNS rooms.outcome LANGUAGE plpgsql AS $$
BEGIN
    IF (r.command).operation = 'cancel_for_guest' THEN
        RETURN rooms.cancel_for_guest(
            moment, at_position, (r.command).principal, (r.command).reference, r.reason
        );
    END IF;
    RETURN rooms.decide(moment, at_position, r.command);
END $$;

-- Decides requests in their order, as one transaction. What is decided has no exceptions: an error
-- takes back everything.
CREATE FUNCTION rooms.execute(moment timestamptz, requests rooms.request[])
RETURNS SETOF rooms.reply LANGUAGE plpgsql AS $$
DECLARE
    r rooms.request;
    c rooms.command;
    commands rooms.command[];
    result rooms.reply;
    missing rooms.outcome := ROW('not_found', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    known bigint[];
    is_known boolean;
    denied text;
    more_booked integer := 0;
    more_cancelled integer := 0;
    more_held integer := 0;
BEGIN
    SELECT array_agg(one.command) INTO commands FROM unnest(requests) one;
    -- A booking that is not there before the locks are taken is not known to who names it.
    SELECT array_agg(b.reference) INTO known FROM rooms.booking b
    WHERE b.reference IN (SELECT one.reference FROM unnest(commands) one);
    PERFORM rooms.take(rooms.locks_of(commands));
    FOREACH r IN ARRAY requests LOOP
        c := r.command;
        IF c.key IS NOT NULL THEN
            result := rooms.remembered(moment, c);
            IF result.position IS NOT NULL THEN
                RETURN NEXT result;
                CONTINUE;
            END IF;
        END IF;
        result.replayed := false;
        is_known := coalesce(c.reference = ANY (known), false);
        IF c.reference IS NOT NULL AND (r.own <> '*' OR r.others <> '*') THEN
            denied := rooms.out_of_scope(moment, r, is_known);
            IF denied IS NOT NULL THEN
                result.position := 0;
                result.outcome := missing;
                result.outcome.answer := denied;
                RETURN NEXT result;
                CONTINUE;
            END IF;
        END IF;
        result.position := nextval('rooms.position');
        IF c.reference IS NOT NULL AND NOT is_known THEN
            result.outcome := missing;
            IF rooms.has_ended(c.reference) THEN
                result.outcome.answer := 'ended';
            END IF;
        ELSE
            result.outcome := rooms.decide(moment, result.position, r);
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
