//! Fault points at the door of travel: who is told to end, here or in another process.

use std::{fmt, io};

use turnstile_lines::Crash;
use turnstile_travel::Desk;

use crate::{engine::Engine, fault_points::Who, post::Word};

/// Why nobody was told.
pub(super) enum Untold {
    /// This build or this configuration has none.
    None,
    NotMiddleware,
    Away(Desk),
    /// The process of this desk has none.
    NoneThere(Desk),
    Unkept(io::Error),
}

/// Tells whom it concerns. A desk in another process has it before every later parcel.
pub(super) fn arm(engine: &mut Engine, crash: Crash) -> Result<(), Untold> {
    if !engine.fault_points.is_allowed() {
        return Err(Untold::None);
    }
    let roles = engine.travel().settings().roles;
    match crash {
        Crash::Middleware { .. } if !roles.coordinator => Err(Untold::NotMiddleware),
        Crash::Middleware { mode } => Ok(engine.fault_points.arm(Who::Middleware, mode)?),
        Crash::ResourceManager { desk, mode } if roles.desks.contains(desk) => {
            Ok(engine.fault_points.arm(Who::Desk(desk), mode)?)
        }
        Crash::ResourceManager { .. } if !roles.coordinator => Err(Untold::NotMiddleware),
        Crash::ResourceManager { desk, mode } => say(engine, desk, mode),
        Crash::Reset => {
            engine.fault_points.reset()?;
            let elsewhere = engine.lines().iter().filter(|_| roles.coordinator);
            let told = elsewhere.map(|desk| say(engine, desk, 0));
            // All are told who can be.
            told.collect::<Vec<_>>().into_iter().collect()
        }
    }
}

fn say(engine: &mut Engine, desk: Desk, mode: u8) -> Result<(), Untold> {
    if !engine.switchboard.is_connected(desk) {
        return Err(Untold::Away(desk));
    }
    if !engine.switchboard.has_fault_points(desk) {
        return Err(Untold::NoneThere(desk));
    }
    engine.switchboard.say(desk, Word::FaultPoint { mode });
    Ok(())
}

impl From<io::Error> for Untold {
    fn from(failure: io::Error) -> Self {
        Self::Unkept(failure)
    }
}

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "this server has no fault points"),
            Self::NotMiddleware => write!(f, "this server is not the middleware"),
            Self::Away(desk) => write!(f, "{desk} is away"),
            Self::NoneThere(desk) => write!(f, "{desk} has no fault points"),
            Self::Unkept(failure) => write!(f, "the fault point is not kept: {failure}"),
        }
    }
}
