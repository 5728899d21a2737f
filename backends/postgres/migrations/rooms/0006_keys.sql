-- What is answered under a key says all of itself, so that it can be copied: the nights of a refusal count
-- from an arrival, which only who asked knew.

COMMENT ON TYPE rooms.outcome IS
    'What became of a command: what was done, or the word for why not. nights count from arrival';
COMMENT ON COLUMN rooms.idempotency_key.content IS
    'A hash of the command, the same in all back ends';

-- Books a room, or holds it for ttl_ms.
CREATE OR REPLACE FUNCTION rooms.enter(
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
