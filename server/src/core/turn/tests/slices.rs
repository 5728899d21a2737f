//! Queries that take long, at a loop that is turned by hand.

use std::{
    io::{Read as _, Write as _},
    net::Shutdown,
};

use oneshot::error::TryRecvError;

use super::{clients::RespClient, *};
use crate::{core::time_slice::TimeSlice, doors::xml::XML};

const QUERIES: &str = "ROOMS.GET-TOTALS\nROOMS.GET-TOTALS\nROOMS.GET-TOTALS\n";

impl Workbench {
    /// A loop in which a part of a turn takes so long.
    fn sliced(most: Duration) -> Self {
        let mut workbench = Self::new();
        workbench.fast_loop.engine.time_slice = TimeSlice::of(most);
        workbench
    }

    /// Waits until the poll has told of so many clients that have sent something.
    fn await_ready(&mut self, count: usize) {
        let mut events = Events::with_capacity(EVENTS);
        while self.fast_loop.ready.len() < count {
            self.fast_loop.wait(&mut events).unwrap();
        }
    }

    /// One turn; answers how many requests of clients were answered so far.
    fn turn_once(&mut self) -> u64 {
        self.fast_loop.turn().unwrap();
        self.fast_loop.engine.counters.requests.get()
    }

    /// A client that has sent three queries in one piece, of which the loop knows.
    fn client_with_queries(&mut self) -> RespClient {
        let mut client = self.client();
        client.send(QUERIES);
        self.await_ready(1);
        client
    }
}

#[test]
fn a_long_request_in_xml_lets_others_go_between_its_items() {
    let mut workbench = Workbench::sliced(Duration::ZERO);
    let mut client = workbench.connected(&XML);
    let body = "<transactions id=\"1\">QUERIES</transactions>";
    let body = body.replace("QUERIES", &"<query id=\"1\"/>".repeat(150));
    write!(client, "{}\n{body}", body.len()).unwrap();
    while workbench.turn_once() == 0 {
        workbench.await_ready(1);
    }
    assert_eq!(workbench.fast_loop.engine.counters.requests.get(), 64);
    assert_eq!([(); 2].map(|()| workbench.turn_once()), [128, 150]);
    workbench.stop();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("</results>"));
    assert_eq!(answer.matches("<error id=").count(), 150);
}

/// What is answered to one of them.
fn answer() -> String {
    let mut workbench = Workbench::new();
    let mut client = workbench.client();
    client.send("ROOMS.GET-TOTALS\nECHO end\n");
    let told = workbench.until(&mut client, "$3\r\nend\r\n");
    told.replace("$3\r\nend\r\n", "")
}

#[test]
fn a_long_query_at_the_gate_leaves_those_behind_it_to_the_next_turn() {
    let mut workbench = Workbench::sliced(Duration::ZERO);
    let mut answers = [(); 3].map(|()| workbench.travel_totals());
    for answered in 1..=3 {
        workbench.turn();
        assert!(answers[answered - 1].try_recv().unwrap().is_ok());
        for later in &mut answers[answered..] {
            assert!(matches!(later.try_recv(), Err(TryRecvError::Empty)));
        }
        assert!(workbench.fast_loop.asks_wait, "there may be more");
    }
    workbench.turn();
    assert!(!workbench.fast_loop.asks_wait);
    workbench.stop();
}

#[test]
fn a_client_with_long_queries_lets_others_go_between_them() {
    let mut workbench = Workbench::sliced(Duration::ZERO);
    let mut other = workbench.client();
    let mut client = workbench.client_with_queries();
    other.send("PING\n");
    workbench.await_ready(2);
    assert_eq!(workbench.turn_once(), 1);
    client.expect(&answer());
    assert_eq!(workbench.turn_once(), 3);
    other.expect("+PONG\r\n");
    client.expect(&answer());
    assert_eq!(workbench.turn_once(), 4);
    client.expect(&answer());
    workbench.stop();
}

#[test]
fn short_queries_are_answered_in_one_turn() {
    let mut workbench = Workbench::sliced(Duration::from_secs(3_600));
    let mut client = workbench.client_with_queries();
    assert_eq!(workbench.turn_once(), 3);
    client.expect(&answer().repeat(3));
    workbench.stop();
}

/// Who asks for more keeps the loop busy, but nobody is about to join the group.
#[test]
fn the_group_of_a_turn_that_was_cut_goes_to_the_disk() {
    let mut workbench = Workbench::sliced(Duration::ZERO);
    workbench.overlap(true);
    let _client = workbench.client_with_queries();
    workbench.ask(1);
    workbench.turn();
    assert!(!workbench.fast_loop.ready.is_empty());
    assert!(workbench.fast_loop.engine.is_under_way());
    workbench.land();
    assert_eq!(workbench.stop().check(), (1, 0));
}

#[test]
fn whoever_has_long_queries_and_will_send_no_more_gets_all_answers() {
    let mut workbench = Workbench::sliced(Duration::ZERO);
    let mut client = workbench.client_with_queries();
    client.socket.shutdown(Shutdown::Write).unwrap();
    workbench.await_departures();
    client.expect(&answer().repeat(3));
    client.expect_end();
    workbench.stop();
}

#[test]
fn long_queries_that_came_before_the_stop_are_answered() {
    let mut workbench = Workbench::sliced(Duration::ZERO);
    let mut client = workbench.client_with_queries();
    workbench.stop();
    client.expect(&answer().repeat(3));
    client.expect_end();
}
