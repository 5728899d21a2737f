-- Bookings have their room, nights their room and booking.
--
-- The keys are checked at the end of each statement: every function inserts the room before the booking
-- and the booking before its nights, and a copy inserts the last two in one statement. Deferred to the
-- commit, an error would name no statement, and the checks of a large copy would wait in memory.
--
-- rooms.night has no index by booking: every booking would write it, and nothing here deletes bookings.
-- Deleting one by hand reads all nights.

-- A large table takes longer to check than a statement may run.
SET LOCAL statement_timeout = 0;

LOCK TABLE rooms.room, rooms.booking, rooms.night IN SHARE ROW EXCLUSIVE MODE;

DO $$
DECLARE
    orphans text;
BEGIN
    SELECT string_agg(
        format('%s: %s, such as %s', orphan.what, orphan.rows, orphan.example), '; '
        ORDER BY orphan.what
    ) INTO orphans
    FROM (
        SELECT 'rooms.booking without room' AS what, count(*) AS rows,
               format('reference %s', min(b.reference)) AS example
        FROM rooms.booking b LEFT JOIN rooms.room r USING (room) WHERE r.room IS NULL
        UNION ALL
        SELECT 'rooms.night without booking', count(*), format('booking %s', min(n.booking))
        FROM rooms.night n LEFT JOIN rooms.booking b ON b.reference = n.booking
        WHERE b.reference IS NULL
        UNION ALL
        SELECT 'rooms.night without room', count(*), format('room %s', min(n.room))
        FROM rooms.night n LEFT JOIN rooms.room r USING (room) WHERE r.room IS NULL
    ) orphan WHERE orphan.rows > 0;
    IF orphans IS NOT NULL THEN
        RAISE EXCEPTION 'found rows that point to nothing: %. '
            'Restore what is missing or delete these rows, then start again', orphans
        USING ERRCODE = 'foreign_key_violation';
    END IF;
END $$;

ALTER TABLE rooms.booking
    ADD CONSTRAINT booking_room_fkey FOREIGN KEY (room) REFERENCES rooms.room;
ALTER TABLE rooms.night
    ADD CONSTRAINT night_room_fkey FOREIGN KEY (room) REFERENCES rooms.room,
    ADD CONSTRAINT night_booking_fkey FOREIGN KEY (booking) REFERENCES rooms.booking
