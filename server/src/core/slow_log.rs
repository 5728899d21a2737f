//! The slow log: commands of the RESP door that took long, as `SLOWLOG` shows them.
//!
//! The loop reads the clock twice for each run of requests, not for each request: commands of a pipeline
//! are decided up to sixteen at a time, and one of them alone is too short to be timed. An entry holds the
//! first request of its run and says how many others there were. What counts is how long the decision took;
//! an entry also says how long its requests waited before it, for the disk, and until they were sent.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    time::{Duration, Instant, SystemTime},
};

use turnstile_access::SecretKey;
use turnstile_resp::{Arguments, Encoder};

use crate::core::request_log::micros;

/// Entries that are kept, as many as Redis keeps; the oldest goes first.
pub(crate) const SLOW_LOG_ENTRIES: usize = 128;

/// Words of a request that an entry keeps, and bytes of each, as many as Redis keeps: all entries
/// together take at most half a megabyte.
const WORDS_MAX: usize = 32;
const WORD_BYTES_MAX: usize = 128;

/// A date has eight digits. A word with more may be an id number, which is shown nowhere.
const DIGITS_MAX: usize = 8;

/// Commands that carry a password, of which an entry keeps nothing but the name.
const LOGINS: [&[u8]; 2] = [b"AUTH", b"HELLO"];

/// The slow commands since the start or the last reset.
#[derive(Debug)]
pub(crate) struct SlowLog {
    threshold: Duration,
    entries: VecDeque<Entry>,
    /// Entries since the start.
    count: u64,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    since_epoch: Duration,
    /// How long its requests waited for the loop.
    queued: Duration,
    took: Duration,
    /// How long they waited for the disk, and until their answers were sent; nothing while they wait.
    answered: Option<(Duration, Duration)>,
    words: Vec<String>,
    peer: SocketAddr,
    name: String,
}

impl SlowLog {
    pub(crate) const fn new(threshold: Duration) -> Self {
        Self {
            threshold,
            entries: VecDeque::new(),
            count: 0,
        }
    }

    pub(crate) const fn set_threshold(&mut self, threshold: Duration) {
        self.threshold = threshold;
    }

    pub(crate) const fn threshold(&self) -> Duration {
        self.threshold
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// How long a run took that began at this instant, if that is slow.
    #[inline]
    pub(crate) fn slow(&self, began: Instant) -> Option<Duration> {
        let took = began.elapsed();
        (took >= self.threshold).then_some(took)
    }

    /// Keeps a slow run, of which this was the first request and `others` came behind it. Answers the
    /// number of its entry.
    pub(crate) fn note(
        &mut self,
        (queued, took): (Duration, Duration),
        (request, others): (Arguments<'_, '_>, usize),
        (peer, name): (SocketAddr, &str),
    ) -> u64 {
        if self.entries.len() == SLOW_LOG_ENTRIES {
            self.entries.pop_front();
        }
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        self.entries.push_back(Entry {
            id: self.count,
            since_epoch: since_epoch.unwrap_or_default(),
            queued,
            took,
            answered: None,
            words: words(request, others),
            peer,
            name: name.to_owned(),
        });
        self.count += 1;
        self.count - 1
    }

    /// The answers of an entry have left. It may be gone.
    pub(crate) fn end(&mut self, id: u64, answered: (Duration, Duration)) {
        let entry = self.entries.iter_mut().rev().find(|entry| entry.id == id);
        if let Some(entry) = entry {
            entry.answered = Some(answered);
        }
    }

    /// Appends the newest entries, at most so many, in the form of Redis.
    pub(crate) fn put(&self, most: usize, reply: &mut Encoder<'_>) {
        reply.array(most.min(self.entries.len()));
        for entry in self.entries.iter().rev().take(most) {
            reply.array(6);
            reply.integer(entry.id);
            reply.integer(entry.since_epoch.as_secs());
            reply.integer(micros(entry.took));
            reply.array(entry.words.len() + 1);
            for word in &entry.words {
                reply.text(word);
            }
            reply.text(&entry.parts());
            reply.shown(entry.peer);
            reply.text(&entry.name);
        }
    }
}

impl Entry {
    /// The parts of its time, as the last word of its request: readers of Redis know no other place.
    fn parts(&self) -> String {
        let [queue, decide] = [self.queued, self.took].map(micros);
        match self.answered {
            None => format!("... (queue {queue} us, decide {decide} us, not answered yet)"),
            Some((sync, send)) => {
                let [sync, send] = [sync, send].map(micros);
                format!(
                    "... (queue {queue} us, decide {decide} us, sync {sync} us, send {send} us)"
                )
            }
        }
    }
}

/// A request as it is kept: long ones cut, id numbers and access keys masked.
fn words(request: Arguments<'_, '_>, others: usize) -> Vec<String> {
    let name = request.get(0).unwrap_or_default();
    let is_login = LOGINS.iter().any(|login| name.eq_ignore_ascii_case(login));
    let most = if is_login { 1 } else { WORDS_MAX };
    let mut words: Vec<_> = request.iter().take(most).map(word).collect();
    let cut = request.len() - words.len();
    if cut > 0 {
        words.push(format!("... ({cut} more arguments)"));
    }
    if others > 0 {
        words.push(format!("... ({others} more commands of the same pipeline)"));
    }
    words
}

fn word(word: &[u8]) -> String {
    let may_be_id = word.iter().filter(|byte| byte.is_ascii_digit()).count() > DIGITS_MAX;
    if may_be_id || holds_key(word) {
        return "(masked)".to_owned();
    }
    match word.get(..WORD_BYTES_MAX) {
        Some(start) if start.len() < word.len() => {
            let cut = word.len() - start.len();
            format!("{}... ({cut} more bytes)", String::from_utf8_lossy(start))
        }
        _ => String::from_utf8_lossy(word).into_owned(),
    }
}

/// Whether an access key may stand in a word, at its start or behind a character that no name has.
fn holds_key(word: &[u8]) -> bool {
    let mut parts = word.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    parts.any(|part| part.starts_with(SecretKey::MARK.as_bytes()))
}

#[cfg(test)]
mod tests {
    use turnstile_resp::{Decoded, Decoder};

    use super::*;

    fn kept(line: &str, others: usize) -> Vec<String> {
        let mut decoder = Decoder::new();
        let Ok(Decoded::Request { arguments, .. }) = decoder.decode(line.as_bytes()) else {
            panic!("no request: {line}");
        };
        words(arguments, others)
    }

    #[test]
    fn an_entry_keeps_no_id_number_and_no_more_than_its_share() {
        let book = "ROOMS.BOOK bench r1 2027-01-01 2027-01-02 ada 234123412346\n";
        let words = [
            "ROOMS.BOOK",
            "bench",
            "r1",
            "2027-01-01",
            "2027-01-02",
            "ada",
            "(masked)",
        ];
        assert_eq!(kept(book, 0), words);
        assert_eq!(
            kept("PING\n", 2),
            ["PING", "... (2 more commands of the same pipeline)"]
        );
        assert_eq!(kept("ECHO 2341x2341x2346\n", 0), ["ECHO", "(masked)"]);
        let long = kept(&format!("ECHO {}\n", "a".repeat(130)), 0);
        assert_eq!(
            long,
            [
                "ECHO".to_owned(),
                format!("{}... (2 more bytes)", "a".repeat(128))
            ]
        );
        let many = kept(&format!("ECHO{}\n", " a".repeat(40)), 0);
        assert_eq!(many.len(), WORDS_MAX + 1);
        assert_eq!(many.last().unwrap(), "... (9 more arguments)");
    }

    /// A key of random letters seldom has more than eight digits, and stood in the log in clear.
    #[test]
    fn an_entry_keeps_no_access_key_and_no_password() {
        let key = format!("ts_live_abcdefghijkl_{}", "a".repeat(52));
        let rows: [(&str, &[&str]); 8] = [
            ("AUTH KEY", &["AUTH", "... (1 more arguments)"]),
            ("auth ada \"KEY\"", &["auth", "... (2 more arguments)"]),
            ("AUTH secret", &["AUTH", "... (1 more arguments)"]),
            ("HELLO 3 AUTH ada KEY", &["HELLO", "... (4 more arguments)"]),
            ("HELLO 3", &["HELLO", "... (1 more arguments)"]),
            ("ECHO KEY", &["ECHO", "(masked)"]),
            (
                "ECHO 'Bearer KEY' \"'KEY'\"",
                &["ECHO", "(masked)", "(masked)"],
            ),
            ("ECHO guests_a", &["ECHO", "guests_a"]),
        ];
        for (line, words) in rows {
            let line = line.replace("KEY", &key) + "\n";
            assert_eq!(kept(&line, 0), words, "{line}");
        }
    }

    #[test]
    fn the_oldest_entry_goes_first() {
        let mut log = SlowLog::new(Duration::ZERO);
        let peer = SocketAddr::from(([127, 0, 0, 1], 1));
        let mut decoder = Decoder::new();
        let Ok(Decoded::Request { arguments, .. }) = decoder.decode(b"PING\n") else {
            panic!("no request");
        };
        for _ in 0..=SLOW_LOG_ENTRIES {
            let times = (Duration::ZERO, Duration::from_micros(7));
            log.note(times, (arguments, 0), (peer, "me"));
        }
        assert_eq!(log.len(), SLOW_LOG_ENTRIES);
        let ids: Vec<_> = log.entries.iter().map(|entry| entry.id).collect();
        assert_eq!(ids, (1..=128).collect::<Vec<_>>());
        log.clear();
        assert_eq!((log.len(), log.count), (0, 129));
    }
}
