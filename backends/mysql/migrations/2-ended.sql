CREATE TABLE IF NOT EXISTS ended (
  slot       INT UNSIGNED NOT NULL COMMENT 'the lower 32 bits of a reference',
  generation INT UNSIGNED NOT NULL COMMENT 'all references of the slot up to this one have ended',
  PRIMARY KEY (slot) USING BTREE
) ENGINE={ENGINE} COMMENT='references that were over before the state was copied to here';
