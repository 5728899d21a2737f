//! The board of a property with 10,000 rooms and 400 nights, while it is scrolled.

use std::time::{Duration, Instant};

use anyhow::Result;
use turnstile_rooms::limits::ROOMS_PER_PROPERTY_MAX;

use super::{
    budgets::{count, longest},
    load::{SteadyLoad, connect},
    page::Page,
    world::{self, HotelExtent},
};
use crate::{
    ground::tell,
    ratio::{Bound, Ratio},
    section::{MeasuredRow, Section, SubjectMetric},
    server::Server,
};

const PROPERTY: &str = "palace";

const NIGHTS: u16 = 400;

/// Events a second of the property while it is scrolled.
const EVENTS: u64 = 100;

/// How far the board goes down in each frame, in pixels, by what moves it.
const PACES: [(&str, &str); 2] = [
    ("a fast wheel", "97"),
    ("jumps", "times.length % 2 ? 97 : 3001"),
];

/// Scrolls for so many frames, down and to the right, and back from the end; gives the most elements that the
/// board had, then the time between frames in ms.
const SCROLL: &str = "new Promise(done => { \
    const board = document.querySelector('.board'); \
    const times = []; let most = 0; let last = performance.now(); \
    const step = now => { \
        times.push(now - last); last = now; \
        most = Math.max(most, board.querySelectorAll('*').length); \
        board.scrollTop += DOWN; board.scrollLeft += 53; \
        if (board.scrollTop + board.clientHeight >= board.scrollHeight - 1) board.scrollTop = 0; \
        if (board.scrollLeft + board.clientWidth >= board.scrollWidth - 1) board.scrollLeft = 0; \
        if (times.length < FRAMES) requestAnimationFrame(step); else done([most, ...times.slice(1)]); \
    }; \
    requestAnimationFrame(step); \
})";

const ELEMENTS: &str = "most elements";
const LONG_TASKS: &str = "tasks > 50 ms";
const FRAME_P99: &str = "frame p99, ms";

/// Reads the board, then scrolls it.
pub(super) fn measure(server: &Server, quick: bool) -> Result<[Section; 2]> {
    let all = usize::try_from(ROOMS_PER_PROPERTY_MAX)?;
    let rooms = if quick { all / 10 } else { all };
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
    let read = read(&mut page)?;
    let load = SteadyLoad::start(server.resp(), vec![(EVENTS, Box::new(sale))])?;
    let paces = PACES.into_iter().map(|(name, down)| {
        let figures = scroll(&mut page, down, frames)?;
        Ok(MeasuredRow::new(name, figures))
    });
    let scrolled = paces.collect::<Result<Vec<_>>>()?;
    load.stop()?;
    let size = format!("{rooms} rooms and {NIGHTS} nights in a window of 1,280 x 800");
    let setting = format!(
        "The board is scrolled down and to the right in each of {frames} frames while the property has {EVENTS} \
         events a second: by 97 and 53 pixels, as a fast wheel does, then down by 3,000 in every second frame, so \
         that all of it is drawn anew"
    );
    let mut scrolled = Section::new("The board while it is scrolled", setting, scrolled);
    judge(&mut scrolled);
    Ok([
        Section::new("The board at its size", size, vec![read]),
        scrolled,
    ])
}

/// Opens the board and waits for its bookings.
fn read(page: &mut Page) -> Result<MeasuredRow> {
    let begun = Instant::now();
    page.open(&format!(
        "rooms?property={PROPERTY}&from={}&nights={NIGHTS}",
        world::FROM
    ))?;
    page.until("document.querySelectorAll('.bar').length > 0")?;
    let first = begun.elapsed();
    page.until("!document.body.innerText.includes('Reading bookings')")?;
    let all = begun.elapsed();
    page.wait(Duration::from_secs(1));
    let tasks = page.long_tasks()?;
    let [heap, nodes] = page.memory()?;
    let entries = "Number([...document.querySelectorAll('.card .head .grow')].map(one => \
         /([0-9,]+) bookings and holds/.exec(one.textContent)?.[1]).find(Boolean) \
         ?.replaceAll(',', ''))";
    let figures = vec![
        SubjectMetric::one("bookings", page.number(entries)?),
        SubjectMetric::one("first bookings, s", first.as_secs_f64()),
        SubjectMetric::one("all bookings, s", all.as_secs_f64()),
        SubjectMetric::one(LONG_TASKS, count(&tasks)),
        SubjectMetric::one("the longest, ms", longest(&tasks)),
        SubjectMetric::one("nodes", nodes),
        SubjectMetric::one("heap, MiB", heap),
    ];
    Ok(MeasuredRow::new("board", figures))
}

fn scroll(page: &mut Page, down: &str, frames: usize) -> Result<Vec<SubjectMetric>> {
    let script = SCROLL
        .replace("DOWN", down)
        .replace("FRAMES", &frames.to_string());
    let seen = page.numbers(&script)?;
    let tasks = page.long_tasks()?;
    let (most, mut times) = (seen[0], seen[1..].to_vec());
    times.sort_by(f64::total_cmp);
    Ok(vec![
        SubjectMetric::one("frame p50, ms", times[times.len() / 2]),
        SubjectMetric::one(FRAME_P99, times[times.len() * 99 / 100]),
        SubjectMetric::one(LONG_TASKS, count(&tasks)),
        SubjectMetric::one("the longest, ms", longest(&tasks)),
        SubjectMetric::one(ELEMENTS, most),
    ])
}

fn judge(section: &mut Section) {
    let bounds = [
        ("elements of the board", ELEMENTS, 1_500.0),
        ("tasks > 50 ms", LONG_TASKS, 0.0),
        ("time between frames, p99, ms", FRAME_P99, 34.0),
    ];
    for (place, (pace, _)) in PACES.into_iter().enumerate() {
        for (target, figure, most) in bounds {
            let spread = Ratio::spread(section.subjects[place].values(figure));
            section.claim_ratio(&format!("{pace}: {target}"), spread, Bound::AtMost(most));
        }
    }
}
