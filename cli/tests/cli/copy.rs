//! `rooms copy`: places on the command line, what is printed, and how it ends.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
};

use turnstile_trial::{MariaServer, PostgresServer, RedisServer};

use crate::process::{Ended, Server, ask, hotel_bookings, run, turnstile, words};

const GUEST: &str = "234123412346";

/// What comes too late, under a key.
const KEYED: &str = "ROOMS.BOOK hotel 101 2027-12-24 2027-12-27 bob 234123412346 KEY too-late";

fn copy(from: &str, to: &str, more: &[&str]) -> Ended {
    let mut command = turnstile();
    command.args(["rooms", "copy", "--from", from, "--to", to]);
    run(command.args(more))
}

/// What was answered under a key is answered again, and the key is good for nothing else.
fn assert_remembered(server: &Server) {
    let again = words(&ask(&mut server.connect(), KEYED));
    assert!(again.starts_with("0 sold_out"), "{again}");
    assert!(again.ends_with("replayed"), "{again}");
    let other = KEYED.replace("bob", "eve");
    let reused = words(&ask(&mut server.connect(), &other));
    assert!(reused.contains("the idempotency key was used"), "{reused}");
}

/// A directory with the public season in it, a booking of Ada's, and Bob's key: her reference.
fn season_in(data: &Path, file: &Path) -> String {
    let server = Server::dev(data);
    let resp = server.door("resp").unwrap().to_string();
    let mut import = turnstile();
    import.args(["rooms", "import", "--resp", &resp]);
    let imported = run(import.arg(file));
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let booked = ada_books(&server);
    let sold_out = ask(&mut server.connect(), KEYED);
    assert!(words(&sold_out).starts_with("0 sold_out"), "{sold_out:?}");
    server.stop();
    let reference = booked.split(' ').nth(1);
    reference
        .unwrap_or_else(|| panic!("not booked: {booked}"))
        .to_owned()
}

fn ada_books(server: &Server) -> String {
    let line = format!("ROOMS.BOOK hotel 101 2027-12-24 2027-12-27 ada {GUEST}");
    words(&ask(&mut server.connect(), &line))
}

fn served_from(url: &str, data: &Path) -> Server {
    let mut command = turnstile();
    command.args(["dev", "--resp", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    for door in ["--xml", "--travel", "--games-arena", "--games-scores"] {
        command.args([door, "off"]);
    }
    command.args(["--rooms-backend", url]);
    Server::start(command.arg("--data").arg(data))
}

#[test]
fn the_public_season_goes_from_back_end_to_back_end_and_comes_back() {
    let Some(file) = hotel_bookings() else { return };
    let folder = tempfile::tempdir().unwrap();
    let [first, last, beside] = ["first", "last", "beside"].map(|name| folder.path().join(name));
    let reference = season_in(&first, &file);
    let (postgres, maria, redis) = (
        PostgresServer::start(),
        MariaServer::start(),
        RedisServer::start(),
    );
    let between = |number: u8| folder.path().join(format!("between-{number}"));
    let between = |number| between(number).display().to_string();
    let places = [
        first.display().to_string(),
        postgres.database(),
        between(1),
        format!("{}?engine=innodb", maria.database()),
        between(2),
        redis.url(),
        between(3),
        format!("{}?engine=memory", maria.database()),
        format!("embedded:{}", last.display()),
    ];
    let mut digest = None;
    for pair in places.windows(2) {
        let copied = copy(&pair[0], &pair[1], &[]);
        assert_eq!(copied.code, Some(0), "{copied:?}");
        assert!(copied.out.contains("and both are equal"), "{copied:?}");
        // 6,678 of the season, and Ada's.
        assert_eq!(copied.row("bookings"), "6679", "{copied:?}");
        assert!(copied.err.contains("comparing "), "{copied:?}");
        let found = copied.row("digest");
        assert_eq!(digest.get_or_insert_with(|| found.clone()), &found);
    }
    let refused = copy(&places[0], &places[1], &["--again"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("is not empty"), "{refused:?}");

    // The guest comes with the reference and the number of the first place.
    for server in [Server::dev(&last), served_from(&places[1], &beside)] {
        assert_remembered(&server);
        let again = ada_books(&server);
        assert!(again.starts_with("0 sold_out"), "{again}");
        let mut door = server.connect();
        let wrong = ask(&mut door, &format!("ROOMS.CANCEL {reference} 999999999999"));
        assert!(words(&wrong).starts_with("0 wrong_guest"), "{wrong:?}");
        let cancelled = ask(&mut door, &format!("ROOMS.CANCEL {reference} {GUEST}"));
        assert!(words(&cancelled).starts_with("1 "), "{cancelled:?}");
        assert!(ada_books(&server).starts_with("1 "));
        server.stop();
    }
    let mut verify = turnstile();
    let verified = run(verify.arg("verify").arg(&last));
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn a_copy_that_is_killed_is_not_served_until_it_is_made_again() {
    let Some(file) = hotel_bookings() else { return };
    let folder = tempfile::tempdir().unwrap();
    let [first, beside] = ["first", "beside"].map(|name| folder.path().join(name));
    season_in(&first, &file);
    let redis = RedisServer::start();
    let (from, to) = (first.display().to_string(), redis.url());
    let mut command = turnstile();
    command.args(["rooms", "copy", "--from", &from, "--to", &to]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(notes.any(|note| note.unwrap().starts_with("copying ")));
    child.kill().unwrap();
    child.wait().unwrap();

    let mut serve = turnstile();
    serve.args([
        "dev",
        "--resp",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
        "--rooms-backend",
        &to,
    ]);
    let served = run(serve.arg("--data").arg(&beside));
    assert_eq!(served.code, Some(1), "{served:?}");
    assert!(
        served.err.contains("holds an unfinished copy"),
        "{served:?}"
    );
    let refused = copy(&from, &to, &[]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.err.contains("begins anew with `--again`"),
        "{refused:?}"
    );
    let copied = copy(&from, &to, &["--again"]);
    assert_eq!(copied.code, Some(0), "{copied:?}");
    let server = served_from(&to, &beside);
    assert_remembered(&server);
    server.stop();
}

/// Two servers on each database, of which a copy says so wherever it would begin; they serve on meanwhile, and
/// when both are killed nothing of them is left.
#[test]
fn what_is_served_is_not_copied_until_its_servers_have_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: String| folder.path().join(name);
    let (postgres, maria, redis) = (
        PostgresServer::start(),
        MariaServer::start(),
        RedisServer::start(),
    );
    let places = [
        postgres.database(),
        format!("{}?engine=innodb", maria.database()),
        format!("{}?engine=memory", maria.database()),
        redis.url(),
    ];
    let source = path("source".to_owned());
    let directory = source.display().to_string();
    let own = Server::dev(&source);
    for (number, url) in places.iter().enumerate() {
        let served = ["one", "two"].map(|name| served_from(url, &path(format!("{name}-{number}"))));
        let target = path(format!("target-{number}")).display().to_string();
        for (from, to) in [(&**url, &*target), (&*target, &**url)] {
            let refused = copy(from, to, &[]);
            assert_eq!(refused.code, Some(1), "{refused:?}");
            let words = "2 servers are connected";
            assert!(refused.err.contains(words), "{refused:?}");
        }
        for (server, room) in served.iter().zip(1..) {
            let line = format!("ROOMS.BOOK hotel 10{room} 2027-12-24 2027-12-27 ada {GUEST}");
            let booked = words(&ask(&mut server.connect(), &line));
            assert!(booked.starts_with("1 "), "{booked}");
        }
        // A server that is dropped is killed, as by SIGKILL.
        drop(served);
        let copied = copy(url, &target, &[]);
        assert_eq!(copied.code, Some(0), "{copied:?}");
    }
    let refused = copy(
        &directory,
        &path("last".to_owned()).display().to_string(),
        &[],
    );
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let complaint = "another process has the journal's directory";
    assert!(refused.err.contains(complaint), "{refused:?}");
    own.stop();
}

#[test]
fn places_that_are_none_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing").display().to_string();
    let target = folder.path().join("target").display().to_string();
    let rows = [
        ("sqlite://x", &*target, 2, "a back end is postgres://"),
        (&target, &target, 2, "from one place to another"),
        (
            "redis://:secret@127.0.0.1:1/0",
            "mysql://127.0.0.1/hotel",
            2,
            "copy them over an empty directory:\n  turnstile rooms copy --from redis://127.0.0.1:1/0 \
             --to DIR\n  turnstile rooms copy --from DIR --to mysql://127.0.0.1/hotel\n",
        ),
        (
            &missing,
            &target,
            1,
            "missing: there is no journal in this directory",
        ),
        (
            "redis://127.0.0.1:1/0",
            &target,
            1,
            "127.0.0.1:1/0 is unavailable: ",
        ),
    ];
    for (from, to, code, complaint) in rows {
        let refused = copy(from, to, &[]);
        assert_eq!(refused.code, Some(code), "{refused:?}");
        assert!(refused.err.contains(complaint), "{refused:?}");
        assert!(!Path::new(&target).exists(), "{refused:?}");
    }
}

/// An error repeated the whole text of a URL that was not understood.
#[test]
fn the_password_of_a_place_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("place");
    let target = folder.path().join("target").display().to_string();
    let wrong = "rediss://:pa55word@127.0.0.1:1/0";
    let right = "redis://:pa55word@127.0.0.1:1/0";
    let check = |arguments: &[&str], code, complaint: &str| {
        let refused = run(turnstile().args(arguments));
        assert_eq!(refused.code, Some(code), "{refused:?}");
        assert!(refused.err.contains(complaint), "{refused:?}");
        assert!(!refused.err.contains("pa55word"), "{refused:?}");
    };
    let named = ["rooms", "copy", "--from", &target, "--to", wrong];
    check(&named, 2, "--to <PLACE>: a back end is postgres://");
    let reproduced = [
        "lab",
        "reproduce",
        "booking-redis",
        "--rooms-backend",
        wrong,
    ];
    check(&reproduced, 2, "--rooms-backend <URL>: a back end is");

    let shown = file.display().to_string();
    let in_file = ["rooms", "copy", "--from-file", &shown, "--to", &target];
    fs::write(&file, format!("{wrong}\n")).unwrap();
    check(&in_file, 2, &format!("{shown}: a back end is postgres://"));
    fs::write(&file, format!("{right}\n")).unwrap();
    check(&in_file, 1, "error: 127.0.0.1:1/0 is unavailable: ");
}
