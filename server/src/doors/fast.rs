//! The fast doors together, as the loop runs them.

use std::net::SocketAddr;

use turnstile_access::Rights;
use turnstile_resp::travel::Decided;
use turnstile_travel::{Desk, Outcome};
use turnstile_types::{AddressPolicy, DoorKind, Origin, Position, Principal};

use crate::{
    ListenerPrincipals,
    core::{
        caller::Caller,
        conversation::{
            Conversation, Dialed, DoorSet, Errand, FastDoor, InputRefused, ListedClient, PeerLine,
            Progress, Surroundings,
        },
        engine::Engine,
        news::News,
        remote::Landed,
        request_log::RequestNote,
        shares::Shares,
    },
    counters::DoorName,
    doors::{
        arena::{PlayerSession, hall::Hall},
        desk::PeerSession,
        lines::LinesSession,
        resp::RespSession,
        scores::{DistantScores, ScoresConnection, ScoresSession},
        xml::XmlSession,
    },
};

/// What the fast doors share, and what their clients are offered.
#[derive(Debug, Default)]
pub(crate) struct FastDoors {
    pub(crate) xml: turnstile_xml::Options,
    pub(crate) lines: turnstile_lines::Options,
    /// Who comes to the doors at which nobody can log in.
    pub(crate) principals: ListenerPrincipals,
    /// How much of their addresses records keep.
    pub(crate) addresses: AddressPolicy,
    /// Who plays at the arena's door.
    pub(crate) hall: Hall,
    /// Who tells distant scores the results, where they are not counted here.
    pub(crate) teller: Option<ScoresConnection>,
}

/// A conversation at one of the fast doors.
#[derive(Debug)]
pub(crate) enum FastSession {
    Resp(RespSession),
    Xml(XmlSession),
    Lines(LinesSession),
    Peer(PeerSession),
    Player(PlayerSession),
    Scores(ScoresSession),
    DistantScores(DistantScores),
}

/// Does the same with the session of whatever door.
macro_rules! whichever {
    ($self:ident, $session:ident => $does:expr) => {
        match $self {
            Self::Resp($session) => $does,
            Self::Xml($session) => $does,
            Self::Lines($session) => $does,
            Self::Peer($session) => $does,
            Self::Player($session) => $does,
            Self::Scores($session) => $does,
            Self::DistantScores($session) => $does,
        }
    };
}

/// Methods that are those of the session.
macro_rules! of_session {
    (reads: $(fn $name:ident(&$self:ident $(, $given:ident: $type:ty)*) $(-> $answer:ty)?;)*
     changes: $(fn $change:ident(&mut $own:ident $(, $with:ident: $kind:ty)*) $(-> $told:ty)?;)*) => {
        $(fn $name(&$self $(, $given: $type)*) $(-> $answer)? {
            whichever!($self, session => session.$name($($given),*))
        })*
        $(fn $change(&mut $own $(, $with: $kind)*) $(-> $told)? {
            whichever!($own, session => session.$change($($with),*))
        })*
    };
}

impl Conversation for FastSession {
    type Shared = FastDoors;

    fn door(&self) -> &'static FastDoor {
        whichever!(self, session => session.door())
    }

    #[inline]
    fn run(
        &mut self,
        doors: &mut FastDoors,
        around: &mut Surroundings<'_>,
        input: (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        match self {
            Self::Resp(session) => session.run(&mut (), around, input, out),
            Self::Xml(session) => session.run(&mut (), around, input, out),
            Self::Lines(session) => session.run(&mut (), around, input, out),
            Self::Peer(session) => session.run(&mut (), around, input, out),
            Self::Player(session) => session.run(&mut doors.hall, around, input, out),
            Self::Scores(session) => session.run(&mut (), around, input, out),
            Self::DistantScores(session) => session.run(&mut doors.teller, around, input, out),
        }
    }

    fn into_shares(self) -> Option<Shares> {
        whichever!(self, session => session.into_shares())
    }

    of_session! {
        reads:
        fn listed(&self, principal: Principal) -> Option<ListedClient<'_>>;
        fn follows(&self) -> bool;
        fn may_go_on(&self, rights: &Rights) -> bool;
        fn put_message(&self, message: (&str, &str), out: &mut Vec<u8>);
        fn peer(&self) -> Option<PeerLine>;
        fn waits(&self) -> bool;
        fn outlasts_drain(&self) -> bool;
        fn awaited(&self, name: &mut impl FnMut(Position));
        fn is_arming(&self) -> bool;
        fn held(&self) -> usize;
        fn unfinished_answer(&self) -> usize;
        fn end_of_input(&self, engine: &Engine, left: &[u8], out: &mut Vec<u8>);

        changes:
        fn put_late(
            &mut self,
            late: (Position, Decided),
            outcome: &Outcome,
            out: &mut Vec<u8>
        );
        fn settle_arming(&mut self, engine: &Engine, out: &mut Vec<u8>) -> bool;
        fn put_landed(&mut self, client: u64, landed: Landed, out: &mut Vec<u8>);
        fn take_note(&mut self) -> Option<RequestNote>;
        fn refuse_input(&mut self, why: InputRefused, out: &mut Vec<u8>);
        fn end(&mut self, out: &mut Vec<u8>);
    }
}

impl DoorSet for FastDoors {
    type Session = FastSession;

    fn welcome(
        &self,
        door: DoorName,
        client: (u64, SocketAddr),
        since_ms: u64,
    ) -> Option<FastSession> {
        Some(match door {
            DoorName::Resp => FastSession::Resp(RespSession::new(client, since_ms)),
            DoorName::Xml => FastSession::Xml(XmlSession::new(client.0, self.xml)),
            DoorName::Lines => FastSession::Lines(LinesSession::new(client.0, self.lines)),
            DoorName::Desk => FastSession::Peer(PeerSession::answering()),
            DoorName::Arena => FastSession::Player(PlayerSession::new(client.0)),
            DoorName::Scores => FastSession::Scores(ScoresSession::new(client.0)),
            DoorName::Http => return None,
        })
    }

    fn caller_at(&self, door: DoorName, peer: SocketAddr) -> Caller {
        let ListenerPrincipals {
            xml,
            lines,
            arena,
            scores,
        } = self.principals;
        let (kind, principal) = match door {
            DoorName::Resp => (DoorKind::Resp, None),
            DoorName::Http => (DoorKind::Http, None),
            DoorName::Xml => (DoorKind::Xml, xml),
            DoorName::Lines => (DoorKind::Travel, lines),
            DoorName::Arena => (DoorKind::Arena, arena),
            DoorName::Scores => (DoorKind::Scores, scores),
            DoorName::Desk => return Caller::server(),
        };
        let caller = principal.map_or_else(Caller::unknown, Caller::named);
        caller.with_origin(Origin::at(kind, peer.ip(), self.addresses))
    }

    fn dial_desk(engine: &Engine, desk: Desk, out: &mut Vec<u8>) -> FastSession {
        FastSession::Peer(PeerSession::dialing(engine, desk, out))
    }

    fn dial() -> FastSession {
        FastSession::DistantScores(DistantScores::default())
    }

    fn dialed(&self) -> Option<&impl Dialed> {
        self.teller.as_ref()
    }

    fn dialed_mut(&mut self) -> Option<&mut impl Dialed> {
        self.teller.as_mut()
    }

    fn follows_games(&self) -> bool {
        !self.hall.is_empty()
    }

    fn is_busy(&self) -> bool {
        self.hall.is_busy()
    }

    fn see_off(&mut self, engine: &mut Engine) {
        self.hall.see_off(engine);
    }

    fn learn(&mut self, engine: &mut Engine, news: &News) {
        self.hall.learn(engine, &news.games.events);
    }

    fn take_errands(&mut self) -> Vec<Errand> {
        self.hall.take_errands()
    }

    fn keep_room(&mut self, done: Vec<Errand>) {
        self.hall.keep_room(done);
    }

    fn leave(&mut self, session: &FastSession, place: usize) {
        if let FastSession::Player(session) = session
            && let Some(player) = session.own()
        {
            self.hall.leave(player, place);
        }
        if let Some(teller) = &mut self.teller {
            teller.lose_at(place);
        }
    }
}
