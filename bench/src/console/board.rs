//! The board of a property with 10,000 rooms and 400 nights, while it is scrolled.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{
    budgets::count,
    load::{SteadyLoad, connect},
    page::Page,
    world::{self, HotelExtent},
};
use crate::{
    ground::tell,
    ratio::{Bound, Ratio},
    section::{Figure, MeasuredRow, Section},
    server::Server,
};

const PROPERTY: &str = "palace";

/// Rooms of the property: the most that one may have.
const ROOMS: usize = 10_000;
const NIGHTS: u16 = 400;

/// Events a second of the property while it is scrolled.
const EVENTS: u64 = 100;

/// Scrolls for so many frames, down and to the right, and back from the end; gives the time between
/// frames in ms, and the most elements that the board had.
const SCROLL: &str = "new Promise(done => { \
    const board = document.querySelector('.board'); \
    const times = []; let most = 0; let last = performance.now(); \
    const step = now => { \
        times.push(now - last); last = now; \
        most = Math.max(most, board.querySelectorAll('*').length); \
        board.scrollTop += times.length % 2 ? 97 : 3001; board.scrollLeft += 53; \
        if (board.scrollTop + board.clientHeight >= board.scrollHeight - 1) board.scrollTop = 0; \
        if (board.scrollLeft + board.clientWidth >= board.scrollWidth - 1) board.scrollLeft = 0; \
        if (times.length < FRAMES) requestAnimationFrame(step); else done([most, ...times.slice(1)]); \
    }; \
    requestAnimationFrame(step); \
})";

const ELEMENTS: &str = "elements of the board";
const SCROLLING: &str = "tasks > 50 ms as it scrolls";
const FRAME_P99: &str = "frame p99, ms";

pub(super) fn measure(server: &Server, quick: bool) -> Result<Section> {
    let rooms = if quick { ROOMS / 10 } else { ROOMS };
    let frames = if quick { 120 } else { 900 };
    let extent = HotelExtent {
        rooms,
        nights: NIGHTS,
        stay: 12,
        gap: 6,
    };
    let mut connection = connect(server.resp())?;
    let begun = Instant::now();
    let sale = world::hotel(&mut connection, PROPERTY, extent, 5)?;
    tell(&format!("filled in {:.1?}", begun.elapsed()))?;
    let mut page = Page::start(server.doors().http, [1_280, 800]);
    let begun = Instant::now();
    page.open(&format!(
        "rooms?property={PROPERTY}&from={}&nights={NIGHTS}",
        world::FROM
    ))?;
    page.until("document.querySelectorAll('.bar').length > 0")?;
    let first = begun.elapsed();
    page.until("!document.body.innerText.includes('Reading bookings')")?;
    let read = begun.elapsed();
    page.wait(Duration::from_secs(1));
    let reading = page.long_tasks()?;
    let load = SteadyLoad::start(server.resp(), vec![(EVENTS, Box::new(sale))])?;
    let seen = page.numbers(&SCROLL.replace("FRAMES", &format!("{frames}")))?;
    let scrolling = page.long_tasks()?;
    load.stop()?;
    let [heap, nodes] = page.memory()?;
    let entries = "Number([...document.querySelectorAll('.card .head .grow')].map(one => \
         /([0-9,]+) bookings and holds/.exec(one.textContent)?.[1]).find(Boolean) \
         ?.replaceAll(',', ''))";
    let entries = page.number(entries)?;
    let (most, mut times) = (seen[0], seen[1..].to_vec());
    times.sort_by(f64::total_cmp);
    let longest = |tasks: &[f64]| tasks.iter().copied().fold(0.0, f64::max);
    let figures = vec![
        Figure::one("bookings", entries),
        Figure::one("first bookings, s", first.as_secs_f64()),
        Figure::one("all bookings, s", read.as_secs_f64()),
        Figure::one("tasks > 50 ms as it reads", count(&reading)),
        Figure::one("the longest, ms", longest(&reading)),
        Figure::one(SCROLLING, count(&scrolling)),
        Figure::one("the longest, ms ", longest(&scrolling)),
        Figure::one("frame p50, ms", times[times.len() / 2]),
        Figure::one(FRAME_P99, times[times.len() * 99 / 100]),
        Figure::one(ELEMENTS, most),
        Figure::one("nodes", nodes),
        Figure::one("heap, MiB", heap),
    ];
    let setting = format!(
        "{rooms} rooms and {NIGHTS} nights in a window of 1,280 x 800. The board is scrolled down and to the \
         right in each of {frames} frames, by up to 3,000 pixels at once, while the property has {EVENTS} \
         events a second"
    );
    let row = MeasuredRow::new("board", figures);
    let mut section = Section::new("The board at its size", setting, vec![row]);
    judge(&mut section);
    Ok(section)
}

fn judge(section: &mut Section) {
    let bounds = [
        (
            "elements of the board while it is scrolled",
            ELEMENTS,
            1_500.0,
        ),
        ("tasks > 50 ms while it is scrolled", SCROLLING, 0.0),
        (
            "time between frames while it is scrolled, p99, ms",
            FRAME_P99,
            34.0,
        ),
    ];
    for (target, figure, most) in bounds {
        let spread = Ratio::spread(section.subjects[0].values(figure));
        section.claim_ratio(target, spread, Bound::AtMost(most));
    }
}
