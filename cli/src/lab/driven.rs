//! The server under load: one that was named, or one that the lab starts for the measurement.

use turnstile_client::ServerAddress;
use turnstile_load::resources::Watched;
use turnstile_result as result;

use super::watching::Behind;
use crate::{
    child::{ArenaServers, Company, Doors, Server},
    terminal,
};

/// The server under load.
pub(super) struct Driven {
    /// The door that is driven.
    pub(super) address: ServerAddress,
    /// The RESP door of the same server, where it is known.
    pub(super) resp: Option<ServerAddress>,
    own: Option<OwnServer>,
    behind: Behind,
}

/// A server of the lab's own, with all of its processes.
enum OwnServer {
    One(Server),
    /// The middleware and the managers of travel.
    Travel(Company),
    /// The arena and the scores of games.
    Games(ArenaServers),
}

impl Driven {
    /// A server that runs already.
    pub(super) const fn named(
        address: ServerAddress,
        resp: Option<ServerAddress>,
        behind: Behind,
    ) -> Self {
        Self {
            address,
            resp,
            own: None,
            behind,
        }
    }

    /// At its RESP door the server that is named, or one of the lab's own.
    pub(super) fn over_resp(named: Option<ServerAddress>, behind: Behind) -> anyhow::Result<Self> {
        match named {
            Some(address) => Ok(Self::named(address.clone(), Some(address), behind)),
            None => Self::start(Doors::Resp, "--resp", behind),
        }
    }

    /// The lab's own server at its RESP door, with more to be told.
    pub(super) fn over_resp_with(
        more: &[(String, String)],
        behind: Behind,
    ) -> anyhow::Result<Self> {
        let own = Server::start_with(None, Doors::Resp, more)?;
        note_own(&own, "--resp");
        Ok(Self::own(own.resp(), OwnServer::One(own), behind))
    }

    /// A server of the lab's own; `flag` names one that runs already.
    pub(super) fn start(doors: Doors, flag: &str, behind: Behind) -> anyhow::Result<Self> {
        let own = own_server(doors, flag)?;
        let address = match doors {
            Doors::RespAndXml => own.xml(),
            Doors::RespAndTravel => own.travel(),
            Doors::RespAndArena => own.arena(),
            Doors::Resp | Doors::RespAndScores | Doors::Every => Some(own.resp()),
        };
        let address = address.expect("it was started with this door");
        Ok(Self::own(address, OwnServer::One(own), behind))
    }

    /// Travel in five processes of the lab's own.
    pub(super) fn start_travel() -> anyhow::Result<Self> {
        let company = Company::start()?;
        let middleware = company.middleware();
        note_separate("five processes", "middleware", middleware);
        let address = middleware.travel().expect("it was started for travel");
        let own = OwnServer::Travel(company);
        Ok(Self::own(address, own, Behind::default()))
    }

    /// Games in two processes of the lab's own.
    pub(super) fn start_games() -> anyhow::Result<Self> {
        let arena = ArenaServers::start()?;
        note_separate(
            "an arena and its scores in two processes",
            "arena",
            arena.arena(),
        );
        let address = arena.arena().arena().expect("it was started with an arena");
        let own = OwnServer::Games(arena);
        Ok(Self::own(address, own, Behind::default()))
    }

    fn own(address: std::net::SocketAddr, own: OwnServer, behind: Behind) -> Self {
        Self {
            address: address.into(),
            resp: Some(own.known().resp().into()),
            own: Some(own),
            behind,
        }
    }

    pub(super) const fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Whether it is the lab's own in several processes.
    pub(super) const fn is_separate(&self) -> bool {
        matches!(self.own, Some(OwnServer::Travel(_) | OwnServer::Games(_)))
    }

    /// For `run.json`.
    pub(super) fn target(&self) -> result::Target {
        result::Target {
            address: self.address.to_string(),
            own: self.is_own(),
            tls: self.address.is_encrypted(),
            authenticated: self.address.has_key(),
        }
    }

    /// The server's processes and the database, where they can be found.
    pub(super) fn watched(&self) -> Vec<Watched> {
        let known = self.own.as_ref().map(OwnServer::known);
        let mut all = self
            .behind
            .watched(known, &self.address, self.resp.as_ref());
        match &self.own {
            Some(OwnServer::Travel(company)) => {
                let managers = company.desks().iter();
                all.extend(managers.map(|desk| Watched::new("manager", desk.pid())));
            }
            Some(OwnServer::Games(arena)) => {
                all.push(Watched::new("scores", arena.scores().pid()));
            }
            Some(OwnServer::One(_)) | None => {}
        }
        all
    }

    pub(super) fn stop(self) -> anyhow::Result<()> {
        match self.own {
            None => Ok(()),
            Some(OwnServer::One(server)) => server.stop(),
            Some(OwnServer::Travel(company)) => company.stop(),
            Some(OwnServer::Games(arena)) => arena.stop(),
        }
    }
}

impl OwnServer {
    /// The process that clients know.
    const fn known(&self) -> &Server {
        match self {
            Self::One(server) => server,
            Self::Travel(company) => company.middleware(),
            Self::Games(arena) => arena.arena(),
        }
    }
}

/// Starts a server for this measurement; `flag` names one that runs already. Whoever has started `dev`
/// might think that it is measured.
pub(super) fn own_server(doors: Doors, flag: &str) -> anyhow::Result<Server> {
    let server = Server::start(None, doors)?;
    note_own(&server, flag);
    Ok(server)
}

fn note_own(server: &Server, flag: &str) {
    terminal::note(format_args!(
        "measuring a server of our own at {}, not one that runs already: embedded journal in a \
         temporary directory, durability sync; {flag} ADDR measures a running one",
        server.resp()
    ));
}

fn note_separate(what: &str, known: &str, server: &Server) {
    let at = server.resp();
    terminal::note(format_args!(
        "no server is named: measuring {what} of our own, the {known} at {at}, each with an embedded \
         journal in a temporary directory, durability sync"
    ));
}
