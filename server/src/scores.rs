//! One arena at the scores' door: results come in, and how both players stand goes out.

use turnstile_duel::{Asked, Clerk, Report, Verdict};
use turnstile_games::{Command, Done, Games, Outcome, Standing};

use crate::{
    conversation::{Next, Progress},
    counters::ErrorCode,
    engine::Engine,
    hall::{Refused, name, triple},
};

/// The arena's side of the conversation.
#[derive(Debug, Default)]
pub(crate) struct ScoresSession {
    clerk: Clerk,
}

impl ScoresSession {
    /// Answers what is asked at the start of `bytes`.
    pub(crate) fn run(&mut self, engine: &mut Engine, bytes: &[u8], out: &mut Vec<u8>) -> Progress {
        let (length, requests, next) = match self.hear(engine, bytes, out) {
            Ok(Some(length)) => (length, 1, Next::More),
            Ok(None) => (0, 0, Next::Incomplete),
            Err(why) => {
                engine.counters.error(ErrorCode::Protocol);
                tracing::warn!(%why, "an arena is not served any more");
                (0, 1, Next::Drop)
            }
        };
        Progress {
            length,
            requests,
            next,
        }
    }

    fn hear(
        &mut self,
        engine: &mut Engine,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, Refused> {
        let Some((asked, length)) = self.clerk.hear(bytes)? else {
            return Ok(None);
        };
        let parcel = match asked {
            Asked::Second(parcel) => parcel,
            Asked::Count(report) => {
                let [first, second] = count(engine, report)?;
                self.clerk.tell(triple(first), triple(second))
            }
        };
        out.extend_from_slice(parcel.bytes());
        Ok(Some(length))
    }
}

fn count(engine: &mut Engine, report: Report) -> Result<[Standing; 2], Refused> {
    let command = Command::Report {
        players: [report.first, report.second].map(name),
        verdict: match report.verdict {
            Verdict::FirstWon => turnstile_games::Verdict::FirstWon,
            Verdict::SecondWon => turnstile_games::Verdict::SecondWon,
            Verdict::Drawn => turnstile_games::Verdict::Drawn,
        },
    };
    let principal = engine.principal;
    match engine.execute::<Games>(&principal, None, &command)?.outcome {
        Outcome::Done(Done::Counted(standings)) => Ok(standings),
        Outcome::Done(other) => unreachable!("a result was counted, not {other:?}"),
        Outcome::Refused(refusal) => Err(Refused::Machine(refusal)),
    }
}
