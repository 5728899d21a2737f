//! Travel by command lines, over real sockets.

use turnstile_lines::limits::LINE_BYTES_MAX;
use turnstile_server::Limits;
use turnstile_travel::Settings;

use super::client::{Client, Server};

fn server() -> Server {
    Server::of_travel(None)
}

impl Client {
    /// Sends a line and receives its answer, and no more.
    #[track_caller]
    fn says(&mut self, line: &str, answer: &str) {
        self.exchange(&format!("{line}\n"), &format!("{answer}\n"));
    }

    /// Sends a line whose answer does not come, and returns when the server has taken it: it came
    /// together with another whose answer did.
    #[track_caller]
    fn waits(&mut self, line: &str) {
        self.exchange(&format!("Help,Quit\n{line}\n"), "Quit: no arguments\n");
    }

    /// Pipes a file, and receives all that is answered.
    fn pipes(mut self, file: &str) -> String {
        self.send(file);
        self.end_writing();
        self.rest()
    }
}

/// Two clients, each with a transaction: that of the first is 2, that of the second is 3. Each has
/// locked a flight of its own, 7 and 8.
fn rivals(server: &Server) -> [Client; 2] {
    let stock = "Start\nAddFlight,1,7,5,100\nAddFlight,1,8,5,100\nAddCustomerID,1,42\nCommit,1\n";
    let stocked = server.client_of("travel").pipes(stock);
    assert!(stocked.ends_with("Transaction 1 committed\n"), "{stocked}");
    let [mut first, mut second] = [(); 2].map(|()| server.client_of("travel"));
    first.says("Start", "Transaction 2 started");
    second.says("Start", "Transaction 3 started");
    first.says("ReserveFlight,2,42,7", "Flight Reserved");
    second.says("AddFlight,3,8,1,0", "Flight added");
    [first, second]
}

#[test]
fn a_journey_is_sold_as_the_ancestor_sells_it() {
    let server = server();
    let mut client = server.client_of("travel");
    for (line, answer) in [
        ("Start", "Transaction 1 started"),
        ("AddFlight,1,7,10,100", "Flight added"),
        ("AddCars,1,Montreal,5,40", "Cars added"),
        ("AddRooms,1,Montreal,5,80", "Rooms added"),
        ("AddCustomerID,1,42", "Add customer ID: 42"),
        ("Commit,1", "Transaction 1 committed"),
        // The transaction of nine requests that the ancestor measured.
        ("start", "Transaction 2 started"),
        ("queryCustomer,2,42", "Bill for customer 42\n"),
        ("queryFlight,2,7", "Number of seats available: 10"),
        ("reserveFlight,2,42,7", "Flight Reserved"),
        ("queryCars,2,montreal", "Number of cars at this location: 5"),
        ("reserveCar,2,42,montreal", "Car Reserved"),
        (
            "queryRooms,2,montreal",
            "Number of rooms at this location: 5",
        ),
        ("reserveRoom,2,42,montreal", "Room Reserved"),
        ("commit,2", "Transaction 2 committed"),
        ("Commit,2", "InvalidTransaction: transaction 2 is committed"),
        ("Start", "Transaction 3 started"),
        (
            "QueryCustomer,3,42",
            "Bill for customer 42\n1 car-montreal $40\n1 flight-7 $100\n1 room-montreal $80\n",
        ),
    ] {
        client.says(line, answer);
    }
    client.send("Quit\nStart\n");
    assert_eq!(client.rest(), "");
    server.stop();
}

#[test]
fn an_itinerary_is_booked_in_one_line_which_waits_as_others_do() {
    let server = server();
    let [mut first, mut second] = rivals(&server);
    second.waits("Hold,60000,42,7,Montreal,0,0\nBook,42,7,Montreal,0,1");
    first.says("Commit,2", "Transaction 2 committed");
    let held = second.until("\n");
    assert!(held.starts_with("Itinerary AB6X5T held until "), "{held}");
    second.expect("Itinerary could not be booked: there is no room-montreal\n");
    second.says("Confirm,AB6X5T", "Itinerary confirmed");
    second.says(
        "Itinerary,AB6X5T",
        "Itinerary AB6X5T for customer 42: booked\n1 flight-7 $100\nTotal $100\n",
    );
    server.stop();
}

#[test]
fn a_piped_file_is_answered_to_its_end_also_where_it_has_to_wait() {
    let server = server();
    let [mut first, mut second] = rivals(&server);
    second.waits("QueryFlight,3,7\nQueryFlight,3,8\nCommit,3\nStart");
    second.end_writing();
    first.says("Commit,2", "Transaction 2 committed");
    assert_eq!(
        second.rest(),
        "Number of seats available: 4\nNumber of seats available: 6\nTransaction 3 committed\n\
         Transaction 4 started\n"
    );
    server.stop();
}

#[test]
fn one_who_waits_for_a_lock_is_answered_when_it_is_free_and_holds_back_its_own_lines_only() {
    let server = server();
    let [mut first, mut second] = rivals(&server);
    second.waits("ReserveFlight,3,42,7");
    second.send("Help,Start\n");
    first.says("QueryFlight,2,7", "Number of seats available: 4");
    first.says("Abort,2", "Transaction 2 aborted");
    second.expect("Flight Reserved\nStart: no arguments\n");
    second.says("QueryFlight,3,7", "Number of seats available: 4");
    server.stop();
}

#[test]
fn the_youngest_of_a_deadlock_is_aborted_and_the_other_goes_on() {
    let server = server();
    let [mut first, mut second] = rivals(&server);
    first.waits("QueryFlight,2,8");
    second.says(
        "QueryFlight,3,7",
        "TransactionAborted: transaction 3: it was in a deadlock with transaction 2",
    );
    first.expect("Number of seats available: 5\n");
    first.says("Commit,2", "Transaction 2 committed");
    server.stop();
}

#[test]
fn a_lock_is_waited_for_no_longer_than_is_allowed() {
    let server = Server::of_travel(Some(Settings {
        wait_ms: 20,
        ..Settings::FIRST
    }));
    let [mut first, mut second] = rivals(&server);
    second.says(
        "QueryFlight,3,7",
        "TransactionAborted: transaction 3: it waited too long for a lock of transaction 2",
    );
    first.says("Commit,2", "Transaction 2 committed");
    server.stop();
}

#[test]
fn a_transaction_of_which_nothing_is_asked_for_its_time_to_live_is_aborted() {
    let server = Server::of_travel(Some(Settings {
        lifetime_ms: 2_000,
        ..Settings::FIRST
    }));
    let [mut first, mut second] = rivals(&server);
    second.says("QueryFlight,3,7", "Number of seats available: 5");
    first.says(
        "Commit,2",
        "TransactionAborted: transaction 2: nothing was asked of it for its time to live",
    );
    server.stop();
}

#[test]
fn one_who_leaves_aborts_nothing_also_while_it_waits() {
    let server = server();
    let [first, mut second] = rivals(&server);
    second.waits("ReserveFlight,3,42,7");
    drop((first, second));
    let mut third = server.client_of("travel");
    third.says("Commit,2", "Transaction 2 committed");
    third.says("QueryFlight,3,7", "Number of seats available: 3");
    third.says("Commit,3", "Transaction 3 committed");
    server.stop();
}

#[test]
fn a_bad_line_is_told_what_is_wrong_and_the_session_goes_on() {
    let server = server();
    let long = "x".repeat(LINE_BYTES_MAX + 1);
    let file = format!(
        "AddFlight,1,7\nCommit,one\n\n{long}{long}\nFly,1\r\nCrashMiddleware,1\nQueryFlight,9,7\nStart\nCom"
    );
    assert_eq!(
        server.client_of("travel").pipes(&file),
        "Command exception: AddFlight takes xid, flight number, seats, price; 2 given\n\
         Command exception: xid: \"one\" is not a whole number from 0 to 18446744073709551615\n\
         Command exception: a line has at most 4096 bytes\n\
         Command exception: there is no command \"Fly\", Help lists them\n\
         Command exception: this server has no fault points\n\
         InvalidTransaction: transaction 9 is not known\n\
         Transaction 1 started\n\
         Command exception: the last line has no line end and was not done\n"
    );
    server.stop();
}

#[test]
fn a_thousand_lines_in_one_piece_are_answered_in_order() {
    let server = server();
    let lines = (1..=1_500).map(|xid| format!("Start\nAbort,{xid}\n"));
    let answers = server.client_of("travel").pipes(&lines.collect::<String>());
    let expected =
        (1..=1_500).map(|xid| format!("Transaction {xid} started\nTransaction {xid} aborted\n"));
    assert!(answers == expected.collect::<String>());
    server.stop();
}

#[test]
fn a_stop_is_told_to_whoever_waits() {
    let server = server();
    let [mut first, mut second] = rivals(&server);
    second.waits("QueryFlight,3,7");
    server.stop();
    assert_eq!(
        second.rest(),
        "Command exception: the server is stopping, whatever is open will be aborted\n"
    );
    assert_eq!(first.rest(), "");
}

#[test]
fn shutdown_ends_the_server_with_all_its_doors() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::durable(data.path());
    let mut client = server.client_of("travel");
    client.says("Start", "Transaction 1 started");
    client.send("Shutdown\nStart\n");
    assert_eq!(client.rest(), "");
    server.ended();
    let server = Server::durable(data.path());
    let mut client = server.client_of("travel");
    client.says(
        "Commit,1",
        "TransactionAborted: transaction 1: the middleware started anew",
    );
    server.stop();
}

#[test]
fn there_is_no_room_for_one_more_at_this_door_either() {
    let limits = Limits {
        connections: 0,
        ..Limits::STANDARD
    };
    let server = Server::keeping(None, &limits, None);
    let mut client = server.client_of("travel");
    assert_eq!(
        client.rest(),
        "Command exception: too many connections are open\n"
    );
    server.stop();
}
