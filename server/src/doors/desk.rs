//! One end of a connection between two processes of travel: hellos, then parcels.

use std::fmt;

use turnstile_parcels::{
    Frames, Hello, Message, MessageScan, put_message, put_opening, put_refusal,
};
use turnstile_travel::{Command, Desk, Outcome, Parcel, Travel};

use crate::{
    core::{
        conversation::{
            ClientProof, Continuation, Conversation, FastDoor, InputRefused, PeerLine, Progress,
            Surroundings,
        },
        engine::Engine,
        fault_points::Who,
    },
    counters::{DoorName, ErrorCode},
    limits::PEERS,
};

/// The door between the processes of travel. These are trusted to finish what they begin.
pub(crate) static DESK: FastDoor = FastDoor {
    name: DoorName::Desk,
    refusal: |why| {
        let mut refusal = Vec::new();
        put_opening(&mut refusal);
        put_refusal(&mut refusal, why);
        refusal
    },
    most: Some(PEERS),
    serves_early: false,
    has_frames: false,
    proof: ClientProof::Process,
};

/// The peer's side of the conversation. What is sent to it, the loop puts there; here is what comes.
#[derive(Debug)]
pub(crate) struct PeerSession {
    frames: Frames,
    /// The desk that was dialed; none at the end that was.
    dialed: Option<Desk>,
    /// The desk of the line, once the peer has said hello.
    met: Option<Desk>,
}

/// Why a peer is not served.
enum PeerRefusal {
    /// A desk that is not played here.
    NotPlayed(Desk),
    /// Another desk than was dialed, or meant before.
    OtherDesk(Desk),
    /// Its directory is older than what is known of it here.
    Past {
        life: u64,
        known: u64,
    },
    /// It speaks out of turn.
    NoHello,
    SecondHello,
    /// A message that goes the other way only.
    OtherWay,
    /// This process has no such fault point.
    NoFaultPoint {
        mode: u8,
    },
    /// An answer to a fault point that was not sent.
    NotSent,
}

impl PeerSession {
    /// The end that is dialed.
    pub(crate) fn answering() -> Self {
        Self {
            frames: Frames::default(),
            dialed: None,
            met: None,
        }
    }

    /// The end that dials this desk; appends what it says first.
    pub(crate) fn dialing(engine: &Engine, desk: Desk, out: &mut Vec<u8>) -> Self {
        put_opening(out);
        put_message(out, Message::Hello(hello(engine, desk)));
        Self {
            dialed: Some(desk),
            ..Self::answering()
        }
    }

    /// The desk whose line this is or is to become, as far as it is known.
    fn desk(&self) -> Option<Desk> {
        self.met.or(self.dialed)
    }

    fn hear(
        &mut self,
        around: &mut Surroundings<'_>,
        message: Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Continuation, PeerRefusal> {
        match (message, self.met) {
            (Message::Refusal(why), _) => {
                self.log(around.engine, "the peer refuses a line", why);
                return Ok(Continuation::Drop);
            }
            (Message::Hello(_), Some(_)) => return Err(PeerRefusal::SecondHello),
            (Message::Hello(hello), None) => self.greet(around.engine, hello, out)?,
            (_, None) => return Err(PeerRefusal::NoHello),
            (Message::Parcel(parcel), Some(desk)) if parcel.desk == desk => {
                return deliver(around.engine, parcel);
            }
            (Message::Parcel(parcel), Some(_)) => return Err(PeerRefusal::OtherDesk(parcel.desk)),
            (Message::FaultPoint { .. } | Message::Shutdown, _) if self.dialed.is_some() => {
                return Err(PeerRefusal::OtherWay);
            }
            (Message::Armed { .. }, _) if self.dialed.is_none() => {
                return Err(PeerRefusal::OtherWay);
            }
            (Message::Armed { is_kept }, Some(desk)) => {
                if !around.engine.switchboard.note_armed(desk, is_kept) {
                    return Err(PeerRefusal::NotSent);
                }
            }
            (Message::FaultPoint { mode }, Some(desk)) => {
                let is_kept = arm(around.engine, desk, mode)?;
                put_message(out, Message::Armed { is_kept });
            }
            (Message::Shutdown, Some(_)) => {
                tracing::info!("the middleware asked the server to stop");
                around.signals.end();
            }
        }
        Ok(Continuation::More)
    }

    /// The peer has said who it is; the end that was dialed says it too.
    fn greet(
        &mut self,
        engine: &mut Engine,
        theirs: Hello,
        out: &mut Vec<u8>,
    ) -> Result<(), PeerRefusal> {
        let desk = theirs.desk;
        match self.dialed {
            Some(dialed) if dialed != desk => return Err(PeerRefusal::OtherDesk(desk)),
            None if !engine.is_desk_of_lines(desk) => return Err(PeerRefusal::NotPlayed(desk)),
            Some(_) | None => {}
        }
        let known = engine.travel().greeting(desk).peer_life;
        if theirs.life < known {
            let life = theirs.life;
            return Err(PeerRefusal::Past { life, known });
        }
        if self.dialed.is_none() {
            put_opening(out);
            put_message(out, Message::Hello(hello(engine, desk)));
        }
        self.met = Some(desk);
        engine.switchboard.connect(desk, theirs.fault_points);
        Ok(())
    }

    /// Tells the peer why it is not served, and the log.
    fn refuse(
        &self,
        engine: &mut Engine,
        why: impl fmt::Display,
        out: &mut Vec<u8>,
    ) -> Continuation {
        engine.counters.error(ErrorCode::Protocol);
        self.log(engine, "a line was refused", &why.to_string());
        if self.met.is_none() && self.dialed.is_none() {
            put_opening(out);
        }
        put_refusal(out, why);
        Continuation::Close
    }

    /// Logs a refusal; the same one of a desk that is dialed again and again, once.
    fn log(&self, engine: &mut Engine, what: &str, why: &str) {
        match self.desk() {
            Some(desk) if !engine.switchboard.refuse(desk, why) => {}
            desk => tracing::warn!(desk = desk.map_or("unknown", Desk::code), ?why, "{what}"),
        }
    }
}

impl Conversation for PeerSession {
    type Shared = ();

    fn door(&self) -> &'static FastDoor {
        &DESK
    }

    fn outlasts_drain(&self) -> bool {
        true
    }

    /// Takes the message at the start of the input.
    fn run(
        &mut self,
        (): &mut (),
        around: &mut Surroundings<'_>,
        (bytes, _budget): (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        let (length, requests, next) = match self.frames.next(bytes) {
            Ok(MessageScan::Incomplete { skipped }) => (skipped, 0, Continuation::Incomplete),
            Ok(MessageScan::Message { message, consumed }) => {
                let next = match self.hear(around, message, out) {
                    Ok(next) => next,
                    Err(why) => self.refuse(around.engine, why, out),
                };
                (consumed, 1, next)
            }
            Err(broken) => (0, 1, self.refuse(around.engine, broken, out)),
        };
        Progress {
            length,
            requests,
            next,
        }
    }

    fn peer(&self) -> Option<PeerLine> {
        Some(PeerLine {
            desk: self.desk(),
            met: self.met,
        })
    }

    fn refuse_input(&mut self, why: InputRefused, out: &mut Vec<u8>) {
        put_refusal(out, why);
    }
}

fn hello(engine: &Engine, desk: Desk) -> Hello {
    Hello {
        desk,
        life: engine.travel().greeting(desk).life,
        fault_points: engine.fault_points.is_allowed(),
    }
}

/// Has the desk end at a fault point; answers whether it is kept.
fn arm(engine: &mut Engine, desk: Desk, mode: u8) -> Result<bool, PeerRefusal> {
    if !engine.fault_points.is_allowed() || mode > turnstile_lines::limits::MANAGER_MODE_MAX {
        return Err(PeerRefusal::NoFaultPoint { mode });
    }
    let armed = engine.fault_points.arm(Who::Desk(desk), mode);
    if let Err(failure) = &armed {
        tracing::error!(%failure, "cannot store a fault point");
    }
    Ok(armed.is_ok())
}

/// Has a parcel taken. Where the disk is full it is not: the line is closed, and whoever sent the
/// parcel sends it again on the next connection.
fn deliver(engine: &mut Engine, parcel: Parcel) -> Result<Continuation, PeerRefusal> {
    let line = engine.counters.line(parcel.desk);
    line.parcels_in.add(1);
    let voted = engine.fault_points.arriving(engine.travel(), &parcel);
    match engine.execute::<Travel>(None, &Command::Deliver(parcel), None) {
        Ok(reply) if matches!(reply.outcome, Outcome::Done(_)) => {
            if let Some(xid) = voted {
                let (travel, fault_points) = engine.travel_watched();
                fault_points.took_vote(travel, xid);
            }
            Ok(Continuation::More)
        }
        Ok(_) => Err(PeerRefusal::OtherWay),
        Err(error) => {
            tracing::warn!(%error, "a message was rejected");
            Ok(Continuation::Drop)
        }
    }
}

impl fmt::Display for PeerRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPlayed(desk) => write!(f, "{desk} is not played here"),
            Self::OtherDesk(desk) => write!(f, "this is not the line of {desk}"),
            Self::Past { life, known } => write!(
                f,
                "life {life} of the peer is over, life {known} is known: was its directory \
                 replaced by an older one?"
            ),
            Self::NoHello => write!(f, "a hello comes first"),
            Self::SecondHello => write!(f, "hello was said already"),
            Self::NoFaultPoint { mode } => write!(f, "there is no fault point {mode} here"),
            Self::NotSent => write!(f, "no fault point was sent that this could answer"),
            Self::OtherWay => write!(f, "such a message goes the other way"),
        }
    }
}
