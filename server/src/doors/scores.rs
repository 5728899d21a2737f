//! The two ends of the line between an arena and the scores in another process.

mod teller;

use turnstile_duel::{Asked, Clerk, Report, Verdict};
use turnstile_games::{Command, Done, Standing};
use turnstile_parcels::{Commands, put_command};

use crate::{
    core::{
        conversation::{ClientProof, Conversation, FastDoor, Next, Progress, Surroundings},
        engine::Engine,
    },
    counters::{DoorName, ErrorCode},
    doors::duel::{Refused, decide_as, name, triple},
};

pub use self::teller::ScoresWire;
pub(crate) use self::teller::Teller;

/// The door where arenas send results, which has no word for a refusal.
pub(crate) static SCORES: FastDoor = FastDoor {
    name: DoorName::Scores,
    refusal: |_why| Vec::new(),
    most: None,
    serves_early: false,
    has_frames: false,
    proof: ClientProof::Process,
};

/// One arena at the scores' door: results come in, and how both players stand goes out.
#[derive(Debug, Default)]
pub(crate) enum ScoresSession {
    /// It has said nothing yet.
    #[default]
    New,
    /// On the ancestor's wire.
    Ancestor(Clerk),
    /// With numbers.
    Numbered(Commands),
}

impl ScoresSession {
    fn hear(
        &mut self,
        engine: &mut Engine,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, Refused> {
        if let (Self::New, Some(&byte)) = (&self, bytes.first()) {
            *self = if Commands::begins_with(byte) {
                Self::Numbered(Commands::answering())
            } else {
                Self::Ancestor(Clerk::default())
            };
        }
        match self {
            Self::New => Ok(None),
            Self::Ancestor(clerk) => hear_clerk(clerk, engine, bytes, out),
            Self::Numbered(commands) => {
                let (parcel, length) = match commands.next(bytes)? {
                    None => return Ok(None),
                    Some((Command::Deliver(parcel), length)) => (parcel, length),
                    Some(_) => return Err(Refused::OtherWay),
                };
                let standings = count(engine, &Command::Deliver(parcel))?;
                let number = parcel.number;
                put_command(out, &Command::Acknowledge { number, standings });
                Ok(Some(length))
            }
        }
    }
}

impl Conversation for ScoresSession {
    type Shared = ();

    fn door(&self) -> &'static FastDoor {
        &SCORES
    }

    /// Answers what is asked at the start of the input.
    fn run(
        &mut self,
        (): &mut (),
        around: &mut Surroundings<'_>,
        (bytes, _budget): (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        let heard = self.hear(around.engine, bytes, out);
        progress(around.engine, heard, "an arena is not served any more")
    }
}

/// The scores at the other end of the connection that this arena has dialed; see [`Teller`].
#[derive(Debug)]
pub(crate) struct DistantScores;

impl Conversation for DistantScores {
    type Shared = Option<Teller>;

    fn door(&self) -> &'static FastDoor {
        &SCORES
    }

    fn run(
        &mut self,
        teller: &mut Option<Teller>,
        around: &mut Surroundings<'_>,
        (bytes, _budget): (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        let engine = &mut *around.engine;
        let teller = teller.as_mut();
        let heard = teller.map_or(Ok(None), |teller| teller.hear(engine, bytes, out));
        progress(engine, heard, "the scores are not listened to any more")
    }
}

fn progress(engine: &Engine, heard: Result<Option<usize>, Refused>, what: &str) -> Progress {
    let (length, requests, next) = match heard {
        Ok(Some(length)) => (length, 1, Next::More),
        Ok(None) => (0, 0, Next::Incomplete),
        Err(why) => {
            engine.counters.error(ErrorCode::Protocol);
            tracing::warn!(%why, "{what}");
            (0, 1, Next::Drop)
        }
    };
    Progress {
        length,
        requests,
        next,
    }
}

fn hear_clerk(
    clerk: &mut Clerk,
    engine: &mut Engine,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<usize>, Refused> {
    let Some((asked, length)) = clerk.hear(bytes)? else {
        return Ok(None);
    };
    let parcel = match asked {
        Asked::Second(parcel) => parcel,
        Asked::Count(report) => {
            let [first, second] = count(engine, &command(report))?;
            clerk.tell(triple(first), triple(second))
        }
    };
    out.extend_from_slice(parcel.bytes());
    Ok(Some(length))
}

fn command(report: Report) -> Command {
    Command::Report {
        players: [report.first, report.second].map(name),
        verdict: match report.verdict {
            Verdict::FirstWon => turnstile_games::Verdict::FirstWon,
            Verdict::SecondWon => turnstile_games::Verdict::SecondWon,
            Verdict::Drawn => turnstile_games::Verdict::Drawn,
        },
    }
}

fn count(engine: &mut Engine, command: &Command) -> Result<[Standing; 2], Refused> {
    decide_as(engine, command, |done| match done {
        Done::Counted(standings) => Some(standings),
        _ => None,
    })
}
