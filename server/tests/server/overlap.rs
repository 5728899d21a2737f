//! Much load on a durable server: groups go to the disk while the next are made.

use super::client::{Server, book};

const CLIENTS: usize = 16;

/// Requests of one client at a time.
const DEPTH: usize = 48;

/// Every request is followed by its number, so that the order of the answers shows.
fn requests(client: usize, round: usize) -> String {
    (0..DEPTH)
        .map(|number| book(&format!("r{client}-{round}-{number}")) + &format!("ECHO n{number}\n"))
        .collect()
}

#[test]
fn overlapping_groups_answer_everything_once_in_order_and_durably() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let mut owner = server.client();
    owner.exchange("ROOMS.PROPERTY bench OPEN\n", "*2|:1|:1|");
    let counters = server.running().counters().clone();
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| server.client()).collect();
    let mut rounds = 0;
    // A group costs more work here than two syncs: it soon overlaps, and then goes on for a while.
    while counters.groups_overlapped.get() < 20 {
        assert!(
            rounds < 500,
            "no overlap with {} groups",
            counters.groups.get()
        );
        for (number, client) in clients.iter_mut().enumerate() {
            client.send(requests(number, rounds));
        }
        for client in &mut clients {
            let answers = client.until(&format!("n{}\r\n", DEPTH - 1));
            let numbers: Vec<_> = answers
                .lines()
                .filter_map(|line| line.strip_prefix('n')?.parse::<usize>().ok())
                .collect();
            assert_eq!(numbers, (0..DEPTH).collect::<Vec<_>>());
            assert_eq!(answers.matches("*4\r\n:1\r\n").count(), DEPTH);
        }
        rounds += 1;
    }
    server.stop();
    let again = Server::durable(directory.path());
    let records = again.running().recovery().records;
    // The first record added the property.
    assert_eq!(records, (rounds * CLIENTS * DEPTH + 1) as u64);
    again.stop();
}
