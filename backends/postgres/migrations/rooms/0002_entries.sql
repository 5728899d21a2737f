-- What a command does to bookings and holds. Whoever calls these functions holds the locks that
-- rooms.execute takes.

CREATE FUNCTION rooms.shard() RETURNS integer LANGUAGE sql STABLE AS
    'SELECT pg_backend_pid() % 64';

-- Counts rooms that were named, put into sale or taken from it.
CREATE FUNCTION rooms.resize(of_property bigint, more_named integer, more_in_sale integer)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO rooms.size AS s VALUES (of_property, rooms.shard(), more_named, more_in_sale)
    ON CONFLICT (property, shard)
    DO UPDATE SET named = s.named + more_named, in_sale = s.in_sale + more_in_sale;
END $$;

-- How many rooms a property may have when it has as many; nothing as long as it may have more.
-- Every room has a position of its own, so the first ones need not be counted.
CREATE FUNCTION rooms.full_at(of_property rooms.property) RETURNS integer
LANGUAGE plpgsql STABLE AS $$
DECLARE
    bound integer := CASE WHEN of_property.open THEN 16000000 ELSE 10000 END;
BEGIN
    IF (SELECT last_value FROM rooms.position) <= bound THEN
        RETURN NULL;
    END IF;
    IF (SELECT coalesce(sum(s.named), 0) FROM rooms.size s
        WHERE s.property = of_property.property) < bound THEN
        RETURN NULL;
    END IF;
    RETURN bound;
END $$;

-- Where a stay would be: a room, or the name of one that begins to exist; else why not.
CREATE TYPE rooms.choice AS (
    answer text,
    room bigint,
    name text,
    number integer,
    nights smallint[],
    bound integer
);

-- A room that begins to exist.
CREATE FUNCTION rooms.unnamed(of_property rooms.property, new_name text) RETURNS rooms.choice
LANGUAGE plpgsql STABLE AS $$
DECLARE
    chosen rooms.choice;
BEGIN
    chosen.bound := rooms.full_at(of_property);
    chosen.name := new_name;
    IF chosen.bound IS NOT NULL THEN
        chosen.answer := 'too_many_rooms';
    ELSIF new_name IS NULL THEN
        chosen.number := of_property.numbered;
        LOOP
            chosen.number := chosen.number + 1;
            PERFORM FROM rooms.room r
            WHERE r.property = of_property.property AND r.name = chosen.number::text;
            EXIT WHEN NOT FOUND;
        END LOOP;
        chosen.name := chosen.number::text;
    END IF;
    RETURN chosen;
END $$;

-- The one room that is wished for.
CREATE FUNCTION rooms.place_in_room(
    of_property rooms.property, wanted text, from_night date, to_night date, moment timestamptz
) RETURNS rooms.choice LANGUAGE plpgsql STABLE AS $$
DECLARE
    chosen rooms.choice;
    is_in_sale boolean;
BEGIN
    SELECT r.room, r.name, r.in_sale INTO chosen.room, chosen.name, is_in_sale FROM rooms.room r
    WHERE r.property = of_property.property AND r.name = wanted;
    IF NOT FOUND AND of_property.open THEN
        RETURN rooms.unnamed(of_property, wanted);
    END IF;
    IF is_in_sale IS NOT TRUE THEN
        chosen.answer := 'unknown_room';
        RETURN chosen;
    END IF;
    SELECT array_agg(s.night - from_night ORDER BY s.night) INTO chosen.nights
    FROM rooms.stopped_night s
    WHERE s.room = chosen.room AND s.night >= from_night AND s.night < to_night;
    IF chosen.nights IS NOT NULL THEN
        chosen.answer := 'stop_sell';
        RETURN chosen;
    END IF;
    SELECT array_agg(n.night - from_night ORDER BY n.night) INTO chosen.nights FROM rooms.night n
    WHERE n.room = chosen.room AND n.night >= from_night AND n.night < to_night
      AND (n.until IS NULL OR n.until > moment);
    IF chosen.nights IS NOT NULL THEN
        chosen.answer := 'sold_out';
    END IF;
    RETURN chosen;
END $$;

-- Why none of several rooms is free; of_kind is nothing for all.
CREATE FUNCTION rooms.refusal_of_many(
    of_property rooms.property, of_kind text, from_night date, to_night date, moment timestamptz
) RETURNS rooms.choice LANGUAGE plpgsql STABLE AS $$
DECLARE
    chosen rooms.choice;
    wished bigint[];
BEGIN
    SELECT coalesce(array_agg(r.room), '{}') INTO wished FROM rooms.room r
    WHERE r.property = of_property.property AND r.in_sale AND r.place < '\xff'
      AND (of_kind IS NULL OR r.kind = of_kind);
    SELECT array_agg(DISTINCT s.night - from_night) INTO chosen.nights FROM rooms.stopped_night s
    WHERE s.room = ANY (wished) AND s.night >= from_night AND s.night < to_night
      AND (SELECT count(*) FROM rooms.night n
           WHERE n.room = s.room AND n.night >= from_night AND n.night < to_night
             AND (n.until IS NULL OR n.until > moment)) = 0;
    IF chosen.nights IS NOT NULL THEN
        chosen.answer := 'stop_sell';
        RETURN chosen;
    END IF;
    chosen.answer := 'sold_out';
    SELECT array_agg(asked.night - from_night) INTO chosen.nights
    FROM (SELECT from_night + step AS night FROM generate_series(0, to_night - from_night - 1) step)
        asked
    LEFT JOIN (
        SELECT blocked.night, count(*) AS rooms FROM (
            SELECT n.room, n.night FROM rooms.night n
            WHERE n.room = ANY (wished) AND n.night >= from_night AND n.night < to_night
              AND (n.until IS NULL OR n.until > moment)
            UNION
            SELECT s.room, s.night FROM rooms.stopped_night s
            WHERE s.room = ANY (wished) AND s.night >= from_night AND s.night < to_night
        ) blocked GROUP BY blocked.night
    ) counted ON counted.night = asked.night
    WHERE coalesce(counted.rooms, 0) = cardinality(wished);
    RETURN chosen;
END $$;

-- The first free room of several; in an open property else a new one.
CREATE FUNCTION rooms.place_among_many(
    of_property rooms.property, of_kind text, from_night date, to_night date, moment timestamptz
) RETURNS rooms.choice LANGUAGE plpgsql STABLE AS $$
DECLARE
    chosen rooms.choice;
    candidate record;
BEGIN
    IF of_property.open AND of_kind = 'open' THEN
        RETURN rooms.unnamed(of_property, NULL);
    END IF;
    IF of_kind IS NOT NULL THEN
        PERFORM FROM rooms.room r
        WHERE r.property = of_property.property AND r.kind = of_kind AND r.in_sale LIMIT 1;
        IF NOT FOUND THEN
            chosen.answer := 'unknown_type';
            RETURN chosen;
        END IF;
        SELECT r.room, r.name INTO candidate FROM rooms.room r
        WHERE r.property = of_property.property AND r.kind = of_kind AND r.in_sale
          AND r.place < '\xff'
          AND rooms.is_free(r.room, from_night, to_night, moment)
        ORDER BY r.place LIMIT 1;
    ELSE
        SELECT r.room, r.name INTO candidate FROM rooms.room r
        WHERE r.property = of_property.property AND r.in_sale AND r.place < '\xff'
          AND rooms.is_free(r.room, from_night, to_night, moment)
        ORDER BY r.place LIMIT 1;
    END IF;
    IF FOUND THEN
        chosen.room := candidate.room;
        chosen.name := candidate.name;
        RETURN chosen;
    END IF;
    IF of_property.open AND of_kind IS NULL THEN
        RETURN rooms.unnamed(of_property, NULL);
    END IF;
    RETURN rooms.refusal_of_many(of_property, of_kind, from_night, to_night, moment);
END $$;

CREATE FUNCTION rooms.is_free(
    of_room bigint, from_night date, to_night date, moment timestamptz
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (SELECT count(*) FROM rooms.night n
            WHERE n.room = of_room AND n.night >= from_night AND n.night < to_night
              AND (n.until IS NULL OR n.until > moment)) = 0
       AND (SELECT count(*) FROM rooms.stopped_night s
            WHERE s.room = of_room AND s.night >= from_night AND s.night < to_night) = 0
$$;

CREATE FUNCTION rooms.place(
    of_property rooms.property, wish text, wanted text, from_night date, to_night date,
    moment timestamptz
) RETURNS rooms.choice LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF wish = 'room' THEN
        RETURN rooms.place_in_room(of_property, wanted, from_night, to_night, moment);
    END IF;
    RETURN rooms.place_among_many(of_property, wanted, from_night, to_night, moment);
END $$;

-- Gives back the nights of holds in a room whose time is over, as far as they touch a stay.
CREATE FUNCTION rooms.expire(
    of_room bigint, from_night date, to_night date, moment timestamptz, at_position bigint
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    due bigint[];
BEGIN
    SELECT array_agg(DISTINCT n.booking) INTO due FROM rooms.night n
    WHERE n.room = of_room AND n.night >= from_night AND n.night < to_night AND n.until <= moment;
    IF due IS NULL THEN
        RETURN;
    END IF;
    DELETE FROM rooms.night n USING rooms.booking b
    WHERE b.reference = ANY (due) AND n.room = of_room
      AND n.night >= b.arrival AND n.night < b.departure AND n.booking = b.reference;
    UPDATE rooms.booking b SET state = 'expired', position = at_position
    WHERE b.reference = ANY (due);
    PERFORM rooms.count_expired(cardinality(due));
END $$;

CREATE FUNCTION rooms.count_expired(more bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO rooms.tally AS t (shard, expired) VALUES (rooms.shard(), more)
    ON CONFLICT (shard) DO UPDATE SET expired = t.expired + more;
END $$;

CREATE FUNCTION rooms.name_room(of_property bigint, new_name text, at_position bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO rooms.room (room, property, name, kind, place)
    VALUES (at_position, of_property, new_name, 'open', '\xff' || int8send(at_position));
    PERFORM rooms.resize(of_property, 1, 1);
END $$;

-- Books a room, or holds it for ttl_ms.
CREATE FUNCTION rooms.enter(
    moment timestamptz, at_position bigint, by_principal text, in_property text, wish text,
    wanted text, from_night date, to_night date, ttl_ms bigint, for_guest text, seal bigint,
    last_four smallint
) RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    house rooms.property;
    chosen rooms.choice;
BEGIN
    SELECT * INTO house FROM rooms.property p WHERE p.name = in_property;
    IF NOT FOUND THEN
        result.answer := 'unknown_property';
        RETURN result;
    END IF;
    chosen := rooms.place(house, wish, wanted, from_night, to_night, moment);
    IF ttl_ms IS NOT NULL AND coalesce(chosen.answer, '') NOT IN ('unknown_room', 'unknown_type')
    THEN
        result := rooms.refusal_of_hold(moment, by_principal, ttl_ms);
        IF result.answer IS NOT NULL THEN
            RETURN result;
        END IF;
        result.until := moment + ttl_ms * interval '1 millisecond';
    END IF;
    IF chosen.answer IS NOT NULL THEN
        result := NULL;
        result.answer := chosen.answer;
        result.nights := chosen.nights;
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
    result.answer := CASE WHEN ttl_ms IS NULL THEN 'booked' ELSE 'held' END;
    result.reference := nextval('rooms.reference');
    result.room := chosen.name;
    INSERT INTO rooms.booking VALUES (
        result.reference, result.answer::rooms.state, chosen.room, from_night, to_night,
        by_principal, moment, at_position, at_position, result.until, for_guest, seal, last_four
    );
    INSERT INTO rooms.night
    SELECT chosen.room, from_night + step, result.reference, result.until
    FROM generate_series(0, to_night - from_night - 1) step;
    RETURN result;
END $$;

-- Why somebody may not hold a room for so long, or no more rooms.
CREATE FUNCTION rooms.refusal_of_hold(moment timestamptz, by_principal text, ttl_ms bigint)
RETURNS rooms.outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
    result rooms.outcome;
BEGIN
    IF ttl_ms < 1 OR ttl_ms > 900000 THEN
        result.answer := 'hold_too_long';
        result.bound := 900000;
    ELSIF (SELECT count(*) FROM (
        SELECT FROM rooms.booking b
        WHERE b.state = 'held' AND b.principal = by_principal AND b.held_until > moment LIMIT 1000
    ) open) = 1000 THEN
        result.answer := 'too_many_holds';
        result.bound := 1000;
    END IF;
    RETURN result;
END $$;

-- A booking or hold as it is at an instant, in its state; why there is none, in the answer.
CREATE TYPE rooms.found AS (answer text, booking rooms.booking);

CREATE FUNCTION rooms.look_up(of_reference bigint, moment timestamptz) RETURNS rooms.found
LANGUAGE plpgsql STABLE AS $$
DECLARE
    result rooms.found;
    entry rooms.booking;
BEGIN
    SELECT * INTO entry FROM rooms.booking b WHERE b.reference = of_reference;
    IF NOT FOUND THEN
        result.answer := 'not_found';
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

CREATE FUNCTION rooms.extend(
    moment timestamptz, at_position bigint, of_reference bigint, ttl_ms bigint
) RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    found_one rooms.found := rooms.look_up(of_reference, moment);
    entry rooms.booking := found_one.booking;
BEGIN
    result.answer := CASE
        WHEN found_one.answer IS NOT NULL THEN found_one.answer
        WHEN entry.state = 'booked' THEN 'already_confirmed'
        WHEN entry.state = 'expired' THEN 'hold_expired'
        WHEN ttl_ms < 1 OR ttl_ms > 900000 THEN 'hold_too_long'
    END;
    IF result.answer IS NOT NULL THEN
        IF result.answer = 'hold_too_long' THEN
            result.bound := 900000;
        END IF;
        RETURN result;
    END IF;
    result.until := moment + ttl_ms * interval '1 millisecond';
    IF result.until > entry.since + interval '1 hour' THEN
        result.answer := 'hold_ceiling';
        result.until := entry.since + interval '1 hour';
        RETURN result;
    END IF;
    UPDATE rooms.booking b SET held_until = result.until, position = at_position
    WHERE b.reference = of_reference;
    UPDATE rooms.night n SET until = result.until
    WHERE n.room = entry.room AND n.night >= entry.arrival AND n.night < entry.departure;
    result.answer := 'extended';
    RETURN result;
END $$;

CREATE FUNCTION rooms.confirm(
    moment timestamptz, at_position bigint, of_reference bigint, for_guest text, seal bigint,
    last_four smallint
) RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    found_one rooms.found := rooms.look_up(of_reference, moment);
    entry rooms.booking := found_one.booking;
    is_in_sale boolean;
BEGIN
    IF found_one.answer IS NOT NULL OR entry.state = 'booked' THEN
        result.answer := coalesce(found_one.answer, 'already_confirmed');
        RETURN result;
    END IF;
    SELECT r.name, r.in_sale INTO result.room, is_in_sale FROM rooms.room r
    WHERE r.room = entry.room;
    result.late := entry.state = 'expired';
    IF result.late THEN
        IF NOT (is_in_sale AND rooms.is_free(entry.room, entry.arrival, entry.departure, moment))
        THEN
            result := NULL;
            result.answer := 'hold_expired';
            RETURN result;
        END IF;
        PERFORM rooms.expire(entry.room, entry.arrival, entry.departure, moment, at_position);
        INSERT INTO rooms.night SELECT entry.room, entry.arrival + step, of_reference
        FROM generate_series(0, entry.departure - entry.arrival - 1) step;
    ELSE
        UPDATE rooms.night n SET until = NULL
        WHERE n.room = entry.room AND n.night >= entry.arrival AND n.night < entry.departure;
    END IF;
    UPDATE rooms.booking b
    SET state = 'booked', held_until = NULL, guest = for_guest, guest_seal = seal,
        guest_last_four = last_four, position = at_position
    WHERE b.reference = of_reference;
    result.answer := 'confirmed';
    result.reference := of_reference;
    RETURN result;
END $$;

-- Ends a booking or hold.
CREATE FUNCTION rooms.leave(entry rooms.booking, as_state rooms.state, at_position bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM rooms.night n
    WHERE n.room = entry.room AND n.night >= entry.arrival AND n.night < entry.departure
      AND n.booking = entry.reference;
    UPDATE rooms.booking b SET state = as_state, position = at_position
    WHERE b.reference = entry.reference;
END $$;

CREATE FUNCTION rooms.release(moment timestamptz, at_position bigint, of_reference bigint)
RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    found_one rooms.found := rooms.look_up(of_reference, moment);
    entry rooms.booking := found_one.booking;
BEGIN
    result.answer := CASE
        WHEN found_one.answer IS NOT NULL THEN found_one.answer
        WHEN entry.state = 'booked' THEN 'already_confirmed'
        WHEN entry.state = 'expired' THEN 'hold_expired'
        ELSE 'released'
    END;
    IF result.answer = 'released' THEN
        PERFORM rooms.leave(entry, 'released', at_position);
    END IF;
    RETURN result;
END $$;

CREATE FUNCTION rooms.cancel(
    moment timestamptz, at_position bigint, of_reference bigint, seal bigint, last_four smallint
) RETURNS rooms.outcome LANGUAGE plpgsql AS $$
DECLARE
    result rooms.outcome;
    found_one rooms.found := rooms.look_up(of_reference, moment);
    entry rooms.booking := found_one.booking;
BEGIN
    result.answer := CASE
        WHEN found_one.answer IS NOT NULL THEN found_one.answer
        WHEN entry.state <> 'booked' THEN 'not_confirmed'
        WHEN entry.guest_seal <> seal OR entry.guest_last_four <> last_four THEN 'wrong_guest'
        ELSE 'cancelled'
    END;
    IF result.answer = 'cancelled' THEN
        PERFORM rooms.leave(entry, 'cancelled', at_position);
        SELECT r.name INTO result.room FROM rooms.room r WHERE r.room = entry.room;
        result.arrival := entry.arrival;
        result.departure := entry.departure;
    END IF;
    RETURN result;
END $$
