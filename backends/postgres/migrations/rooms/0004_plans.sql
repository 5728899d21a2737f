-- How the locks of a batch are found: as before, but by a plan that is made once for each connection. A
-- function of plain SQL is parsed and planned anew in every transaction that calls it.

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
    ) wanted;
    RETURN locks;
END $$;
