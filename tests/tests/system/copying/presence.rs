//! Copies and servers keep each other out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use turnstile_contract::{Backend as _, Failure, Request};
use turnstile_rooms::{Outcome, Rooms};
use turnstile_server::CopyPlace;
use turnstile_types::Principal;

use super::{
    block_on,
    interrupted::{NOW, booking, execute, furnish},
    places::{Any, Place, every_place, opened},
};

/// Why a place is not opened as a side of a copy.
async fn refused(place: &Place) -> String {
    let place: CopyPlace = place.url().parse().unwrap();
    match place.open().await {
        Err(reason) => reason,
        // A directory is looked at when it is read.
        Ok(mut side) => side.head().await.unwrap_err().to_string(),
    }
}

#[test]
fn what_is_copied_is_neither_served_nor_copied_by_another_until_the_copy_ends() {
    let places = every_place();
    block_on(async {
        for place in &places {
            furnish(place).await;
            let mut side = opened(&place.url()).await;
            side.head().await.unwrap();
            let words = if place.url().starts_with("embedded:") {
                "another process has the journal's directory"
            } else {
                "its rooms are being copied"
            };
            let served = Any::open(&place.url()).await.unwrap_err();
            assert!(served.contains(words), "{place:?}: {served}");
            let copied = refused(place).await;
            assert!(copied.contains(words), "{place:?}: {copied}");
            drop(side);
            let backend = Any::open(&place.url()).await.unwrap();
            let answered = execute(&backend, &booking("Alan")).await;
            assert!(
                matches!(answered, Outcome::Refused(_)),
                "{place:?}: {answered:?}"
            );
        }
    });
}

/// A server that has lost its connections, and comes back while a copy runs, decides nothing until the copy
/// has ended. It serves on by itself then.
#[test]
fn a_server_that_comes_back_during_a_copy_waits_for_its_end() {
    let in_postgres = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE application_name LIKE 'turnstile%'";
    let rows = [
        (Place::postgres(), in_postgres),
        (Place::maria("innodb"), "KILL USER turnstile"),
        (Place::maria("memory"), "KILL USER turnstile"),
        (Place::redis(), "CLIENT KILL TYPE normal"),
    ];
    block_on(async {
        for (place, cut) in rows {
            furnish(&place).await;
            let backend = Any::open(&place.url()).await.unwrap();
            let found = refused(&place).await;
            assert!(
                found.contains("a server is connected"),
                "{place:?}: {found}"
            );
            place.meddle(cut);
            let side = opened(&place.url()).await;
            // The first that is asked may be the one that notices what was lost.
            drop(backend.tick(NOW).await);
            let request = [Request::new::<Rooms>(
                Principal::local(),
                None,
                &booking("Alan"),
            )];
            let decided = backend.execute(NOW, &request).await.remove(0);
            let reason = match decided {
                Err(Failure::Unavailable { reason }) => reason,
                other => panic!("{place:?}: {other:?}"),
            };
            assert!(
                reason.contains("its rooms are being copied"),
                "{place:?}: {reason}"
            );
            drop(side);
            let answered = loop {
                match backend.execute(NOW, &request).await.remove(0) {
                    Err(Failure::Unavailable { .. }) => {}
                    decided => break decided.unwrap().outcome,
                }
            };
            assert!(
                matches!(answered, Outcome::Refused(_)),
                "{place:?}: {answered:?}"
            );
        }
    });
}
