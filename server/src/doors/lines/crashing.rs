//! Fault points at the door of travel: who is told to end, here or in another process.

use std::{fmt, io};

use turnstile_lines::Crash;
use turnstile_travel::Desk;
use turnstile_types::Timestamp;

use crate::core::{
    engine::Engine,
    fault_points::Who,
    post::{Dispatched, Fate},
};

/// Why nobody was told.
pub(super) enum NotArmed {
    /// This build or this configuration has none.
    None,
    NotMiddleware,
    Away(Desk),
    /// The process of this desk has none.
    NoneThere(Desk),
    Unkept(io::Error),
    /// The same in the process of this desk, whose log has the reason.
    UnkeptThere(Desk),
}

/// Tells whom it concerns, and answers what is on its way to desks in other processes.
pub(super) fn arm(engine: &mut Engine, crash: Crash) -> Result<Vec<Dispatched>, NotArmed> {
    if !engine.fault_points.is_allowed() {
        return Err(NotArmed::None);
    }
    let roles = engine.travel().settings().roles;
    match crash {
        Crash::Middleware { .. } if !roles.coordinator => Err(NotArmed::NotMiddleware),
        Crash::Middleware { mode } => arm_here(engine, Who::Middleware, mode),
        Crash::ResourceManager { desk, mode } if roles.desks.contains(desk) => {
            arm_here(engine, Who::Desk(desk), mode)
        }
        Crash::ResourceManager { .. } if !roles.coordinator => Err(NotArmed::NotMiddleware),
        Crash::ResourceManager { desk, mode } => Ok(vec![say(engine, desk, mode)?]),
        Crash::Reset => {
            engine.fault_points.reset()?;
            let elsewhere = engine.lines().iter().filter(|_| roles.coordinator);
            let told = elsewhere.map(|desk| say(engine, desk, 0));
            // All are told who can be.
            told.collect::<Vec<_>>().into_iter().collect()
        }
    }
}

fn arm_here(engine: &mut Engine, who: Who, mode: u8) -> Result<Vec<Dispatched>, NotArmed> {
    engine.fault_points.arm(who, mode)?;
    Ok(Vec::new())
}

fn say(engine: &mut Engine, desk: Desk, mode: u8) -> Result<Dispatched, NotArmed> {
    if !engine.switchboard.is_connected(desk) {
        return Err(NotArmed::Away(desk));
    }
    if !engine.switchboard.has_fault_points(desk) {
        return Err(NotArmed::NoneThere(desk));
    }
    Ok(engine.switchboard.dispatch(desk, mode))
}

/// A command whose fault points are on their way to desks in other processes.
#[derive(Debug)]
pub(super) struct Arming {
    left: Vec<Dispatched>,
    /// When the desks have been silent for too long.
    until: Timestamp,
}

impl Arming {
    pub(super) fn begin(engine: &Engine, left: Vec<Dispatched>) -> Self {
        let wait_ms = engine.travel().settings().wait_ms;
        let until = engine.now().plus_ms(wait_ms);
        Self { left, until }
    }

    /// What the command has come to; nothing while a desk has yet to say that it has its fault point.
    pub(super) fn settle(&mut self, engine: &Engine) -> Option<Result<(), NotArmed>> {
        while let Some(&dispatched) = self.left.last() {
            let desk = dispatched.desk();
            match engine.switchboard.fate(dispatched) {
                Fate::Kept => {
                    self.left.pop();
                }
                Fate::Open if engine.now() < self.until => return None,
                Fate::Open | Fate::Lost => return Some(Err(NotArmed::Away(desk))),
                Fate::Unkept => return Some(Err(NotArmed::UnkeptThere(desk))),
            }
        }
        Some(Ok(()))
    }
}

impl From<io::Error> for NotArmed {
    fn from(failure: io::Error) -> Self {
        Self::Unkept(failure)
    }
}

impl fmt::Display for NotArmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "this server has no fault points"),
            Self::NotMiddleware => write!(f, "this server is not the middleware"),
            Self::Away(desk) => write!(f, "{desk} is away"),
            Self::NoneThere(desk) => write!(f, "{desk} has no fault points"),
            Self::UnkeptThere(desk) => write!(f, "{desk} could not keep the fault point"),
            Self::Unkept(failure) => write!(f, "the fault point is not kept: {failure}"),
        }
    }
}
