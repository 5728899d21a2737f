//! Travel over RESP, over real sockets: answers that come at once, later, and within `EXEC`.

use tokio::sync::oneshot;
use turnstile_server::{Ask, Request, Running};
use turnstile_travel::{
    Body, Command, Desk, Desks, Item, Operation, Order, Parcel, Settings, Travel, TravelRoles, Xid,
};
use turnstile_types::Machine;

use super::client::{Client, Server};

/// An empty listing of transactions in RESP2.
const NONE_LISTED: &str = "*4|$12|transactions|*0|$4|next|$-1|";

impl Client {
    /// Sends a command whose answer does not come, and returns when the server has taken it: it
    /// came together with another whose answer did.
    #[track_caller]
    fn waits_for(&mut self, line: &str) {
        self.exchange(&format!("PING\n{line}\n"), "+PONG|");
    }

    /// Does a command whose answer does not matter here.
    fn does(&mut self, line: &str) {
        self.send(format!("{line}\nPING\n"));
        self.until("+PONG\r\n");
    }
}

/// Two clients, each with a transaction: that of the first is 2, that of the second is 3. Each has
/// locked a flight of its own, 7 and 8. The next record has position 10.
fn rivals(server: &Server) -> [Client; 2] {
    let [mut first, mut second] = [(); 2].map(|()| server.client());
    first.exchange("TRAVEL.START\n", "*3|:1|:1|:1|");
    first.exchange("TRAVEL.ADD-ITEM 1 flight-7 5 100\n", "*2|:1|:2|");
    first.exchange("travel.add-item 1 Flight-8 5 100\n", "*2|:1|:3|");
    first.exchange("TRAVEL.ADD-CUSTOMER 1 CUSTOMER 42\n", "*3|:1|:42|:4|");
    first.exchange("TRAVEL.COMMIT 1\n", "*2|:1|:5|");
    first.exchange("TRAVEL.START\n", "*3|:1|:2|:6|");
    second.exchange("TRAVEL.START\n", "*3|:1|:3|:7|");
    first.exchange("TRAVEL.RESERVE 2 42 flight-7\n", "*2|:1|:8|");
    second.exchange("TRAVEL.ADD-ITEM 3 flight-8 1 0\n", "*2|:1|:9|");
    [first, second]
}

fn server() -> (Server, [Client; 2]) {
    let server = Server::of_travel(None);
    let clients = rivals(&server);
    (server, clients)
}

#[test]
fn one_who_waits_is_answered_when_the_lock_is_free_and_holds_back_its_own_commands_only() {
    let (server, [mut first, mut second]) = server();
    second.waits_for("TRAVEL.QUERY-ITEM 3 flight-7\nPING later");
    second.send("TRAVEL.QUERY-ITEM 3 flight-9\n");
    first.exchange("TRAVEL.QUERY-ITEM 2 flight-7\n", "*5|:1|:4|:1|:100|:11|");
    first.exchange("TRAVEL.ABORT 2\n", "*2|:1|:12|");
    second.expect("*5|:1|:5|:0|:100|:10|$5|later|*5|:1|$-1|$-1|$-1|:13|");
    second.exchange("TRAVEL.COMMIT 3\n", "*2|:1|:14|");
    second.exchange(
        "TRAVEL.COMMIT 3\nTRAVEL.COMMIT 2\n",
        "*2|:0|$17|already_committed|*3|:0|$7|aborted|$5|asked|",
    );
    server.stop();
}

#[test]
fn the_youngest_of_a_deadlock_is_told_who_was_in_its_way() {
    let (server, [mut first, mut second]) = server();
    first.waits_for("TRAVEL.QUERY-ITEM 2 flight-8");
    second.send("HELLO 3\n");
    second.until("modules\r\n*0\r\n");
    second.exchange(
        "TRAVEL.QUERY-ITEM 3 flight-7\n",
        "%5|$7|outcome|$7|refused|$6|reason|$7|aborted|$5|cause|$8|deadlock|$6|holder|:2|\
         $8|position|:11|",
    );
    first.expect("*5|:1|:5|:0|:100|:10|");
    server.stop();
}

#[test]
fn a_lock_is_waited_for_no_longer_than_is_allowed() {
    let server = Server::of_travel(Some(Settings {
        wait_ms: 20,
        ..Settings::FIRST
    }));
    let mut client = server.client();
    client.does("TRAVEL.START\nTRAVEL.ADD-ITEM 1 flight-7 5 100\nTRAVEL.START");
    client.exchange(
        "TRAVEL.QUERY-ITEM 2 flight-7\nTRAVEL.LIST-TRANSACTIONS STATE waiting\n",
        "*4|:0|$7|aborted|$12|lock_timeout|:1|*4|$12|transactions|*0|$4|next|$-1|",
    );
    server.stop();
}

#[test]
fn a_batch_is_decided_at_once_and_answered_when_the_last_of_it_is() {
    let (server, [mut first, mut second]) = server();
    let mut third = server.client();
    third.exchange(
        "TRAVEL.START\nTRAVEL.ADD-ITEM 4 flight-6 1 70\nTRAVEL.ADD-CUSTOMER 4 CUSTOMER 43\n",
        "*3|:1|:4|:10|*2|:1|:11|*3|:1|:43|:12|",
    );
    let batch = "MULTI\nTRAVEL.QUERY-ITEM 3 flight-7\nTRAVEL.QUERY-ITEM 3 flight-9\nTRAVEL.BOOK 43 flight-6\n\
                 TRAVEL.START\nPING\nEXEC\nPING after\n";
    let queued = "+QUEUED|".repeat(5);
    second.exchange(&format!("PING\n{batch}"), &format!("+PONG|+OK|{queued}"));
    // What did not have to wait is done.
    first.exchange("TRAVEL.ABORT 6\n", "*2|:1|:17|");
    // The later of the two that wait is answered first.
    third.exchange("TRAVEL.COMMIT 4\n", "*2|:1|:18|");
    first.exchange(
        "TRAVEL.GET-ITINERARY AB6X5T\n",
        "*10|$7|locator|$6|AB6X5T|$5|state|$6|booked|$8|customer|:43|$5|price|:70|\
         $5|items|*1|*4|$4|item|$8|flight-6|$5|price|:70|",
    );
    first.exchange("TRAVEL.COMMIT 2\n", "*2|:1|:19|");
    second.expect(
        "*5|*5|:1|:4|:1|:100|:13|*2|:0|$4|busy|*5|:1|$6|AB6X5T|:70|$-1|:15|*3|:1|:6|:16|+PONG|$5|after|",
    );
    server.stop();
}

#[test]
fn a_key_is_answered_alike_by_whoever_waits_for_it_and_afterwards() {
    let (server, [mut first, mut second]) = server();
    let mut third = server.client();
    let keyed = "TRAVEL.BOOK 42 flight-7 HOLD_MS 60000 KEY journey";
    second.waits_for(keyed);
    third.waits_for(keyed);
    first.exchange("TRAVEL.COMMIT 2\n", "*2|:1|:11|");
    let held = second.until("\r\n:10\r\n");
    let again = format!("{}$8\r\nreplayed\r\n", held.replacen("*5", "*6", 1));
    assert!(held.starts_with("*5\r\n:1\r\n$6\r\n"), "{held}");
    third.expect(&again.replace("\r\n", "|"));
    first.exchange(&format!("{keyed}\n"), &again.replace("\r\n", "|"));
    first.send("TRAVEL.BOOK 42 flight-8 KEY journey\n");
    assert!(first.until("\r\n").starts_with("-IDEMMISMATCH "));
    server.stop();
}

#[test]
fn one_who_leaves_aborts_nothing_also_while_it_waits() {
    let (server, [first, mut second]) = server();
    second.waits_for("TRAVEL.RESERVE 3 42 flight-7");
    drop((first, second));
    let mut third = server.client();
    third.exchange("TRAVEL.COMMIT 2\n", "*2|:1|:11|");
    third.exchange("TRAVEL.QUERY-ITEM 3 flight-7\n", "*5|:1|:3|:2|:100|:12|");
    third.exchange("TRAVEL.COMMIT 3\n", "*2|:1|:13|");
    server.stop();
}

#[test]
fn a_stop_is_told_to_whoever_waits_within_a_batch_too() {
    let (server, [mut first, mut second]) = server();
    let mut third = server.client();
    third.does("TRAVEL.START\nTRAVEL.ADD-ITEM 4 flight-6 1 70");
    first.exchange(
        "PING\nCLIENT REPLY SKIP\nTRAVEL.QUERY-ITEM 2 flight-6\nPING late\n",
        "+PONG|",
    );
    second.exchange(
        "MULTI\nPING\nTRAVEL.QUERY-ITEM 3 flight-9\nTRAVEL.QUERY-ITEM 3 flight-6\nEXEC\nPING\n",
        "+OK|+QUEUED|+QUEUED|+QUEUED|",
    );
    server.stop();
    assert_eq!(
        second.rest(),
        "-ERR the server is stopping, whatever is open will be aborted|"
    );
    assert_eq!(first.rest(), "");
    assert_eq!(third.rest(), "");
}

/// A server that sells flights for a coordinator elsewhere, which has asked for a vote about
/// transaction 1.
fn flights_in_doubt() -> Server {
    let server = Server::of_travel(Some(Settings {
        roles: TravelRoles {
            coordinator: false,
            desks: Desks::only(Desk::Flights),
        },
        ..Settings::FIRST
    }));
    let add = Operation::Add {
        item: Item::Flight(7),
        count: 5,
        price: 100,
    };
    let operate = Order::Operate {
        first: true,
        operation: add,
    };
    for (number, order) in [(0, None), (1, Some(operate)), (2, Some(Order::Prepare))] {
        let xid = Xid(1);
        let request = order.map(|order| turnstile_travel::Request { xid, order });
        let parcel = Parcel {
            desk: Desk::Flights,
            life: 1,
            peer_life: 1,
            number,
            received: 0,
            body: Body::Request(request),
        };
        deliver(server.running(), parcel);
    }
    server
}

fn deliver(running: &Running, parcel: Parcel) {
    let (reply, answer) = oneshot::channel();
    let mut command = Vec::new();
    Travel::encode_command(&Command::Deliver(parcel), &mut command);
    let asked = running.gate().ask(Ask::Travel(Request::Command {
        caller: turnstile_server::Caller::server(),
        key: None,
        command,
        reply,
    }));
    asked.unwrap();
    answer.blocking_recv().unwrap().unwrap();
}

#[test]
fn an_operator_sees_and_resolves_what_is_in_doubt_and_followers_hear_who_did() {
    let server = flights_in_doubt();
    let mut follower = server.client();
    follower.exchange(
        "SUBSCRIBE travel.events\n",
        "*3|$9|subscribe|$13|travel.events|:1|",
    );
    let mut client = server.client();
    let shown = |locks: &str| {
        format!(
            "*18|$3|xid|:1|$5|state|$8|in-doubt|$5|phase|$8|in-doubt|$7|touched|*1|$7|flights|\
             $7|awaited|*0|$9|waits_for|$-1|$6|before|*0|$5|until|$-1|$8|branches|*1|*10|\
             $4|desk|$7|flights|$8|prepared|:1|$4|held|:1|$5|locks|{locks}$5|wants|$-1|"
        )
    };
    let listed = format!("*4|$12|transactions|*1|{}$4|next|$-1|", shown("*0|"));
    client.exchange("TRAVEL.LIST-TRANSACTIONS STATE in-doubt\n", &listed);
    client.exchange(
        "TRAVEL.LIST-TRANSACTIONS STATE prepared LIMIT 7\n",
        NONE_LISTED,
    );
    client.exchange("TRAVEL.LIST-TRANSACTIONS CURSOR 1\n", NONE_LISTED);
    let locked = shown("*1|*4|$4|what|$8|flight-7|$4|mode|$9|exclusive|");
    client.exchange("TRAVEL.GET-TRANSACTION 1\n", &locked);
    client.exchange(
        "TRAVEL.RESOLVE flights 2 COMMIT\nTRAVEL.RESOLVE cars 1 COMMIT\nTRAVEL.START\n",
        "*2|:0|$12|not_in_doubt|*2|:0|$8|not_here|*2|:0|$8|not_here|",
    );
    client.exchange("TRAVEL.RESOLVE flights 1 commit KEY r\n", "*2|:1|:9|");
    let told = follower.until("\"by\":\"local\"}\r\n");
    assert!(
        told.contains(
            "\"kind\":\"resolved\",\"desk\":\"flights\",\"xid\":1,\"decision\":\"commit\","
        ),
        "{told}"
    );
    client.exchange(
        "TRAVEL.LIST-TRANSACTIONS\nTRAVEL.LIST-ITEMS flights\n",
        "*4|$12|transactions|*0|$4|next|$-1|*4|$5|items|*1|*8|$4|item|$8|flight-7|$4|free|:5|\
         $8|reserved|:0|$5|price|:100|$4|next|$-1|",
    );
    client.exchange(
        "TRAVEL.GET-TRANSACTION 1\n",
        "*18|$3|xid|:1|$5|state|$9|committed|$5|phase|$9|committed|$7|touched|*0|$7|awaited|*0|\
         $9|waits_for|$-1|$6|before|*0|$5|until|$-1|$8|branches|*0|",
    );
    server.stop();
}
