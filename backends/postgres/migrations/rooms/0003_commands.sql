-- What a command does to properties and rooms, and the one function that decides all commands.

CREATE FUNCTION rooms.add_property(at_position bigint, new_name text, is_open boolean)
RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
BEGIN
    INSERT INTO rooms.property VALUES (at_position, new_name, is_open)
    ON CONFLICT (name) DO NOTHING;
    result.answer := CASE WHEN FOUND THEN 'property_added' ELSE 'property_exists' END;
    RETURN result;
END $$;

CREATE FUNCTION rooms.add_room(
    at_position bigint, in_property text, new_name text, of_kind text, natural_place bytea
) RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    house rooms.property;
    known rooms.room;
    is_loose boolean;
BEGIN
    SELECT * INTO house FROM rooms.property p WHERE p.name = in_property;
    IF NOT FOUND THEN
        result.answer := 'unknown_property';
        RETURN result;
    END IF;
    is_loose := house.open AND of_kind = 'open';
    SELECT * INTO known FROM rooms.room r
    WHERE r.property = house.property AND r.name = new_name;
    IF NOT FOUND THEN
        result.bound := rooms.full_at(house);
        IF result.bound IS NOT NULL THEN
            result.answer := 'too_many_rooms';
            RETURN result;
        END IF;
        INSERT INTO rooms.room VALUES (
            at_position, house.property, new_name, of_kind, true,
            CASE WHEN is_loose THEN '\xff' || int8send(at_position) ELSE natural_place END
        );
        PERFORM rooms.resize(house.property, 1, 1);
    ELSIF known.in_sale THEN
        result.answer := 'room_exists';
        RETURN result;
    ELSE
        UPDATE rooms.room r
        SET in_sale = true, kind = of_kind,
            place = CASE WHEN is_loose THEN '\xff' || int8send(known.room) ELSE natural_place END
        WHERE r.room = known.room;
        PERFORM rooms.resize(house.property, 0, 1);
    END IF;
    result.answer := 'room_added';
    RETURN result;
END $$;

CREATE FUNCTION rooms.withdraw_room(
    moment timestamptz, at_position bigint, in_property text, of_name text
) RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    known record;
BEGIN
    PERFORM FROM rooms.property p WHERE p.name = in_property;
    IF NOT FOUND THEN
        result.answer := 'unknown_property';
        RETURN result;
    END IF;
    SELECT r.room, r.property INTO known FROM rooms.room r JOIN rooms.property p USING (property)
    WHERE p.name = in_property AND r.name = of_name AND r.in_sale;
    IF NOT FOUND THEN
        result.answer := 'unknown_room';
        RETURN result;
    END IF;
    SELECT min(n.night) INTO result.arrival FROM rooms.night n
    WHERE n.room = known.room AND (n.until IS NULL OR n.until > moment);
    IF result.arrival IS NOT NULL THEN
        result.answer := 'room_in_use';
        RETURN result;
    END IF;
    PERFORM rooms.expire(known.room, '-infinity', 'infinity', moment, at_position);
    UPDATE rooms.room r SET in_sale = false WHERE r.room = known.room;
    DELETE FROM rooms.stopped_night s WHERE s.room = known.room;
    PERFORM rooms.resize(known.property, 0, -1);
    result.answer := 'room_withdrawn';
    RETURN result;
END $$;

CREATE FUNCTION rooms.stop_sell(
    at_position bigint, in_property text, of_name text, from_night date, to_night date,
    stopped boolean
) RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    house rooms.property;
    known rooms.room;
BEGIN
    SELECT * INTO house FROM rooms.property p WHERE p.name = in_property;
    IF NOT FOUND THEN
        result.answer := 'unknown_property';
        RETURN result;
    END IF;
    SELECT * INTO known FROM rooms.room r WHERE r.property = house.property AND r.name = of_name;
    IF known.room IS NULL AND house.open THEN
        result.bound := rooms.full_at(house);
        IF result.bound IS NOT NULL THEN
            result.answer := 'too_many_rooms';
            RETURN result;
        END IF;
        PERFORM rooms.name_room(house.property, of_name, at_position);
        known.room := at_position;
    ELSIF known.in_sale IS NOT TRUE THEN
        result.answer := 'unknown_room';
        RETURN result;
    END IF;
    IF stopped THEN
        INSERT INTO rooms.stopped_night
        SELECT known.room, from_night + step FROM generate_series(0, to_night - from_night - 1) step
        ON CONFLICT DO NOTHING;
        result.answer := 'sale_stopped';
    ELSE
        DELETE FROM rooms.stopped_night s
        WHERE s.room = known.room AND s.night >= from_night AND s.night < to_night;
        result.answer := 'sale_resumed';
    END IF;
    RETURN result;
END $$;

CREATE TYPE rooms.lock AS (id bigint, exclusive boolean);

CREATE FUNCTION rooms.lock_of(kind text, name text, exclusive boolean) RETURNS rooms.lock
LANGUAGE sql IMMUTABLE AS $$
    SELECT ROW(hashtextextended('turnstile rooms ' || kind || ' ' || name, 0), exclusive)
$$;

-- Takes locks in the one order in which all transactions take theirs: by their numbers.
CREATE FUNCTION rooms.take(locks rooms.lock[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM CASE WHEN wanted.exclusive THEN pg_advisory_xact_lock(wanted.id)
                 ELSE pg_advisory_xact_lock_shared(wanted.id) END
    FROM (SELECT one.id, bool_or(one.exclusive) AS exclusive FROM unnest(locks) one
          GROUP BY one.id ORDER BY one.id OFFSET 0) wanted;
END $$;

CREATE TYPE rooms.command AS (
    operation text,
    principal text,
    key text,
    content bigint,
    property text,
    wish text,
    wanted text,
    arrival integer,
    departure integer,
    ttl_ms bigint,
    flag boolean,
    kind text,
    place bytea,
    reference bigint,
    guest text,
    seal bigint,
    last_four smallint
);
COMMENT ON TYPE rooms.command IS
    'A command of any operation, with what that needs. Nights are days since 1970-01-01';

-- The locks of some commands. Two commands that must not pass each other have one in common: the
-- house for what concerns many of its rooms, one room for what concerns no other, the principal
-- for what depends on the number of its holds, and the idempotency key.
CREATE FUNCTION rooms.locks_of(commands rooms.command[]) RETURNS rooms.lock[]
LANGUAGE sql STABLE AS $$
    WITH command AS (SELECT * FROM unnest(commands))
    SELECT array_agg(one) FROM (
        SELECT rooms.lock_of('property', c.property, c.wish IS DISTINCT FROM 'room') AS one
        FROM command c WHERE c.property IS NOT NULL
        UNION ALL
        SELECT rooms.lock_of('room', c.property || ' ' || c.wanted, true)
        FROM command c WHERE c.wish = 'room'
        UNION ALL
        SELECT rooms.lock_of('principal', c.principal, true)
        FROM command c WHERE c.operation = 'hold'
        UNION ALL
        SELECT rooms.lock_of('key', c.principal || ' ' || c.key, true)
        FROM command c WHERE c.key IS NOT NULL
        UNION ALL
        SELECT unnest(ARRAY[
            rooms.lock_of('property', p.name, false),
            rooms.lock_of('room', p.name || ' ' || r.name, true),
            rooms.lock_of('principal', b.principal, false)
        ])
        FROM command c JOIN rooms.booking b ON b.reference = c.reference
        JOIN rooms.room r ON r.room = b.room JOIN rooms.property p ON p.property = r.property
    ) locks
$$;

-- Decides one command.
CREATE FUNCTION rooms.decide(moment timestamptz, at_position bigint, c rooms.command)
RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    from_night date := date 'epoch' + c.arrival;
    to_night date := date 'epoch' + c.departure;
BEGIN
    CASE c.operation
    WHEN 'book', 'hold' THEN
        RETURN rooms.enter(
            moment, at_position, c.principal, c.property, c.wish, c.wanted, from_night, to_night,
            c.ttl_ms, c.guest, c.seal, c.last_four
        );
    WHEN 'cancel' THEN
        RETURN rooms.cancel(moment, at_position, c.reference, c.seal, c.last_four);
    WHEN 'confirm' THEN
        RETURN rooms.confirm(moment, at_position, c.reference, c.guest, c.seal, c.last_four);
    WHEN 'release' THEN
        RETURN rooms.release(moment, at_position, c.reference);
    WHEN 'extend' THEN
        RETURN rooms.extend(moment, at_position, c.reference, c.ttl_ms);
    WHEN 'add_property' THEN
        RETURN rooms.add_property(at_position, c.property, c.flag);
    WHEN 'add_room' THEN
        RETURN rooms.add_room(at_position, c.property, c.wanted, c.kind, c.place);
    WHEN 'withdraw_room' THEN
        RETURN rooms.withdraw_room(moment, at_position, c.property, c.wanted);
    WHEN 'stop_sell' THEN
        RETURN rooms.stop_sell(at_position, c.property, c.wanted, from_night, to_night, c.flag);
    END CASE;
END $$;

CREATE TYPE rooms.reply AS (position bigint, replayed boolean, outcome rooms.outcome);

-- What is answered to a command whose idempotency key is remembered; nothing when it is not.
CREATE FUNCTION rooms.remembered(moment timestamptz, c rooms.command) RETURNS rooms.reply
LANGUAGE plpgsql STABLE AS $$
DECLARE
    result rooms.reply;
    first rooms.idempotency_key;
    reused rooms.outcome;
BEGIN
    SELECT * INTO first FROM rooms.idempotency_key k
    WHERE k.principal = c.principal AND k.key = c.key AND k.at > moment - interval '1 day';
    IF NOT FOUND THEN
        RETURN result;
    END IF;
    result.position := first.position;
    IF first.content = c.content THEN
        result.replayed := true;
        result.outcome := first.outcome;
    ELSE
        reused.answer := 'key_reused';
        result.replayed := false;
        result.outcome := reused;
    END IF;
    RETURN result;
END $$;

-- Decides commands in their order, as one transaction. What is decided has no exceptions: an error
-- takes back everything.
CREATE FUNCTION rooms.execute(moment timestamptz, commands rooms.command[])
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
END $$;

-- Does a page of what is due, and says whether there may be more.
CREATE FUNCTION rooms.tidy(moment timestamptz, page integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    due bigint[];
    changed bigint;
    is_more boolean := false;
BEGIN
    SELECT array_agg(b.reference) INTO due FROM (
        SELECT b.reference FROM rooms.booking b
        WHERE b.state = 'held' AND b.held_until <= moment ORDER BY b.held_until LIMIT page
    ) b;
    IF due IS NOT NULL THEN
        is_more := cardinality(due) = page;
        PERFORM rooms.take(rooms.locks_of(
            (SELECT array_agg(ROW(
                'release', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                one, NULL, NULL, NULL
            )::rooms.command) FROM unnest(due) one)
        ));
        PERFORM rooms.leave(
            b, (CASE WHEN b.held_until <= moment - interval '1 day' THEN 'forgotten'
                     ELSE 'expired' END)::rooms.state,
            nextval('rooms.position')
        ) FROM rooms.booking b
        WHERE b.reference = ANY (due) AND b.state = 'held' AND b.held_until <= moment;
        GET DIAGNOSTICS changed = ROW_COUNT;
        PERFORM rooms.count_expired(changed);
    END IF;
    UPDATE rooms.booking SET state = 'forgotten'
    WHERE state = 'expired' AND held_until <= moment - interval '1 day' AND reference IN (
        SELECT b.reference FROM rooms.booking b
        WHERE b.state = 'expired' AND b.held_until <= moment - interval '1 day' LIMIT page
    );
    GET DIAGNOSTICS changed = ROW_COUNT;
    is_more := is_more OR changed = page;
    DELETE FROM rooms.idempotency_key WHERE at <= moment - interval '1 day' AND (principal, key) IN (
        SELECT k.principal, k.key FROM rooms.idempotency_key k
        WHERE k.at <= moment - interval '1 day' LIMIT page
    );
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN is_more OR changed = page;
END $$
