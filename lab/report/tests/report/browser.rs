//! The page in a real browser: whole, quiet, and legible where people read it.
//!
//! Chromium is driven by its own protocol over a pipe: messages of JSON, each with a zero behind it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};
use turnstile_report::html;

use crate::simulated;

/// A browser with one tab. It ends with this value.
struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    asked: u64,
    /// What it told without being asked.
    events: Vec<Value>,
}

impl Browser {
    fn start() -> Self {
        // The protocol is on the third and fourth descriptor.
        let command = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
                       --remote-debugging-pipe 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut browser = Self {
            child,
            input,
            output,
            session: None,
            asked: 0,
            events: Vec::new(),
        };
        let tab = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let tab = json!({"targetId": tab["targetId"], "flatten": true});
        let session = browser.ask("Target.attachToTarget", tab);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Network", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({"id": self.asked, "method": method});
        message["params"] = params;
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.input
            .write_all(format!("{message}\0").as_bytes())
            .unwrap();
        loop {
            let message = self.hear();
            if message["id"] == self.asked {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn hear(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "chromium has ended: is it installed?");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Opens a page, waits until all of it is there, and gives what it did meanwhile.
    fn open(&mut self, address: &str) -> Vec<Value> {
        self.events.clear();
        self.ask("Page.navigate", json!({"url": address}));
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            let event = self.hear();
            self.events.push(event);
        }
        std::mem::take(&mut self.events)
    }

    /// What an expression comes to.
    fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true});
        self.ask("Runtime.evaluate", asked)["result"]["value"].clone()
    }

    fn shape(&mut self, width: u32, scheme: &str) {
        let screen =
            json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", screen);
        let scheme = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.ask("Emulation.setEmulatedMedia", scheme);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

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
    let mut browser = Browser::start();
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
    let mut browser = Browser::start();
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
