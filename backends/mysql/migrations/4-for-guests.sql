CREATE TABLE IF NOT EXISTS cancellations (
  reference BIGINT UNSIGNED NOT NULL COMMENT 'of the booking',
  principal VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the manager',
  reason    VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  since     DATETIME(3) NOT NULL COMMENT 'when, UTC',
  PRIMARY KEY (reference) USING BTREE
) ENGINE={ENGINE} COMMENT='bookings that a manager cancelled for the guest, without the id number';
