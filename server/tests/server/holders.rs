//! Whose holds and bookings a caller may name, wherever rooms are kept: in the journal or in a database.

use std::fmt::Write as _;

use turnstile_trial::{MariaServer, PostgresServer, RedisServer};

use super::{
    access::key,
    client::{Client, Server},
};

const GUEST: &str = "234123412346";

/// The principals, each with the number of its key and its grants.
const PRINCIPALS: [(&str, u8, &[&str]); 6] = [
    ("root", 1, &["admin *"]),
    ("ada", 2, &["rooms.user *"]),
    ("bob", 3, &["rooms.user *"]),
    ("keeper", 4, &["rooms.user grand*", "rooms.manager grand"]),
    ("other", 5, &["rooms.manager plaza"]),
    ("chief", 6, &["rooms.manager *"]),
];

fn ask(client: &mut Client, line: &str) -> String {
    client.send(format!("{line}\r\nECHO marker\r\n"));
    let answer = client.until("marker\r\n");
    answer.trim_end_matches("$6\r\nmarker\r\n").to_owned()
}

/// A server that keeps rooms there, with two properties and a principal for each kind of caller.
fn guarded(rooms: Option<&str>) -> Server {
    let server = Server::over_http_from(rooms);
    let mut root = server.client();
    let mut say = |line: &str| {
        let answer = ask(&mut root, line);
        assert!(!answer.starts_with('-'), "{line}: {answer}");
    };
    say("ROOMS.ADD-PROPERTY grand OPEN");
    say("ROOMS.ADD-PROPERTY plaza OPEN");
    for (name, number, grants) in PRINCIPALS {
        say(&format!("ACCESS.ADD-PRINCIPAL {name}"));
        for grant in grants {
            say(&format!("ACCESS.GRANT {name} {grant}"));
        }
        let secret = key(number);
        let (id, digest) = (secret.id(), secret.digest().hex());
        // With the first key the server asks for one.
        let login = match name {
            "root" => format!("\r\nAUTH {}", secret.expose()),
            _ => String::new(),
        };
        say(&format!("ACCESS.ADD-KEY {name} {id} {digest}{login}"));
    }
    server
}

fn logged_in(server: &Server, name: &str) -> Client {
    let (_, number, _) = PRINCIPALS.into_iter().find(|one| one.0 == name).unwrap();
    let mut client = server.client();
    let answer = ask(&mut client, &format!("AUTH {}", key(number).expose()));
    assert_eq!(answer, "+OK\r\n");
    client
}

/// What was asked and how it was answered, line by line: `done`, the reason of a refusal, or an error.
struct Story {
    server: Server,
    told: String,
}

impl Story {
    /// Asks as a principal, and answers the reference that was given, if one was.
    fn tell(&mut self, name: &str, line: &str) -> String {
        let mut client = logged_in(&self.server, name);
        let answer = ask(&mut client, line);
        let mut lines = answer.split("\r\n");
        let (first, is_done) = (lines.next().unwrap(), lines.next() == Some(":1"));
        let word = match first.strip_prefix('-') {
            Some(error) => error.to_owned(),
            None if is_done => "done".to_owned(),
            None => lines.nth(1).unwrap().to_owned(),
        };
        let (verb, _) = line.split_once(' ').unwrap();
        writeln!(self.told, "{name} {verb}: {word}").unwrap();
        let reference = answer.split("\r\n").find(|line| line.starts_with('R'));
        reference.unwrap_or_default().to_owned()
    }

    /// Looks a booking up as a principal.
    fn look(&mut self, name: &str, reference: &str) {
        let mut client = logged_in(&self.server, name);
        let answer = ask(&mut client, &format!("ROOMS.LOOK-UP {reference}"));
        let word = match answer.strip_prefix('-') {
            Some(error) => error.trim_end(),
            None if answer.contains(reference) => "shown",
            None => "not there",
        };
        writeln!(self.told, "{name} ROOMS.LOOK-UP: {word}").unwrap();
    }
}

const EXPECTED: &str = "\
ada ROOMS.HOLD: done
bob ROOMS.EXTEND: NOPERM another principal holds it: this needs the right rooms.manage
bob ROOMS.RELEASE: NOPERM another principal holds it: this needs the right rooms.manage
bob ROOMS.CONFIRM: NOPERM another principal holds it: this needs the right rooms.manage
other ROOMS.RELEASE: NOPERM your right rooms.use is not for this
ada ROOMS.EXTEND: done
keeper ROOMS.RELEASE: done
keeper ROOMS.RELEASE: done
keeper ROOMS.RELEASE: NOPERM your right rooms.use is not for this
bob ROOMS.RELEASE: ended
ada ROOMS.HOLD: done
ada ROOMS.CONFIRM: done
bob ROOMS.CONFIRM: NOPERM another principal holds it: this needs the right rooms.manage
ada ROOMS.CONFIRM: already_confirmed
bob ROOMS.CANCEL: done
keeper ROOMS.LOOK-UP: NOPERM your right rooms.read is not for this
chief ROOMS.LOOK-UP: not there
ada ROOMS.BOOK: done
keeper ROOMS.LOOK-UP: shown
other ROOMS.LOOK-UP: NOPERM your right rooms.read is not for this
bob ROOMS.LOOK-UP: shown
ada ROOMS.CANCEL-FOR-GUEST: NOPERM this needs the right rooms.manage
other ROOMS.CANCEL-FOR-GUEST: NOPERM your right rooms.manage is not for this
keeper ROOMS.CANCEL-FOR-GUEST: done
keeper ROOMS.CANCEL-FOR-GUEST: done
other ROOMS.CANCEL-FOR-GUEST: NOPERM your right rooms.manage is not for this
chief ROOMS.CANCEL-FOR-GUEST: ended
";

/// A user holds and books, and others try what they may.
fn check(rooms: Option<&str>) {
    const NIGHTS: &str = "2027-05-01 2027-05-03";
    let mut story = Story {
        server: guarded(rooms),
        told: String::new(),
    };
    let held = story.tell("ada", &format!("ROOMS.HOLD grand r1 {NIGHTS}"));
    story.tell("bob", &format!("ROOMS.EXTEND {held} 60"));
    story.tell("bob", &format!("ROOMS.RELEASE {held} KEY k"));
    story.tell("bob", &format!("ROOMS.CONFIRM {held} Bob {GUEST}"));
    story.tell("other", &format!("ROOMS.RELEASE {held}"));
    story.tell("ada", &format!("ROOMS.EXTEND {held} 60"));
    // Sent again under its key, it gets its first answer, though the hold is not there any more.
    story.tell("keeper", &format!("ROOMS.RELEASE {held} KEY k"));
    story.tell("keeper", &format!("ROOMS.RELEASE {held} KEY k"));
    story.tell("keeper", &format!("ROOMS.RELEASE {held} KEY l"));
    // What was forbidden has left no key.
    story.tell("bob", &format!("ROOMS.RELEASE {held} KEY k"));

    let held = story.tell("ada", &format!("ROOMS.HOLD grand r1 {NIGHTS}"));
    story.tell("ada", &format!("ROOMS.CONFIRM {held} Ada {GUEST}"));
    story.tell("bob", &format!("ROOMS.CONFIRM {held} Bob {GUEST}"));
    story.tell("ada", &format!("ROOMS.CONFIRM {held} Ada {GUEST}"));
    // Whoever knows the id number cancels.
    story.tell("bob", &format!("ROOMS.CANCEL {held} {GUEST}"));
    // Who is limited learns nothing of what is not there.
    story.look("keeper", &held);
    story.look("chief", &held);

    let booked = story.tell("ada", &format!("ROOMS.BOOK grand r1 {NIGHTS} Ada {GUEST}"));
    for name in ["keeper", "other", "bob"] {
        story.look(name, &booked);
    }
    story.tell("ada", &format!("ROOMS.CANCEL-FOR-GUEST {booked} why"));
    story.tell("other", &format!("ROOMS.CANCEL-FOR-GUEST {booked} why"));
    story.tell(
        "keeper",
        &format!("ROOMS.CANCEL-FOR-GUEST {booked} why KEY c"),
    );
    story.tell(
        "keeper",
        &format!("ROOMS.CANCEL-FOR-GUEST {booked} why KEY c"),
    );
    story.tell("other", &format!("ROOMS.CANCEL-FOR-GUEST {booked} why"));
    story.tell("chief", &format!("ROOMS.CANCEL-FOR-GUEST {booked} why"));
    assert_eq!(story.told, EXPECTED);
    story.server.stop();
}

#[test]
fn in_the_journal_others_use_no_hold_and_managers_act_for_guests() {
    check(None);
}

#[test]
fn in_postgres_others_use_no_hold_and_managers_act_for_guests() {
    let server = PostgresServer::start();
    check(Some(&server.database()));
}

#[test]
fn in_mariadb_others_use_no_hold_and_managers_act_for_guests() {
    let server = MariaServer::start();
    check(Some(&server.database()));
}

#[test]
fn in_redis_others_use_no_hold_and_managers_act_for_guests() {
    let server = RedisServer::start();
    check(Some(&server.url()));
}
