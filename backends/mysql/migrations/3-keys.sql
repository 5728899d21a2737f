ALTER TABLE idempotency_keys MODIFY content VARBINARY(16) NOT NULL;

UPDATE idempotency_keys SET content=RIGHT(content, 8);

ALTER TABLE idempotency_keys
  MODIFY content BINARY(8) NOT NULL COMMENT 'hash of the command, the same in all back ends';
