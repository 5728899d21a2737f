//! The two ends of the line between an arena and the scores in another process.

mod teller;

use turnstile_duel::{Asked, Clerk, Report, Verdict};
use turnstile_games::{Command, Done, Games, Standing};
use turnstile_parcels::{Commands, put_command};

use crate::{
    core::{
        conversation::{ClientProof, Continuation, Conversation, FastDoor, Progress, Surroundings},
        engine::Engine,
        remote::Landed,
    },
    counters::{DoorName, ErrorCode},
    doors::duel::{DuelRefusal, decide, decide_as, decided_as, name, order, triple},
};

pub(crate) use self::teller::ScoresConnection;
pub use self::teller::ScoresWire;

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
#[derive(Debug)]
pub(crate) struct ScoresSession {
    id: u64,
    line: ScoresLine,
    counting: ResultWait,
}

/// A result that the order of a shared log is to count. Nothing is heard before it has.
#[derive(Debug, Default)]
enum ResultWait {
    #[default]
    Nothing,
    /// The number of a parcel, where it has one.
    Asked(Option<u64>),
    Failed(DuelRefusal),
}

/// What an arena speaks.
#[derive(Debug, Default)]
enum ScoresLine {
    /// It has said nothing yet.
    #[default]
    New,
    /// On the ancestor's wire.
    Ancestor(Clerk),
    /// With numbers.
    Numbered(Commands),
}

impl ScoresSession {
    pub(crate) fn new(id: u64) -> Self {
        Self {
            id,
            line: ScoresLine::New,
            counting: ResultWait::Nothing,
        }
    }

    fn hear(
        &mut self,
        around: &mut Surroundings<'_>,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, DuelRefusal> {
        if let ResultWait::Failed(why) = std::mem::take(&mut self.counting) {
            return Err(why);
        }
        if let (ScoresLine::New, Some(&byte)) = (&self.line, bytes.first()) {
            self.line = if Commands::begins_with(byte) {
                ScoresLine::Numbered(Commands::answering())
            } else {
                ScoresLine::Ancestor(Clerk::default())
            };
        }
        let (command, length) = match &mut self.line {
            ScoresLine::New => return Ok(None),
            ScoresLine::Ancestor(clerk) => match clerk.hear(bytes)? {
                None => return Ok(None),
                Some((Asked::Second(parcel), length)) => {
                    out.extend_from_slice(parcel.bytes());
                    return Ok(Some(length));
                }
                Some((Asked::Count(report), length)) => (command(report), length),
            },
            ScoresLine::Numbered(commands) => match commands.next(bytes)? {
                None => return Ok(None),
                Some((command @ Command::Deliver(_), length)) => (command, length),
                Some(_) => return Err(DuelRefusal::OtherWay),
            },
        };
        let number = match &command {
            Command::Deliver(parcel) => Some(parcel.number),
            _ => None,
        };
        if around.engine.is_away::<Games>() {
            order(around.engine, (around.place, self.id), &command)?;
            self.counting = ResultWait::Asked(number);
        } else {
            let standings = decide_as(around.engine, &command, counted)?;
            self.tell(number, standings, out);
        }
        Ok(Some(length))
    }

    /// Tells how both players stand behind a result.
    fn tell(&mut self, number: Option<u64>, standings: [Standing; 2], out: &mut Vec<u8>) {
        match (&mut self.line, number) {
            (ScoresLine::Ancestor(clerk), _) => {
                let [first, second] = standings.map(triple);
                out.extend_from_slice(clerk.tell(first, second).bytes());
            }
            (_, Some(number)) => put_command(out, &Command::Acknowledge { number, standings }),
            (_, None) => {}
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
        let heard = self.hear(around, bytes, out);
        progress(around.engine, heard, "an arena is not served any more")
    }

    fn waits(&self) -> bool {
        matches!(self.counting, ResultWait::Asked(_))
    }

    fn put_landed(&mut self, client: u64, landed: Landed, out: &mut Vec<u8>) {
        let (true, ResultWait::Asked(number), Landed::Games(landing)) =
            (client == self.id, &self.counting, landed)
        else {
            return;
        };
        let number = *number;
        self.counting = match decided_as(landing, counted) {
            Ok(standings) => {
                self.tell(number, standings, out);
                ResultWait::Nothing
            }
            Err(why) => ResultWait::Failed(why),
        };
    }
}

/// The scores at the other end of the connection that this arena has dialed; see [`ScoresConnection`].
#[derive(Debug, Default)]
pub(crate) struct DistantScores {
    /// By what answers of the order are known: which dial of the teller it is.
    id: u64,
    /// An acknowledgement that the order of a shared log is to note. Nothing is heard before it has.
    noting: Noting,
}

#[derive(Debug, Default)]
enum Noting {
    #[default]
    Nothing,
    Asked,
    Noted(Result<(), DuelRefusal>),
}

impl DistantScores {
    fn hear(
        &mut self,
        teller: &mut ScoresConnection,
        around: &mut Surroundings<'_>,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, DuelRefusal> {
        if let Noting::Noted(noted) = std::mem::take(&mut self.noting) {
            noted?;
            teller.note_success();
        }
        let (acknowledged, length) = match teller.hear(around.engine, bytes, out)? {
            None => return Ok(None),
            Some((None, length)) => return Ok(Some(length)),
            Some((Some(command), length)) => (command, length),
        };
        if around.engine.is_away::<Games>() {
            self.id = teller.id();
            order(around.engine, (around.place, self.id), &acknowledged)?;
            self.noting = Noting::Asked;
        } else {
            decide(around.engine, &acknowledged)?;
            teller.note_success();
        }
        Ok(Some(length))
    }
}

impl Conversation for DistantScores {
    type Shared = Option<ScoresConnection>;

    fn door(&self) -> &'static FastDoor {
        &SCORES
    }

    fn run(
        &mut self,
        teller: &mut Option<ScoresConnection>,
        around: &mut Surroundings<'_>,
        (bytes, _budget): (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        let heard = match teller {
            Some(teller) => self.hear(teller, around, bytes, out),
            None => Ok(None),
        };
        progress(
            around.engine,
            heard,
            "the scores are not listened to any more",
        )
    }

    fn waits(&self) -> bool {
        matches!(self.noting, Noting::Asked)
    }

    fn put_landed(&mut self, client: u64, landed: Landed, _out: &mut Vec<u8>) {
        if let (true, Noting::Asked, Landed::Games(landing)) =
            (client == self.id, &self.noting, landed)
        {
            self.noting = Noting::Noted(decided_as(landing, Some).map(drop));
        }
    }
}

fn progress(engine: &Engine, heard: Result<Option<usize>, DuelRefusal>, what: &str) -> Progress {
    let (length, requests, next) = match heard {
        Ok(Some(length)) => (length, 1, Continuation::More),
        Ok(None) => (0, 0, Continuation::Incomplete),
        Err(why) => {
            engine.counters.error(ErrorCode::Protocol);
            tracing::warn!(%why, "{what}");
            (0, 1, Continuation::Drop)
        }
    };
    Progress {
        length,
        requests,
        next,
    }
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

fn counted(done: Done) -> Option<[Standing; 2]> {
    match done {
        Done::Counted(standings) => Some(standings),
        _ => None,
    }
}
