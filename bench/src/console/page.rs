//! A page of the console in Chromium, watched from its first moment.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use turnstile_trial::Chromium;

/// What every page is watched by: tasks of more than 50 ms, as the browser reports them, and the moment at
/// which the page shows its heading.
const WATCH: &str = "\
    window.tasks = []; \
    new PerformanceObserver(list => { for (const one of list.getEntries()) tasks.push(one.duration); }) \
        .observe({type: 'longtask', buffered: true}); \
    const seen = new MutationObserver(() => { \
        if (!document.querySelector('main h1')) return; \
        window.shown = performance.now(); \
        seen.disconnect(); \
    }); \
    seen.observe(document, {subtree: true, childList: true});";

/// The longest that a page may take for anything.
const PATIENCE_MS: u32 = 180_000;

/// A tab that shows the console of a server.
#[derive(Debug)]
pub(super) struct Page {
    browser: Chromium,
    http: SocketAddr,
}

impl Page {
    /// A browser of its own, without a cache, in a window of this size.
    pub(super) fn start(http: SocketAddr, size: [u32; 2]) -> Self {
        let mut browser = Chromium::start();
        browser.resize(size, "light");
        browser.ask("Network.setCacheDisabled", &json!({"cacheDisabled": true}));
        browser.ask("Emulation.setScrollbarsHidden", &json!({"hidden": true}));
        let watch = json!({"source": WATCH});
        browser.ask("Page.addScriptToEvaluateOnNewDocument", &watch);
        Self { browser, http }
    }

    /// Opens a page anew, such as `rooms?property=grand`, and waits for its heading.
    pub(super) fn open(&mut self, page: &str) -> Result<()> {
        // A change of the part behind the # alone would load nothing.
        self.browser.open("about:blank");
        let address = format!("http://{}/console/#/{page}", self.http);
        self.browser.open(&address);
        self.until("window.shown")?;
        Ok(())
    }

    /// Goes to another page without loading the console again.
    pub(super) fn go(&mut self, page: &str) {
        let hash = json!(format!("#/{page}"));
        self.value(&format!("location.hash = {hash}"));
    }

    pub(super) fn value(&mut self, expression: &str) -> Value {
        self.browser.value(expression)
    }

    /// A number that an expression comes to.
    pub(super) fn number(&mut self, expression: &str) -> Result<f64> {
        let found = self.value(expression);
        found
            .as_f64()
            .with_context(|| format!("{expression}: {found}"))
    }

    /// Numbers that an expression comes to.
    pub(super) fn numbers(&mut self, expression: &str) -> Result<Vec<f64>> {
        let found = self.value(expression);
        serde_json::from_value(found).with_context(|| expression.to_owned())
    }

    /// Waits until an expression is true.
    pub(super) fn until(&mut self, expression: &str) -> Result<()> {
        let found = self.value(&format!(
            "new Promise(done => {{ \
                 const end = Date.now() + {PATIENCE_MS}; \
                 const look = () => {{ \
                     if ({expression}) done(true); \
                     else if (Date.now() > end) done(document.body.innerText); \
                     else setTimeout(look, 50); \
                 }}; \
                 look(); \
             }})"
        ));
        if found != json!(true) {
            bail!("the page never had {expression}: {found}");
        }
        Ok(())
    }

    /// Lets the page run for a while.
    pub(super) fn wait(&mut self, duration: Duration) {
        let ms = duration.as_millis();
        self.value(&format!(
            "new Promise(done => setTimeout(done, {ms}, true))"
        ));
    }

    /// Slows the page down: 4 makes its core a quarter as fast.
    pub(super) fn throttle(&mut self, rate: u32) {
        let rate = json!({"rate": rate});
        self.browser.ask("Emulation.setCPUThrottlingRate", &rate);
    }

    /// The tasks of more than 50 ms since this was asked last, in ms.
    pub(super) fn long_tasks(&mut self) -> Result<Vec<f64>> {
        self.numbers("tasks.splice(0)")
    }

    /// The objects of the page after a collection of garbage, in MiB, and its nodes.
    pub(super) fn memory(&mut self) -> Result<[f64; 2]> {
        let none = json!({});
        self.browser.ask("HeapProfiler.collectGarbage", &none);
        let heap = self.browser.ask("Runtime.getHeapUsage", &none);
        let nodes = self.browser.ask("Memory.getDOMCounters", &none);
        let heap = heap["usedSize"].as_f64().context("a size")?;
        let nodes = nodes["nodes"].as_f64().context("a number of nodes")?;
        Ok([heap / f64::from(1 << 20), nodes])
    }

    /// Has the browser tell nothing of requests: it would keep what they answer.
    pub(super) fn forget_requests(&mut self) {
        for domain in ["Network", "Log"] {
            self.browser.ask(&format!("{domain}.disable"), &json!({}));
        }
    }

    /// A picture of the window, as PNG in base64.
    pub(super) fn picture(&mut self) -> Result<String> {
        let format = json!({"format": "png"});
        let taken = self.browser.ask("Page.captureScreenshot", &format);
        let data = taken["data"].as_str().context("a picture")?;
        Ok(data.to_owned())
    }
}
