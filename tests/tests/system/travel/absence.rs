//! A desk that is away: whoever needs it is answered in time, the others serve on, and so does it
//! when it is back.

use super::{
    clerk::Clerk,
    company::{Company, FLIGHTS, MIDDLEWARE},
    ledger::{Ledger, Sale, Trip},
};

/// Asks the desk that is away. How long the server waits is a matter of its logged time, and the
/// scenarios of the machine prove it: a stopwatch of ours would compare two clocks.
fn ask_in_vain(clerk: &mut Clerk) {
    let xid = clerk.starts().expect("the server lives");
    assert_eq!(
        clerk.says(&format!("QueryFlight,{xid},1")),
        format!("TransactionAborted: transaction {xid}: flights did not answer in time")
    );
}

/// Asks for something of the others.
fn ask_the_others(clerk: &mut Clerk) {
    let xid = clerk.starts().expect("the server lives");
    for (line, answer) in [
        (format!("AddCars,{xid},lima,1,0"), "Cars added".to_owned()),
        (format!("AddRooms,{xid},lima,1,0"), "Rooms added".to_owned()),
        (
            format!("DeleteCars,{xid},bern"),
            "Cars could not be deleted".to_owned(),
        ),
        (format!("Abort,{xid}"), format!("Transaction {xid} aborted")),
    ] {
        assert_eq!(clerk.says(&line), answer);
    }
}

#[test]
fn a_desk_that_is_away_is_told_in_time_and_serves_on_when_it_is_back() {
    let mut company = Company::separate();
    let mut ledger = Ledger::open(&company);
    let mut clerk = company.clerk();

    company.process(FLIGHTS).pause();
    ask_in_vain(&mut clerk);
    ask_the_others(&mut clerk);
    company.process(FLIGHTS).go_on();
    let trip = Trip::of(3);
    let sale = |customer, told| Sale {
        customer,
        trip,
        told,
    };
    ledger.enter(sale(1, trip.sell(&mut clerk, 1)));
    assert_eq!(ledger.audit(&company).committed, 1);

    company.kill(FLIGHTS);
    ask_in_vain(&mut clerk);
    ask_the_others(&mut clerk);
    company.start(FLIGHTS);
    company.until_all_have_met();
    assert_eq!(company.line(MIDDLEWARE, FLIGHTS, "peer_life"), 2);
    assert_eq!(company.line(FLIGHTS, FLIGHTS, "life"), 2);
    ledger.enter(sale(2, trip.sell(&mut clerk, 2)));
    assert_eq!(ledger.audit(&company).committed, 2);
    company.stop_and_verify();
    Ledger::compare_directories(&company, 2);
}

#[test]
fn shutdown_stops_all_processes() {
    let mut company = Company::separate();
    let mut clerk = company.clerk();
    assert_eq!(clerk.tries("Shutdown"), None);
    for role in 0..company.count() {
        let status = company.ended(role);
        assert!(status.success(), "{role}: {status}");
    }
}
