//! Travellers who buy journeys, until the server is killed under them; and what the next one knows
//! of them.

use std::{collections::HashMap, io, net::SocketAddr, time::Duration};

use anyhow::Context as _;
use turnstile_client::lines::{Connection, LineVerb, Reply};
use turnstile_load::{
    pace::{Law, Length, Think},
    travel::{
        self as load, Contention, Experiment, Journey, Managers, Manner, Offer, OfferCatalogue,
        Rate,
    },
};
use turnstile_stats::units::Count;
use turnstile_travel::{CustomerId, Item, Location};

use super::Amounts;
use crate::{
    child::Server,
    exit::Coded,
    lab, lines,
    terminal::Table,
    travel::{
        self,
        network::{FlightNetwork, NetworkFlight, Ware},
        stocking,
    },
};

/// Connections, each a traveller at a time.
const CLIENTS: usize = 8;

/// Customers, and journeys of the network that are sold, at most.
const CUSTOMERS: i32 = 200;
const JOURNEYS: usize = 200;

/// The customers' numbers begin here.
const FIRST_CUSTOMER: i32 = 10_001;

/// Travellers whose server was killed.
#[derive(Debug)]
pub(super) struct Travellers {
    config: load::Config,
    driven: load::Driven,
}

impl Travellers {
    /// Puts the network on sale, lets them buy for a while, and kills the server in the middle of
    /// it.
    pub(super) fn lose(
        server: Server,
        network: &FlightNetwork,
        amounts: &Amounts,
        seed: u64,
        table: &mut Table,
    ) -> anyhow::Result<Self> {
        let mut door = lines::connect(address(&server)?)?;
        // What `dev` has put on sale already is all there: the proof will see that.
        stocking::stock(&mut door, &network.wares())?;
        travel::tabulate(network, table);
        let customers = customers(&mut door)?;
        drop(door);
        let duration = amounts.travelling;
        let config = load::Config {
            address: address(&server)?.into(),
            witness: None,
            processes: None,
            threads: lab::default_threads().get(),
            experiment: Experiment::Rates {
                clients: vec![CLIENTS],
                rates: vec![Rate::Most],
                managers: Managers::Several,
                contention: Contention::Apart,
                manner: Manner {
                    arrivals: Law::Poisson,
                    think: Think::None,
                    stages: None,
                    length: Length::Fixed {
                        warm_up: Duration::ZERO,
                        duration,
                    },
                    deadline: None,
                },
            },
            seed,
        };
        let mut server = Some(server);
        let mut killed: io::Result<()> = Ok(());
        let driven = load::drive_on(&config, stock(network, customers), &mut |progress| {
            if progress.elapsed > duration / 2
                && let Some(server) = server.take()
            {
                killed = server.kill();
            }
        })
        .context("the travellers")?;
        killed.context("SIGKILL")?;
        server.map_or(Ok(()), Server::kill).context("SIGKILL")?;
        Ok(Self { config, driven })
    }

    /// Asks the server that was started again about every item and every bill.
    ///
    /// # Errors
    /// Something that was acknowledged is not there, or something is too much: a violation.
    pub(super) fn check(self, server: &Server, table: &mut Table) -> anyhow::Result<()> {
        let config = load::Config {
            address: address(server)?.into(),
            ..self.config
        };
        let report = self
            .driven
            .prove(&config)
            .context("the travellers' proof")?;
        let proof = &report.proof;
        if let Some(coded) = Coded::of_verdict(report.verdict()) {
            return Err(coded.because(&format!("the travellers: {report}")).into());
        }
        let operations = report.points.iter().flat_map(|point| &point.operations);
        let unknown: u64 = operations.map(|operation| operation.unknown).sum();
        table.row(
            "travellers",
            format_args!(
                "{} journeys over lines, kill -9 with {} requests under way",
                Count(proof.committed),
                unknown
            ),
        );
        table.row(
            "  checked",
            format_args!(
                "each is whole on its bill; of {} commits without an answer {} were done, {} not",
                proof.unknown, proof.unknown_committed, proof.unknown_aborted
            ),
        );
        table.row(
            "  conserved",
            format_args!(
                "{} free and {} reserved seats, cars and rooms, as put in",
                Count(proof.free),
                Count(proof.reserved)
            ),
        );
        Ok(())
    }
}

fn address(server: &Server) -> anyhow::Result<SocketAddr> {
    server
        .travel()
        .context("the server named no door of travel")
}

/// Makes the customers.
fn customers(door: &mut Connection) -> anyhow::Result<Vec<CustomerId>> {
    let customers: Vec<CustomerId> = (FIRST_CUSTOMER..FIRST_CUSTOMER + CUSTOMERS)
        .map(CustomerId)
        .collect();
    let xid = lines::xid(&door.ask(LineVerb::Start, format_args!(""))?)?;
    for customer in &customers {
        door.send(LineVerb::AddCustomerId, format_args!("{xid},{customer}"));
    }
    door.send(LineVerb::Commit, format_args!("{xid}"));
    for _ in 0..=customers.len() {
        let reply = door.receive()?;
        let Reply::Done(_) = reply else {
            return Err(lines::unexpected(&reply));
        };
    }
    Ok(customers)
}

/// Journeys all over the network: there, with a car and a room, and back where a flight goes back.
fn stock(network: &FlightNetwork, customers: Vec<CustomerId>) -> OfferCatalogue {
    let mut flights: HashMap<(Location, Location), &NetworkFlight> = HashMap::new();
    for flight in &network.flights {
        flights.entry((flight.from, flight.to)).or_insert(flight);
    }
    let mut shelf = StockShelf::default();
    let step = network.flights.len().div_ceil(JOURNEYS).max(1);
    let mut journeys = Vec::new();
    for out in network.flights.iter().step_by(step) {
        let place = network.place(&out.to);
        let place = place.expect("there is a place wherever a flight arrives");
        let mut offers = vec![
            shelf.offer(out.ware()),
            shelf.offer(place.car()),
            shelf.offer(place.room()),
        ];
        let back = flights.get(&(out.to, out.from));
        offers.extend(back.map(|back| shelf.offer(back.ware())));
        journeys.push(Journey::of(&offers));
    }
    OfferCatalogue::of(customers, shelf.offers, journeys)
}

/// What is sold, each item once.
#[derive(Default)]
struct StockShelf {
    offers: Vec<Offer>,
    numbers: HashMap<Item, u16>,
}

impl StockShelf {
    /// The number of an offer, which is made when it is asked for first.
    fn offer(&mut self, ware: Ware) -> u16 {
        let next = u16::try_from(self.offers.len()).expect("some hundred journeys");
        *self.numbers.entry(ware.item).or_insert_with(|| {
            self.offers.push(Offer {
                item: ware.item,
                added: ware.count,
                price: ware.price,
            });
            next
        })
    }
}
