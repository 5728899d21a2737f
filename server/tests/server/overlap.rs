//! Much load on a durable server: groups go to the disk while the next are made.

use std::{
    fs,
    fs::File,
    mem::ManuallyDrop,
    os::fd::{FromRawFd, OwnedFd},
    path::Path,
};

use tempfile::TempDir;
use tokio::sync::oneshot;
use turnstile_embedded::CommitError;
use turnstile_server::{Ask, StopError};

use super::client::{Client, Server, book};

/// Clients who book, and clients who trade.
const CLIENTS: usize = 16;
const TRADERS: usize = 4;

/// Requests of one client at a time.
const DEPTH: usize = 48;
const ORDERS: usize = 8;

/// Records of one round.
const RECORDS: usize = CLIENTS * DEPTH + TRADERS * ORDERS;

/// Records before the first: a property, and an account for every trader.
const SETTING_UP: usize = 1 + TRADERS;

/// So often may a group that the disk fails be one that the loop wrote itself.
const ATTEMPTS: usize = 20;

/// Clients of all kinds who load a server.
struct Crowd {
    clients: Vec<Client>,
    traders: Vec<Client>,
    /// Hears of everything that happens.
    follower: Client,
    rounds: usize,
}

impl Crowd {
    fn gather(server: &Server) -> Self {
        let mut owner = server.client();
        owner.exchange("ROOMS.ADD-PROPERTY bench OPEN\n", "*2|:1|:1|");
        let mut traders: Vec<_> = (0..TRADERS).map(|_| server.client_of("xml")).collect();
        for (number, trader) in traders.iter_mut().enumerate() {
            let account = format!("<account id=\"{number}\" balance=\"1000000\"/>");
            trader.send(framed(&format!("<create>{account}</create>")));
            assert!(trader.until("</results>").contains("<created "));
        }
        let mut follower = server.client();
        follower.exchange(
            "PSUBSCRIBE *.events*\n",
            "*3|$10|psubscribe|$9|*.events*|:1|",
        );
        Self {
            clients: (0..CLIENTS).map(|_| server.client()).collect(),
            traders,
            follower,
            rounds: 0,
        }
    }

    /// What client `client` asks in this round: every booking is followed by its number, so that
    /// the order of the answers shows.
    fn bookings(&self, client: usize) -> String {
        let round = self.rounds;
        (0..DEPTH)
            .map(|number| {
                book(&format!("r{client}-{round}-{number}")) + &format!("ECHO n{number}\n")
            })
            .collect()
    }

    fn orders(trader: usize) -> String {
        let orders = "<order sym=\"X\" amount=\"1\" limit=\"1\"/>".repeat(ORDERS);
        framed(&format!(
            "<transactions id=\"{trader}\">{orders}</transactions>"
        ))
    }

    fn ask(&mut self) {
        for number in 0..CLIENTS {
            let bookings = self.bookings(number);
            self.clients[number].send(bookings);
        }
        for (number, trader) in self.traders.iter_mut().enumerate() {
            trader.send(Self::orders(number));
        }
    }

    /// Everybody asks, and hears everything that is theirs once and in order.
    fn round(&mut self) {
        self.ask();
        for client in &mut self.clients {
            let answers = client.until(&format!("n{}\r\n", DEPTH - 1));
            let numbers: Vec<_> = answers
                .lines()
                .filter_map(|line| line.strip_prefix('n')?.parse::<usize>().ok())
                .collect();
            assert_eq!(numbers, (0..DEPTH).collect::<Vec<_>>());
            assert_eq!(answers.matches("*4\r\n:1\r\n").count(), DEPTH);
        }
        for trader in &mut self.traders {
            let results = trader.until("</results>");
            assert_eq!(results.matches("<opened ").count(), ORDERS, "{results}");
        }
        self.follow();
        self.rounds += 1;
    }

    /// Everybody asks once more, and the server stops: all are answered.
    fn take_leave(&mut self, server: Server) {
        self.ask();
        server.stop();
        let booked = self.clients.iter_mut().map(|client| {
            let answers = client.rest();
            answers.matches("*4|:1|").count()
        });
        assert_eq!(booked.sum::<usize>(), CLIENTS * DEPTH);
        let opened = self.traders.iter_mut().map(|trader| {
            let results = trader.rest();
            results.matches("<opened ").count()
        });
        assert_eq!(opened.sum::<usize>(), TRADERS * ORDERS);
        self.rounds += 1;
    }

    /// What was answered has been told: this round's records, those of each machine in order.
    fn follow(&mut self) {
        self.follower.send("PING\n");
        let told = self.follower.until("*2\r\n$4\r\npong\r\n$0\r\n\r\n");
        let mut all = Vec::new();
        for channel in ["rooms.events", "exchange.events.X"] {
            let positions = positions(&told, channel);
            assert!(positions.is_sorted(), "{channel}: {positions:?}");
            all.extend(positions);
        }
        all.sort_unstable();
        all.dedup();
        let first = self.records() + 1;
        assert_eq!(all, (first..first + RECORDS).collect::<Vec<_>>());
    }

    /// How many records there are now.
    fn records(&self) -> usize {
        SETTING_UP + self.rounds * RECORDS
    }
}

fn framed(xml: &str) -> String {
    format!("{}\n{xml}", xml.len())
}

/// The positions of what was told on a channel.
fn positions(told: &str, channel: &str) -> Vec<usize> {
    let on_channel = format!("\r\n{channel}\r\n");
    told.split("*4\r\n$8\r\npmessage\r\n")
        .filter(|message| message.contains(&on_channel))
        .map(|message| {
            let (_, after) = message.split_once("\"position\":").unwrap();
            let digits = after.split(|sign: char| !sign.is_ascii_digit());
            digits.take(1).collect::<String>().parse().unwrap()
        })
        .collect()
}

/// A directory whose syncs take no time, however slow the disk of this machine is at the moment.
fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    made.unwrap()
}

/// A crowd on a server whose groups overlap: a group costs more work here than two syncs, so they
/// soon do, and then go on.
fn overlapping(server: &Server, groups: u64) -> Crowd {
    let counters = server.running().counters();
    let mut crowd = Crowd::gather(server);
    while counters.groups_overlapped.get() < groups {
        assert!(
            crowd.rounds < 500,
            "no overlap with {} groups",
            counters.groups.get()
        );
        crowd.round();
    }
    crowd
}

#[test]
fn overlapping_groups_answer_and_tell_everything_once_in_order_and_durably() {
    let directory = in_memory();
    let server = Server::durable(directory.path());
    let mut crowd = overlapping(&server, 20);
    compare_figures(&server);
    crowd.take_leave(server);
    let again = Server::durable(directory.path());
    assert_eq!(again.running().recovery().records, crowd.records() as u64);
    again.stop();
}

/// `INFO` and the metrics tell alike which way the groups have gone.
fn compare_figures(server: &Server) {
    let mut client = server.client();
    client.send("INFO persistence\nQUIT\n");
    let info = client.rest().replace('|', "\n");
    let mut scraper = server.client_of("http");
    scraper.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let metrics = scraper.rest().replace('|', "\n");
    let figures = ["", "_inline", "_overlapped"].map(|way| {
        let told = figure(&info, &format!("groups{way}:"));
        let metered = figure(&metrics, &format!("turnstile_groups{way}_total "));
        assert_eq!(told, metered, "groups{way}");
        told
    });
    let [groups, inline, overlapped] = figures;
    assert_eq!(groups, inline + overlapped);
    assert!(overlapped >= 20);
}

fn figure(text: &str, name: &str) -> u64 {
    let mut values = text.lines().filter_map(|line| line.strip_prefix(name));
    values.next().unwrap().parse().unwrap()
}

/// The disk refuses the sync of a group that is under way while further requests come in. Nobody
/// hears of that group or the next, no matter how they listen; the server ends with the error of
/// the sync; and the next one knows all that was answered.
#[test]
fn a_failed_sync_beside_the_loop_ends_everything_and_takes_nothing_that_was_answered() {
    let was_beside = (0..ATTEMPTS).any(|_| {
        let directory = in_memory();
        let server = Server::durable(directory.path());
        let mut crowd = overlapping(&server, 5);
        let counters = server.running().counters().clone();
        let groups = counters.groups_overlapped.get();
        fail_syncs(directory.path());
        fall_silent(&server, &mut crowd);
        let failure = server.failure();
        assert!(
            matches!(failure, StopError::Journal(Some(CommitError::Sync(_)))),
            "{failure}"
        );
        let again = Server::durable(directory.path());
        assert_eq!(again.running().recovery().records, crowd.records() as u64);
        again.stop();
        counters.groups_overlapped.get() > groups
    });
    assert!(was_beside, "it was never the thread that met the failure");
}

/// Everybody asks again, and nobody is answered.
fn fall_silent(server: &Server, crowd: &mut Crowd) {
    let first = crowd.bookings(0);
    crowd.clients[0].send(first);
    let (reply, status) = oneshot::channel();
    let asked = server.running().gate().ask(Ask::Status { reply });
    for (number, trader) in crowd.traders.iter_mut().enumerate() {
        assert_eq!(trader.last_words(&Crowd::orders(number)), "");
    }
    for number in 1..CLIENTS {
        let bookings = crowd.bookings(number);
        assert_eq!(crowd.clients[number].last_words(&bookings), "");
    }
    assert_eq!(crowd.clients[0].last_words(""), "");
    assert_eq!(crowd.follower.last_words(""), "");
    assert!(asked.is_err() || status.blocking_recv().is_err());
}

/// From now on the segments of this journal take every write and refuse every sync, as the null
/// device does: it is put behind their numbers.
#[expect(
    unsafe_code,
    reason = "no safe call puts a file behind a number that another owns"
)]
fn fail_syncs(data: &Path) {
    let segments = fs::canonicalize(data).unwrap().join("segment-");
    let segments = segments.to_str().unwrap();
    let null = File::options().write(true).open("/dev/null").unwrap();
    let mut count = 0;
    for entry in fs::read_dir("/proc/self/fd").unwrap() {
        let entry = entry.unwrap();
        // Tests beside this one open and close files all the time.
        let Ok(path) = fs::read_link(entry.path()) else {
            continue;
        };
        if path.to_str().is_some_and(|path| path.starts_with(segments)) {
            let number = entry.file_name().to_str().unwrap().parse().unwrap();
            // SAFETY: the journal keeps this file open while its server runs, and owns it again as
            // soon as another file is behind its number; nothing here closes it.
            let mut segment = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(number) });
            rustix::io::dup2(&null, &mut segment).unwrap();
            count += 1;
        }
    }
    assert!(count > 0, "the journal has an open segment");
}
