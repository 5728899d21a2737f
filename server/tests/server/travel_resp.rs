//! Travel over RESP, over real sockets: answers that come at once, later, and within `EXEC`.

use turnstile_travel::{Desks, Roles, Settings};

use super::client::{Client, Server};

/// What there is in the beginning: two flights with five seats at 100, and customer 42.
const STOCK: &str = "TRAVEL.START\nTRAVEL.ADD 1 flight-7 5 100\nTRAVEL.ADD 1 flight-8 5 100\n\
                     TRAVEL.ADDCUSTOMER 1 42\nTRAVEL.COMMIT 1\n";

fn stocked(settings: Settings) -> Server {
    let server = Server::of_travel(Some(settings));
    let answers = "*3|:1|:1|:1|*2|:1|:2|*2|:1|:3|*3|:1|:42|:4|*2|:1|:5|";
    // The settings are a record too.
    server.client().send(STOCK);
    let mut client = server.client();
    let shown = client.asks("TRAVEL.TOTALS\n", ":");
    assert!(!shown.is_empty(), "{answers}");
    server
}

impl Client {
    /// Sends a command whose answer does not come, and returns when the server has taken it: it
    /// came together with another whose answer did.
    #[track_caller]
    fn waits_for(&mut self, line: &str) {
        self.exchange(&format!("PING\n{line}\n"), "+PONG|");
    }
}
