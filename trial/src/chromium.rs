//! A real browser for tests of pages.
//!
//! Chromium is driven by its own protocol over a pipe: messages of JSON, each with a zero behind it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

/// A browser with one tab. It ends with this value.
#[derive(Debug)]
pub struct Chromium {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    asked: u64,
    /// What it told without being asked.
    events: Vec<Value>,
}

impl Chromium {
    /// Starts Chromium and opens a tab.
    ///
    /// # Panics
    /// Chromium does not start.
    #[must_use]
    pub fn start() -> Self {
        // The protocol is on the third and fourth descriptor.
        let command = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
                       --remote-debugging-pipe 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("chromium answers: is it installed?");
        let input = child
            .stdin
            .take()
            .expect("chromium answers: is it installed?");
        let output = BufReader::new(
            child
                .stdout
                .take()
                .expect("chromium answers: is it installed?"),
        );
        let mut browser = Self {
            child,
            input,
            output,
            session: None,
            asked: 0,
            events: Vec::new(),
        };
        let tab = browser.ask("Target.createTarget", &json!({"url": "about:blank"}));
        let tab = json!({"targetId": tab["targetId"], "flatten": true});
        let session = browser.ask("Target.attachToTarget", &tab);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Network", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Asks for a method of the browser's protocol, such as `Page.captureScreenshot`; gives its result.
    ///
    /// # Panics
    /// Chromium has ended, or refuses.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let mut message = json!({"id": self.asked, "method": method});
        message["params"] = params.clone();
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.input
            .write_all(format!("{message}\0").as_bytes())
            .expect("chromium answers: is it installed?");
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
        self.output
            .read_until(0, &mut bytes)
            .expect("chromium answers: is it installed?");
        assert_eq!(bytes.pop(), Some(0), "chromium has ended: is it installed?");
        serde_json::from_slice(&bytes).expect("chromium answers: is it installed?")
    }

    /// Opens a page, waits until all of it is there, and gives what it did meanwhile.
    ///
    /// # Panics
    /// Chromium has ended.
    pub fn open(&mut self, address: &str) -> Vec<Value> {
        self.events.clear();
        self.ask("Page.navigate", &json!({"url": address}));
        self.await_event("Page.loadEventFired");
        std::mem::take(&mut self.events)
    }

    /// Goes back to the page before this one, which the browser may have kept.
    ///
    /// # Panics
    /// Chromium has ended, or this page is the first.
    pub fn go_back(&mut self) {
        let history = self.ask("Page.getNavigationHistory", &json!({}));
        let current = history["currentIndex"].as_u64().expect("an index");
        let before = current.checked_sub(1).expect("a page before this one");
        let before = usize::try_from(before).expect("a short history");
        let entry = &history["entries"][before]["id"];
        self.events.clear();
        self.ask("Page.navigateToHistoryEntry", &json!({"entryId": entry}));
        self.await_event("Page.frameNavigated");
        self.events.clear();
    }

    fn await_event(&mut self, method: &str) {
        while !self.events.iter().any(|event| event["method"] == method) {
            let event = self.hear();
            self.events.push(event);
        }
    }

    /// What an expression comes to; a promise is waited for.
    ///
    /// # Panics
    /// Chromium has ended, or the expression throws.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let found = self.ask("Runtime.evaluate", &asked);
        assert!(
            found.get("exceptionDetails").is_none(),
            "{expression}: {found}"
        );
        found["result"]["value"].clone()
    }

    /// The width of the window in pixels, and `light` or `dark`.
    ///
    /// # Panics
    /// Chromium has ended.
    pub fn shape(&mut self, width: u32, scheme: &str) {
        self.resize([width, 800], scheme);
    }

    /// Width and height of the window in pixels, and `light` or `dark`.
    ///
    /// # Panics
    /// Chromium has ended.
    pub fn resize(&mut self, [width, height]: [u32; 2], scheme: &str) {
        let screen =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", &screen);
        let scheme = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.ask("Emulation.setEmulatedMedia", &scheme);
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
