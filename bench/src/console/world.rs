//! A hotel, a theatre and a market that fill the pages of the console, the same each time.

use anyhow::{Context as _, Result};
use turnstile_client::Connection;
use turnstile_types::Night;

use super::load::{CommandSource, Market, Sale, SaleSlot, Wares, fill, rush, words};
use crate::dice::Draws;

pub(super) const HOTEL: &str = "grand";
pub(super) const SHOW: &str = "tosca";
pub(super) const SYMBOL: &str = "TULIP";

/// The first night of every property here.
pub(super) const FROM: &str = "2027-05-01";

/// Rooms on one floor, by their type; room 101 is the first.
const FLOOR: [&str; 9] = [
    "single", "single", "single", "double", "double", "double", "twin", "twin", "suite",
];

/// Rows of the theatre, and seats of each.
const ROWS: usize = 14;
const ROW_SEATS: usize = 30;

/// How a property is sold.
#[derive(Clone, Copy, Debug)]
pub(super) struct HotelExtent {
    pub(super) rooms: usize,
    pub(super) nights: u16,
    /// The longest stay.
    pub(super) stay: u16,
    /// The longest gap between two stays.
    pub(super) gap: u16,
}

/// A hotel of 54 rooms over two months.
pub(super) const SEASON: HotelExtent = HotelExtent {
    rooms: 54,
    nights: 75,
    stay: 5,
    gap: 1,
};

/// A property that is nearly sold out, and guests who come and go.
pub(super) fn hotel(
    connection: &mut Connection,
    property: &str,
    extent: HotelExtent,
    seed: u64,
) -> Result<Sale> {
    let mut draws = Draws::new(seed);
    let mut commands = vec![words(&format!("ROOMS.ADD-PROPERTY {property}"))];
    let mut slots = Vec::new();
    for number in 0..extent.rooms {
        let (floor, place) = (1 + number / FLOOR.len(), number % FLOOR.len());
        let (room, kind) = (format!("{}", floor * 100 + place + 1), FLOOR[place]);
        commands.push(words(&format!("ROOMS.ADD-ROOM {property} {room} {kind}")));
        stays(&room, extent, &mut draws, &mut slots)?;
    }
    fill(connection, &commands)?;
    shuffle(&mut slots, &mut draws);
    // Some nights are kept from sale.
    let stops = slots.drain(..slots.len() / 40);
    let stops = stops.map(|slot| {
        let line = format!("ROOMS.STOP-SELL {property} {}", slot.0.join(" "));
        words(&line)
    });
    fill(connection, &stops.collect::<Vec<_>>())?;
    let keep = slots.len() * 9 / 10;
    let wares = Wares::Rooms {
        property: property.to_owned(),
    };
    let mut sale = Sale::new(wares, slots, keep, seed);
    sell(connection, &mut sale, keep)?;
    Ok(sale)
}

/// Stays that follow each other in a room.
fn stays(
    room: &str,
    extent: HotelExtent,
    draws: &mut Draws,
    slots: &mut Vec<SaleSlot>,
) -> Result<()> {
    let first = Night::parse(FROM.as_bytes()).context("a date")?.days();
    let mut night = first + draws.below(extent.gap + 1);
    loop {
        let departure = night + 1 + draws.below(extent.stay);
        if departure > first + extent.nights {
            return Ok(());
        }
        let dates = [night, departure].map(|days| Night::from_days(days).to_string());
        slots.push(SaleSlot(
            [room.to_owned()].into_iter().chain(dates).collect(),
        ));
        night = departure + draws.below(extent.gap + 1);
    }
}

/// A theatre whose best seats are sold, and buyers who take the others.
pub(super) fn theatre(connection: &mut Connection) -> Result<Sale> {
    let mut draws = Draws::new(3);
    fill(
        connection,
        &[
            words(&format!("SEATS.ADD-SHOW {SHOW} 2030-05-01T19:30:00Z")),
            words(&format!(
                "SEATS.ADD-SECTION {SHOW} stalls {ROWS} {ROW_SEATS}"
            )),
        ],
    )?;
    let mut ranked = Vec::new();
    for row in 1..=ROWS {
        let mut seat = 1;
        while seat <= ROW_SEATS {
            let end = (seat + 1 + place(&mut draws, 4)).min(ROW_SEATS + 1);
            let seats: Vec<String> = (seat..end).map(|seat| format!("{row}-{seat}")).collect();
            // Those in front and in the middle go first, more or less.
            let aside = (seat + end).abs_diff(ROW_SEATS + 1) / 2;
            let rank = row * 2 + aside + place(&mut draws, 14);
            ranked.push((rank, SaleSlot(vec![seats.join(",")])));
            seat = end;
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let slots: Vec<SaleSlot> = ranked.into_iter().map(|(_, slot)| slot).collect();
    let keep = slots.len() * 7 / 10;
    let wares = Wares::Seats {
        show: SHOW.to_owned(),
        section: "stalls".to_owned(),
    };
    let mut sale = Sale::new(wares, slots, keep, 3);
    sell(connection, &mut sale, keep)?;
    Ok(sale)
}

/// A market with orders in its book.
pub(super) fn market(connection: &mut Connection) -> Result<Market> {
    let mut market = Market::new(SYMBOL, 4);
    fill(connection, &market.opening())?;
    rush(connection, &mut market, 600)?;
    Ok(market)
}

/// Sells so much.
fn sell(connection: &mut Connection, sale: &mut Sale, keep: usize) -> Result<()> {
    let source: &mut dyn CommandSource = sale;
    rush(connection, source, u64::try_from(keep)?)
}

fn shuffle(slots: &mut [SaleSlot], draws: &mut Draws) {
    for end in (1..slots.len()).rev() {
        slots.swap(end, place(draws, end + 1));
    }
}

/// Any of so many places.
fn place(draws: &mut Draws, end: usize) -> usize {
    let end = u64::try_from(end).expect("a length fits 64 bits");
    usize::try_from(draws.below(end)).expect("it is less than a length")
}
