-- A booking moves to other nights or another room. So a booking may have another room when the locks of a
-- batch are taken than when they were chosen.

ALTER TYPE rooms.outcome ADD ATTRIBUTE from_room text;
COMMENT ON COLUMN rooms.outcome.from_room IS
    'Of a booking that moved: the room before, as arrival and departure are the nights before';

-- A move has the whole house: where it goes is known only when the booking is read.
CREATE OR REPLACE FUNCTION rooms.locks_of(commands rooms.command[]) RETURNS rooms.lock[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
    locks rooms.lock[];
BEGIN
    WITH command AS (SELECT * FROM unnest(commands))
    SELECT array_agg(one) INTO locks FROM (
        SELECT rooms.lock_of('property', c.property, c.wish IS DISTINCT FROM 'room') AS one
        FROM command c WHERE c.property IS NOT NULL
        UNION ALL
        SELECT rooms.lock_of('room', c.property || ' ' || c.wanted, true)
        FROM command c WHERE c.wish = 'room' AND c.property IS NOT NULL
        UNION ALL
        SELECT rooms.lock_of('principal', c.principal, true)
        FROM command c WHERE c.operation = 'hold'
        UNION ALL
        SELECT rooms.lock_of('key', c.principal || ' ' || c.key, true)
        FROM command c WHERE c.key IS NOT NULL
        UNION ALL
        SELECT unnest(ARRAY[
            rooms.lock_of('property', p.name, c.operation = 'move'),
            rooms.lock_of('room', p.name || ' ' || r.name, true),
            rooms.lock_of('principal', b.principal, false)
        ])
        FROM command c JOIN rooms.booking b ON b.reference = c.reference
        JOIN rooms.room r ON r.room = b.room JOIN rooms.property p ON p.property = r.property
    ) wanted;
    RETURN locks;
END $$;

-- Takes the locks of some commands, which name these bookings. One that has moved meanwhile may need others,
-- which are taken, too. Of two batches that then wait for each other, one begins again.
CREATE FUNCTION rooms.take_for(commands rooms.command[], known bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    before bigint[];
    changed bigint[];
BEGIN
    IF known IS NULL THEN
        PERFORM rooms.take(rooms.locks_of(commands));
        RETURN;
    END IF;
    LOOP
        SELECT array_agg(b.position ORDER BY b.reference) INTO before
        FROM rooms.booking b WHERE b.reference = ANY (known);
        PERFORM rooms.take(rooms.locks_of(commands));
        SELECT array_agg(b.position ORDER BY b.reference) INTO changed
        FROM rooms.booking b WHERE b.reference = ANY (known);
        EXIT WHEN changed = before;
    END LOOP;
END $$;

CREATE FUNCTION rooms.move_booking(
    moment timestamptz, at_position bigint, of_reference bigint, wish text, wanted text,
    from_night date, to_night date, seal bigint, last_four smallint
) RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    found_one rooms.found := rooms.look_up(of_reference, moment);
    entry rooms.booking := found_one.booking;
    own rooms.room;
    house rooms.property;
    chosen rooms.choice;
BEGIN
    result.answer := CASE
        WHEN found_one.answer IS NOT NULL THEN found_one.answer
        WHEN entry.state <> 'booked' THEN 'not_confirmed'
        WHEN entry.guest_seal <> seal OR entry.guest_last_four <> last_four THEN 'wrong_guest'
    END;
    IF result.answer IS NOT NULL THEN
        RETURN result;
    END IF;
    SELECT * INTO own FROM rooms.room r WHERE r.room = entry.room;
    SELECT * INTO house FROM rooms.property p WHERE p.property = own.property;
    -- Its own nights are not in its way: it leaves them, and takes them again where it gets no others.
    DELETE FROM rooms.night n
    WHERE n.room = entry.room AND n.night >= entry.arrival AND n.night < entry.departure
      AND n.booking = of_reference;
    IF (wish = 'any' OR wish = 'room' AND own.name = wanted OR wish = 'type' AND own.kind = wanted)
        AND (entry.arrival <= from_night AND to_night <= entry.departure
            OR rooms.is_free(own.room, from_night, to_night, moment)) THEN
        chosen.room := own.room;
        chosen.name := own.name;
    ELSE
        chosen := rooms.place(house, wish, wanted, from_night, to_night, moment);
    END IF;
    IF chosen.answer IS NOT NULL THEN
        INSERT INTO rooms.night SELECT entry.room, entry.arrival + step, of_reference
        FROM generate_series(0, entry.departure - entry.arrival - 1) step;
        result.answer := chosen.answer;
        result.nights := chosen.nights;
        IF chosen.answer IN ('sold_out', 'stop_sell') THEN
            result.arrival := from_night;
        END IF;
        result.bound := chosen.bound;
        RETURN result;
    END IF;
    IF chosen.room IS NULL THEN
        chosen.room := at_position;
        PERFORM rooms.name_room(house.property, chosen.name, at_position);
        IF chosen.number IS NOT NULL THEN
            UPDATE rooms.property p SET numbered = chosen.number
            WHERE p.property = house.property;
        END IF;
    ELSE
        PERFORM rooms.expire(chosen.room, from_night, to_night, moment, at_position);
    END IF;
    INSERT INTO rooms.night SELECT chosen.room, from_night + step, of_reference
    FROM generate_series(0, to_night - from_night - 1) step;
    UPDATE rooms.booking b
    SET room = chosen.room, arrival = from_night, departure = to_night, position = at_position
    WHERE b.reference = of_reference
      AND (b.room, b.arrival, b.departure) <> (chosen.room, from_night, to_night);
    result.answer := 'moved';
    result.room := chosen.name;
    result.from_room := own.name;
    result.arrival := entry.arrival;
    result.departure := entry.departure;
    RETURN result;
END $$;

-- Decides one request.
CREATE OR REPLACE FUNCTION rooms.decide(moment timestamptz, at_position bigint, r rooms.request)
RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    c rooms.command := r.command;
BEGIN
    IF c.operation = 'cancel_for_guest' THEN
        RETURN rooms.cancel_for_guest(moment, at_position, c.principal, c.reference, r.reason);
    END IF;
    IF c.operation = 'move' THEN
        RETURN rooms.move_booking(
            moment, at_position, c.reference, c.wish, c.wanted, date 'epoch' + c.arrival,
            date 'epoch' + c.departure, c.seal, c.last_four
        );
    END IF;
    RETURN rooms.decide(moment, at_position, c);
END $$;

DROP FUNCTION rooms.execute(timestamptz, rooms.command[]);

-- Decides requests in their order, as one transaction. What is decided has no exceptions: an error
-- takes back everything.
CREATE OR REPLACE FUNCTION rooms.execute(moment timestamptz, requests rooms.request[])
RETURNS SETOF rooms.reply LANGUAGE plpgsql AS $$
DECLARE
    r rooms.request;
    c rooms.command;
    commands rooms.command[];
    result rooms.reply;
    missing rooms.outcome;
    known bigint[];
    is_known boolean;
    denied text;
    more_booked integer := 0;
    more_cancelled integer := 0;
    more_held integer := 0;
BEGIN
    missing.answer := 'not_found';
    SELECT array_agg(one.command) INTO commands FROM unnest(requests) one;
    -- A booking that is not there before the locks are taken is not known to who names it.
    SELECT array_agg(b.reference) INTO known FROM rooms.booking b
    WHERE b.reference IN (SELECT one.reference FROM unnest(commands) one);
    PERFORM rooms.take_for(commands, known);
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
