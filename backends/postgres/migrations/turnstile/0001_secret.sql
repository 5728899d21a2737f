-- One row: the secret under which every server on this database seals id numbers. Whoever can read
-- it can find out by trying whose number a seal is.
CREATE TABLE turnstile.secret (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    id_key bytea NOT NULL CHECK (length(id_key) = 16)
);
COMMENT ON TABLE turnstile.secret IS 'The secret under which id numbers of guests are sealed';
INSERT INTO turnstile.secret (id_key) VALUES (
    substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) FOR 16)
)
