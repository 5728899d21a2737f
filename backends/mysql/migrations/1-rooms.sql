CREATE TABLE IF NOT EXISTS properties (
  name          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number        BIGINT UNSIGNED NOT NULL COMMENT 'in the order in which properties came',
  is_open       BOOLEAN NOT NULL COMMENT 'every room name exists',
  rooms_known   INT UNSIGNED NOT NULL COMMENT 'rooms ever named, withdrawn ones with them',
  rooms_in_sale INT UNSIGNED NOT NULL,
  lowest_number INT UNSIGNED NOT NULL COMMENT 'where the search for an unused room number begins',
  PRIMARY KEY (name) USING BTREE,
  UNIQUE KEY by_number (number) USING BTREE
) ENGINE={ENGINE} COMMENT='houses with rooms';

CREATE TABLE IF NOT EXISTS rooms (
  property  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  room_type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number    BIGINT UNSIGNED NOT NULL COMMENT 'in the order in which rooms came',
  withdrawn BOOLEAN NOT NULL COMMENT 'out of sale for good',
  loose     BOOLEAN NOT NULL COMMENT 'of an open property, and nobody added it',
  place     VARBINARY(200) NOT NULL COMMENT 'sorts as people count: 9 before 10',
  PRIMARY KEY (property, name) USING BTREE,
  UNIQUE KEY by_number (number) USING BTREE,
  KEY by_place (property, loose, place) USING BTREE,
  KEY by_type (property, room_type) USING BTREE,
  FOREIGN KEY (property) REFERENCES properties (name)
) ENGINE={ENGINE} COMMENT='rooms of properties';

CREATE TABLE IF NOT EXISTS bookings (
  reference BIGINT UNSIGNED NOT NULL COMMENT 'what the guest keeps, as a number',
  property  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  room      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  arrival   DATE NOT NULL,
  departure DATE NOT NULL COMMENT 'the first night that is free again',
  principal VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'who asked',
  guest     VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  seal      BIGINT UNSIGNED NOT NULL COMMENT 'keyed hash of the id number',
  last_four SMALLINT UNSIGNED NOT NULL COMMENT 'last digits of the id number',
  since     DATETIME(3) NOT NULL COMMENT 'when it was booked or held, UTC',
  position  BIGINT UNSIGNED NOT NULL COMMENT 'of the command that last changed it',
  state     ENUM('booked','cancelled') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (reference) USING BTREE,
  KEY by_room (property, room, arrival) USING BTREE,
  KEY by_guest (seal, position) USING BTREE,
  FOREIGN KEY (property, room) REFERENCES rooms (property, name),
  CHECK (arrival < departure)
) ENGINE={ENGINE} COMMENT='bookings, cancelled ones with them';

CREATE TABLE IF NOT EXISTS holds (
  reference  BIGINT UNSIGNED NOT NULL COMMENT 'the booking has the same when it is confirmed',
  property   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  room       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  arrival    DATE NOT NULL,
  departure  DATE NOT NULL COMMENT 'the first night that is free again',
  principal  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'who asked',
  since      DATETIME(3) NOT NULL COMMENT 'when it was made, UTC',
  held_until DATETIME(3) NOT NULL COMMENT 'UTC',
  made       BIGINT UNSIGNED NOT NULL COMMENT 'position of the command that made it',
  position   BIGINT UNSIGNED NOT NULL COMMENT 'of the command that last changed it',
  state      ENUM('held','expired','confirmed','released','forgotten')
             CHARACTER SET ascii COLLATE ascii_bin NOT NULL
             COMMENT 'held ones are over at held_until, whether or not that is noted yet',
  PRIMARY KEY (reference) USING BTREE,
  KEY by_room (property, room, arrival) USING BTREE,
  KEY by_principal (principal, state, made) USING BTREE,
  KEY by_end (state, held_until) USING BTREE,
  FOREIGN KEY (property, room) REFERENCES rooms (property, name),
  CHECK (arrival < departure)
) ENGINE={ENGINE} COMMENT='holds, those that ended with them';

CREATE TABLE IF NOT EXISTS nights (
  property   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  night      DATE NOT NULL,
  room       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reference  BIGINT UNSIGNED NOT NULL COMMENT 'of the booking or hold',
  held_until DATETIME(3) NULL COMMENT 'UTC; NULL when it is booked',
  PRIMARY KEY (property, night, room) USING BTREE
) ENGINE={ENGINE} COMMENT='taken nights: each room once, which is what prevents a double sale';

CREATE TABLE IF NOT EXISTS stops (
  property VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  night    DATE NOT NULL,
  room     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (property, night, room) USING BTREE
) ENGINE={ENGINE} COMMENT='nights on which the sale of a room is stopped';

CREATE TABLE IF NOT EXISTS idempotency_keys (
  principal VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  idem_key  VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  content   BINARY(16) NOT NULL COMMENT 'hash of the command',
  position  BIGINT UNSIGNED NOT NULL COMMENT 'of the command',
  outcome   VARBINARY(255) NOT NULL COMMENT 'what was answered first',
  since     DATETIME(3) NOT NULL COMMENT 'UTC; remembered for a day',
  PRIMARY KEY (principal, idem_key) USING BTREE,
  KEY by_age (since) USING BTREE
) ENGINE={ENGINE} COMMENT='commands that are decided once, however often they are sent';

CREATE TABLE IF NOT EXISTS counters (
  id              TINYINT UNSIGNED NOT NULL COMMENT '1: whoever decides locks this row',
  position        BIGINT UNSIGNED NOT NULL COMMENT 'of the last command',
  next_reference  BIGINT UNSIGNED NOT NULL,
  next_room       BIGINT UNSIGNED NOT NULL,
  next_property   BIGINT UNSIGNED NOT NULL,
  bookings        BIGINT UNSIGNED NOT NULL COMMENT 'that stand now',
  booked_total    BIGINT UNSIGNED NOT NULL,
  cancelled_total BIGINT UNSIGNED NOT NULL,
  held_total      BIGINT UNSIGNED NOT NULL,
  expired_total   BIGINT UNSIGNED NOT NULL COMMENT 'holds that are noted as expired',
  stops           BIGINT UNSIGNED NOT NULL COMMENT 'rows of the table stops',
  PRIMARY KEY (id) USING BTREE
) ENGINE={ENGINE} COMMENT='one row';

CREATE TABLE IF NOT EXISTS writers (
  writer BIGINT UNSIGNED NOT NULL COMMENT 'one for each connection of a server that decides',
  batch  BIGINT UNSIGNED NOT NULL COMMENT 'the last that it committed, to be looked up when in doubt',
  since  DATETIME(3) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (writer) USING BTREE,
  KEY by_age (since) USING BTREE
) ENGINE={ENGINE} COMMENT='who writes, and how far it came';
