CREATE TABLE IF NOT EXISTS undo_parts (
  part     INT UNSIGNED NOT NULL,
  sql_text VARBINARY(8000) NOT NULL,
  PRIMARY KEY (part) USING BTREE
) ENGINE=MEMORY COMMENT='statements that take back a batch that was cut off';

CREATE TABLE IF NOT EXISTS undo_head (
  id    TINYINT UNSIGNED NOT NULL,
  parts INT UNSIGNED NOT NULL COMMENT '0: the last batch is whole',
  PRIMARY KEY (id) USING BTREE
) ENGINE=MEMORY COMMENT='one row: how many undo_parts count';
