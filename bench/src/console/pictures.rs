//! The pictures of the console in README and book.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{
    load::{CommandSource, MatchFlow, SteadyLoad, Trips, connect},
    page::Page,
    world,
};
use crate::{ground::tell, server::Server};

/// A picture may have so many bytes: a page with four of them still opens fast.
const BYTES_MAX: usize = 150_000;

/// The window of a picture.
const SIZE: [u32; 2] = [1_280, 800];

/// Between the begins of two loads, so that the charts tell them apart.
const STEP: Duration = Duration::from_secs(9);

pub(super) fn take(server: &Server, into: &Path) -> Result<()> {
    let mut connection = connect(server.resp())?;
    let hotel = world::hotel(&mut connection, world::HOTEL, world::SEASON, 2)?;
    let theatre = world::theatre(&mut connection)?;
    let market = world::market(&mut connection)?;
    let sources: [(u64, Box<dyn CommandSource>); 5] = [
        (20, Box::new(hotel)),
        (100, Box::new(market)),
        (14, Box::new(theatre)),
        (60, Box::new(MatchFlow::new())),
        (40, Box::new(Trips::default())),
    ];
    let mut page = Page::start(server.doors().http, SIZE);
    page.open("overview?range=60")?;
    let mut loads = Vec::new();
    for source in sources {
        page.wait(STEP);
        loads.push(SteadyLoad::start(server.resp(), vec![source])?);
    }
    page.wait(STEP * 2);
    let pages = [
        ("overview", "overview?range=60".to_owned(), STEP / 3),
        (
            "rooms",
            format!(
                "rooms?property={}&from={}&nights=30",
                world::HOTEL,
                world::FROM
            ),
            STEP / 9,
        ),
        (
            "exchange",
            format!("exchange?symbol={}&account=north&span=1", world::SYMBOL),
            // A candle a second.
            STEP * 5,
        ),
        ("seats", format!("seats?show={}", world::SHOW), STEP / 3),
    ];
    fs::create_dir_all(into)?;
    for (name, hash, wait) in pages {
        page.go(&hash);
        page.until("document.querySelector('.pill.good')?.textContent === 'live'")?;
        page.until("!document.querySelector('main').innerText.includes('Reading')")?;
        page.wait(wait);
        let picture = page.picture()?;
        let bytes = STANDARD.decode(&picture).context("base64")?;
        ensure!(
            bytes.len() <= BYTES_MAX,
            "{name} has {} bytes, more than {BYTES_MAX}",
            bytes.len()
        );
        let path = into.join(format!("console-{name}.png"));
        fs::write(&path, &bytes)?;
        tell(&format!("{}: {} bytes", path.display(), bytes.len()))?;
    }
    for load in loads {
        load.stop()?;
    }
    Ok(())
}
