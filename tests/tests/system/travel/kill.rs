//! SIGKILL in the middle of commits, of any process of five and of the one that plays all: every
//! commit that was told stands, each is whole or absent at all managers, and all managers agree.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rand::{RngExt as _, rngs::ThreadRng};

use super::{
    clerk::Clerk,
    company::Company,
    ledger::{Figures, Ledger, Sale, Told, Trip},
};

/// Clients that sell trips step by step and in one command in turns, each as fast as it is answered.
const SELLERS: usize = 4;

/// The most commits that are told between two kills.
const COMMITS_MAX: u32 = 4;

/// How long the next end of a transaction may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sellers at work.
struct Crowd {
    stops: Arc<AtomicBool>,
    sellers: Vec<JoinHandle<()>>,
    sales: Receiver<Sale>,
}

impl Crowd {
    fn at(address: SocketAddr, customers: &Arc<AtomicI32>) -> Self {
        let (send, sales) = sync_channel(64);
        let stops = Arc::new(AtomicBool::new(false));
        let turn = Arc::new(AtomicUsize::new(0));
        let sellers = (0..SELLERS).map(|_| {
            let (stops, turn) = (Arc::clone(&stops), Arc::clone(&turn));
            let (send, customers) = (send.clone(), Arc::clone(customers));
            thread::spawn(move || sell(address, (&stops, &turn, &customers), &send))
        });
        Self {
            sellers: sellers.collect(),
            stops,
            sales,
        }
    }

    /// Enters sales until so many more were told to be committed.
    fn work(&self, ledger: &mut Ledger, commits: u32) {
        let mut missing = commits;
        while missing > 0 {
            let sale = self.sales.recv_timeout(PATIENCE);
            let sale = sale.expect("somebody is answered");
            missing -= u32::from(sale.told == Told::Committed);
            ledger.enter(sale);
        }
    }

    /// Lets everybody end what they are at.
    fn stop(self, ledger: &mut Ledger) {
        self.stops.store(true, Ordering::Relaxed);
        for sale in self.sales {
            ledger.enter(sale);
        }
        for seller in self.sellers {
            seller.join().expect("a seller ends well");
        }
    }
}

fn sell(
    address: SocketAddr,
    (stops, turn, customers): (&AtomicBool, &AtomicUsize, &AtomicI32),
    sales: &SyncSender<Sale>,
) {
    let mut clerk = Clerk::at(address);
    while !stops.load(Ordering::Relaxed) {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        let trip = Trip::of(turn);
        let customer = customers.fetch_add(1, Ordering::Relaxed);
        let told = if turn.is_multiple_of(2) {
            trip.sell(&mut clerk, customer)
        } else {
            trip.book(&mut clerk, customer)
        };
        let sale = Sale {
            customer,
            trip,
            told,
        };
        sales
            .send(sale)
            .expect("whoever listens listens to the end");
        if told != Told::Committed {
            clerk = Clerk::at(address);
        }
    }
}

/// Kills one process after the other under load, in rounds that end with an audit.
fn check(mut company: Company, rounds: u32, kills: u32) {
    let mut rng = ThreadRng::default();
    let mut ledger = Ledger::open(&company);
    let customers = Arc::new(AtomicI32::new(1));
    let mut figures = Figures::default();
    for _ in 0..rounds {
        let crowd = Crowd::at(company.address(), &customers);
        for _ in 0..kills {
            crowd.work(&mut ledger, rng.random_range(1..=COMMITS_MAX));
            let role = rng.random_range(0..company.count());
            company.kill(role);
            company.start(role);
        }
        crowd.stop(&mut ledger);
        figures = ledger.audit(&company);
    }
    company.stop_and_verify();
    Ledger::compare_directories(&company, figures.committed);
    let untold = figures.happened_untold + figures.forgotten_untold;
    assert!(untold > 0, "no kill fell into a commit: {figures:?}");
}

#[test]
fn five_processes_of_which_one_after_the_other_is_killed_agree() {
    check(Company::separate(), 3, 30);
}

#[test]
fn one_process_that_is_killed_keeps_what_it_told_and_the_rest_whole_or_not_at_all() {
    check(Company::alone(), 2, 15);
}
