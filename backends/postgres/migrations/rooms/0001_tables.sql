CREATE SCHEMA rooms;
COMMENT ON SCHEMA rooms IS 'Rooms of properties, booked and held by the night';

CREATE SEQUENCE rooms.position;
COMMENT ON SEQUENCE rooms.position IS
    'Numbers the commands; of two that concern each other, the one decided later has the greater';
CREATE SEQUENCE rooms.reference MINVALUE 0 START 0;
COMMENT ON SEQUENCE rooms.reference IS 'Numbers bookings and holds; guests know it as R...';

CREATE TABLE rooms.property (
    property bigint PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    open boolean NOT NULL,
    numbered integer NOT NULL DEFAULT 0
);
COMMENT ON TABLE rooms.property IS 'Houses with rooms';
COMMENT ON COLUMN rooms.property.property IS 'The position of the command that added it';
COMMENT ON COLUMN rooms.property.open IS 'Whether a room begins to exist when it is first booked';
COMMENT ON COLUMN rooms.property.numbered IS 'Rooms with the names 1 up to this one all exist';

CREATE TABLE rooms.room (
    room bigint PRIMARY KEY,
    property bigint NOT NULL REFERENCES rooms.property,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    in_sale boolean NOT NULL DEFAULT true,
    place bytea NOT NULL,
    UNIQUE (property, name)
);
CREATE INDEX room_by_place ON rooms.room (property, place) WHERE in_sale;
CREATE INDEX room_by_kind ON rooms.room (property, kind, place) WHERE in_sale;
COMMENT ON TABLE rooms.room IS 'Rooms, those withdrawn from sale with them';
COMMENT ON COLUMN rooms.room.room IS 'The position of the command that first named it';
COMMENT ON COLUMN rooms.room.kind IS 'Its type, such as double';
COMMENT ON COLUMN rooms.room.place IS
    'Orders the rooms of a property as people count them. Those of the type open in an open '
    'property begin with FF, come last, and are ordered by their first naming';

CREATE TYPE rooms.state AS ENUM (
    'held', 'booked', 'expired', 'released', 'cancelled', 'forgotten'
);
COMMENT ON TYPE rooms.state IS
    'held and booked have their nights, a held one until held_until; expired can be confirmed '
    'late for a day, and is forgotten then; the others are over';

CREATE TABLE rooms.booking (
    reference bigint PRIMARY KEY,
    state rooms.state NOT NULL,
    room bigint NOT NULL,
    arrival date NOT NULL,
    departure date NOT NULL,
    principal text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    position bigint NOT NULL,
    made bigint NOT NULL,
    held_until timestamptz,
    guest text,
    guest_seal bigint,
    guest_last_four smallint,
    CHECK (departure > arrival),
    CHECK (state NOT IN ('held', 'expired') OR held_until IS NOT NULL),
    CHECK (state NOT IN ('booked', 'cancelled') OR guest_seal IS NOT NULL)
);
CREATE INDEX booking_by_guest ON rooms.booking (guest_seal, position DESC) WHERE state = 'booked';
CREATE INDEX hold_by_principal ON rooms.booking (principal, made) WHERE state = 'held';
CREATE INDEX hold_by_end ON rooms.booking (held_until) WHERE state = 'held';
CREATE INDEX expired_by_end ON rooms.booking (held_until) WHERE state = 'expired';
COMMENT ON TABLE rooms.booking IS 'Bookings and holds, those that are over with them';
COMMENT ON COLUMN rooms.booking.principal IS 'Who booked or held it';
COMMENT ON COLUMN rooms.booking.since IS 'When it was booked or held';
COMMENT ON COLUMN rooms.booking.position IS 'The command that last changed it';
COMMENT ON COLUMN rooms.booking.made IS 'The command that made it';
COMMENT ON COLUMN rooms.booking.guest_seal IS
    'The id number of the guest under the secret of this database: equal for equal numbers';

CREATE TABLE rooms.night (
    room bigint NOT NULL,
    night date NOT NULL,
    booking bigint NOT NULL,
    until timestamptz,
    PRIMARY KEY (room, night)
);
COMMENT ON TABLE rooms.night IS
    'The nights that are taken: its primary key is why none is ever sold twice';
COMMENT ON COLUMN rooms.night.until IS 'When a hold gives it back; nothing for a booking';

CREATE TABLE rooms.stopped_night (
    room bigint NOT NULL,
    night date NOT NULL,
    PRIMARY KEY (room, night)
);
COMMENT ON TABLE rooms.stopped_night IS 'Nights on which a room is not sold';

CREATE TYPE rooms.outcome AS (
    answer text,
    reference bigint,
    room text,
    until timestamptz,
    late boolean,
    arrival date,
    departure date,
    nights smallint[],
    bound integer
);
COMMENT ON TYPE rooms.outcome IS
    'What became of a command: what was done, or the word for why not. nights count from the '
    'arrival that was asked for';

CREATE TABLE rooms.idempotency_key (
    principal text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    content bigint NOT NULL,
    at timestamptz NOT NULL,
    position bigint NOT NULL,
    outcome rooms.outcome NOT NULL,
    PRIMARY KEY (principal, key)
);
CREATE INDEX idempotency_key_by_age ON rooms.idempotency_key (at);
COMMENT ON TABLE rooms.idempotency_key IS
    'What was first answered under a key; remembered for a day';
COMMENT ON COLUMN rooms.idempotency_key.content IS 'A hash of the command';

CREATE TABLE rooms.tally (
    shard integer PRIMARY KEY,
    booked bigint NOT NULL DEFAULT 0,
    cancelled bigint NOT NULL DEFAULT 0,
    held bigint NOT NULL DEFAULT 0,
    expired bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
COMMENT ON TABLE rooms.tally IS
    'What was done since the beginning: the sum of all rows. Each connection counts in its own, '
    'so that none waits for another';

CREATE TABLE rooms.size (
    property bigint NOT NULL REFERENCES rooms.property,
    shard integer NOT NULL,
    named integer NOT NULL DEFAULT 0,
    in_sale integer NOT NULL DEFAULT 0,
    PRIMARY KEY (property, shard)
) WITH (fillfactor = 50);
COMMENT ON TABLE rooms.size IS 'How many rooms a property has: the sum of its rows';

CREATE VIEW rooms.standing AS
    SELECT p.name AS property, r.name AS room, r.kind, b.arrival, b.departure, b.state, b.guest,
           '********' || lpad(b.guest_last_four::text, 4, '0') AS id_number, b.principal, b.since,
           b.held_until, b.reference
    FROM rooms.booking b JOIN rooms.room r USING (room) JOIN rooms.property p USING (property)
    WHERE b.state = 'booked' OR b.state = 'held' AND b.held_until > now();
COMMENT ON VIEW rooms.standing IS 'Bookings and open holds, to be read by people'
