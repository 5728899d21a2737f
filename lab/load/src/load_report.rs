//! What a load of one service gave, whichever service it was.

use std::fmt;

use turnstile_result::{Point, Server};

use crate::{Verdict, point};

/// What a load gave, with the proof of what was acknowledged.
#[derive(Clone, Debug)]
pub struct LoadReport<P> {
    /// What the server says of itself; none where no door is known that tells it.
    pub server: Option<Server>,
    pub proof: P,
    /// All figures, as in `run.json`.
    pub point: Point,
}

impl<P> LoadReport<P> {
    /// What the proof is worth; what the machine did to the figures does not matter to it.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::of_rules(&self.point.proof)
    }
}

impl<P: fmt::Display> LoadReport<P> {
    /// The same with the proof in words.
    pub(crate) fn in_words(self) -> LoadReport<String> {
        LoadReport {
            server: self.server,
            proof: self.proof.to_string(),
            point: self.point,
        }
    }
}

impl<P: fmt::Display> fmt::Display for LoadReport<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (workload, server) = (&self.point.series, self.server.as_ref());
        point::write(f, workload, server, &self.point)?;
        write!(f, "{}", self.proof)
    }
}
