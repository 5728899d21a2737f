//! The page in a real browser: whole, quiet, and legible where people read it.

use std::fs;

use serde_json::{Value, json};
use turnstile_report::html;
use turnstile_trial::Chromium;

use crate::simulated;

/// Of each chart: whether it is as large as people need, and how many figures it shows.
const CHARTS: &str = "[...document.querySelectorAll('details')].forEach(one => one.open = true), \
    [...document.querySelectorAll('figure.chart > svg')].map(svg => { \
        const box = svg.getBoundingClientRect(); \
        const shown = [...svg.querySelectorAll('.line, .dot, .bar')].filter(mark => { \
            const size = mark.getBoundingClientRect(); \
            return size.width + size.height > 2 && getComputedStyle(mark).display != 'none'; \
        }); \
        return {wide: box.width > 250, high: box.height > 140, shown: shown.length, \
            named: svg.querySelector('title').textContent != '' && \
                svg.querySelector('desc').textContent.length > 40}; \
    })";

#[test]
fn a_page_asks_for_nothing_complains_of_nothing_and_shows_its_charts() {
    let directory = tempfile::tempdir().unwrap();
    let mut browser = Chromium::start();
    for (name, run) in simulated::all() {
        let file = directory.path().join(format!("{name}.html"));
        fs::write(&file, html(&run)).unwrap();
        let address = format!("file://{}", file.display());
        let events = browser.open(&address);
        let of =
            |method: &'static str| events.iter().filter(move |event| event["method"] == method);
        let requests: Vec<&Value> = of("Network.requestWillBeSent")
            .map(|event| &event["params"]["request"]["url"])
            .collect();
        assert_eq!(requests, [&json!(address)], "{name}");
        let complaints = [
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
        ];
        assert_eq!(
            complaints.map(|method| of(method).count()),
            [0; 3],
            "{name}: {events:?}"
        );
        for width in [360, 1_200] {
            browser.shape(width, "light");
            let charts = browser.value(CHARTS);
            let charts = charts.as_array().unwrap();
            assert!(charts.len() >= 4, "{name}: {} charts", charts.len());
            for chart in charts {
                let sound = ["wide", "high", "named"].map(|fact| chart[fact] == true);
                assert!(
                    sound == [true; 3] && chart["shown"].as_u64() > Some(0),
                    "{name}: {chart}"
                );
            }
            // Tables may be wider than the screen, but scroll by themselves.
            let across = browser.value("document.documentElement.scrollWidth");
            assert!(
                across.as_u64() <= Some(u64::from(width)),
                "{name}: {across} of {width}"
            );
        }
    }
}

#[test]
fn a_page_is_light_or_dark_as_its_reader_wants_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("page.html");
    fs::write(&file, html(&simulated::single())).unwrap();
    let mut browser = Chromium::start();
    browser.open(&format!("file://{}", file.display()));
    let colours = "['backgroundColor', 'color'].map(name => getComputedStyle(document.body)[name])";
    browser.shape(1_200, "light");
    assert_eq!(
        browser.value(colours),
        json!(["rgb(252, 252, 251)", "rgb(28, 30, 33)"])
    );
    browser.shape(1_200, "dark");
    assert_eq!(
        browser.value(colours),
        json!(["rgb(20, 22, 26)", "rgb(232, 234, 237)"])
    );
}
