//! Rows that point to nothing: refused, and named when an older version let them in.

use turnstile_contract::{Unready, conformance::Stand};
use turnstile_postgres::Postgres;
use turnstile_rooms::Rooms;
use turnstile_trial::PostgresServer;

use crate::{
    stand::Cluster,
    words::{NOW, add_property, book, execute, given},
};

const BOOKING: &str = "
    INSERT INTO rooms.booking (reference, state, room, arrival, departure, principal, since, position,
        made, guest_seal)
    VALUES (9000, 'booked', 7000, '2027-05-01', '2027-05-03', 'local', now(), 1, 1, 77)";

/// A night of a booking, in a room.
fn night(room: &str, booking: &str) -> String {
    format!(
        "INSERT INTO rooms.night SELECT {room}, '2027-05-01', {booking} FROM rooms.booking b LIMIT 1"
    )
}

/// Runs a statement that must violate a foreign key.
fn refuse(server: &PostgresServer, statement: &str) {
    let block = format!(
        "DO $$ BEGIN
            BEGIN {statement}; EXCEPTION WHEN foreign_key_violation THEN RETURN; END;
            RAISE 'accepted';
        END $$"
    );
    server.sql("test_0", &block);
}

async fn with_a_booking(cluster: &Cluster) {
    let backend = cluster.fresh().await;
    execute(&backend, NOW, add_property())
        .await
        .expect("the property is new");
    given(&execute(&backend, NOW, book("", "1", "Ada")).await);
}

#[tokio::test]
async fn a_booking_has_its_room() {
    let cluster = Cluster::start();
    with_a_booking(&cluster).await;
    refuse(&cluster.server, BOOKING);
    refuse(&cluster.server, "DELETE FROM rooms.room");
}

#[tokio::test]
async fn a_night_has_its_room_and_booking() {
    let cluster = Cluster::start();
    with_a_booking(&cluster).await;
    refuse(&cluster.server, &night("7000", "b.reference"));
    refuse(&cluster.server, &night("b.room", "9000"));
    refuse(&cluster.server, "DELETE FROM rooms.booking");
}

/// The tables of the version before the foreign keys, with rows that the keys refuse.
#[tokio::test]
async fn orphans_of_an_older_version_are_named_at_the_start() {
    let cluster = Cluster::start();
    with_a_booking(&cluster).await;
    let sql = |text: &str| cluster.server.sql("test_0", text);
    sql(
        "ALTER TABLE rooms.night DROP CONSTRAINT IF EXISTS night_room_fkey,
             DROP CONSTRAINT IF EXISTS night_booking_fkey;
         ALTER TABLE rooms.booking DROP CONSTRAINT IF EXISTS booking_room_fkey;
         DROP TYPE rooms.request CASCADE;
         DROP FUNCTION rooms.cancel_for_guest, rooms.covers, rooms.move_booking, rooms.take_for;
         ALTER TYPE rooms.outcome DROP ATTRIBUTE from_room;
         CREATE FUNCTION rooms.execute(timestamptz, rooms.command[]) RETURNS void LANGUAGE sql AS '';
         DROP TABLE rooms.cancellation;
         DELETE FROM turnstile.migration WHERE schema = 'rooms' AND number >= 7",
    );
    sql(BOOKING);
    sql(&night("7001", "9001"));
    let url = format!(
        "postgres://turnstile:sesame@127.0.0.1:{}/test_0",
        cluster.server.port()
    );
    let refused = Postgres::<Rooms>::open(&url).await.unwrap_err();
    let Unready::Unusable(reason) = &refused.why else {
        panic!("{refused}");
    };
    assert_eq!(
        reason,
        "found rows that point to nothing: rooms.booking without room: 1, such as reference 9000; \
         rooms.night without booking: 1, such as booking 9001; \
         rooms.night without room: 1, such as room 7001. \
         Restore what is missing or delete these rows, then start again (23503)"
    );

    sql("DELETE FROM rooms.night WHERE room = 7001; DELETE FROM rooms.booking WHERE room = 7000");
    let backend = Postgres::<Rooms>::open(&url).await.unwrap();
    given(&execute(&backend, NOW, book("", "2", "Ada")).await);
    assert_eq!(sql("SELECT count(*) FROM rooms.night"), "4\n");
    refuse(&cluster.server, BOOKING);
}
