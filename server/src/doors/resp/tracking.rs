//! `CLIENT TRACKING`: the mode that a client asked for. Nothing is ever tracked.
//!
//! Client libraries with a cache of their own ask for it when they connect. They are told the truth: the
//! server invalidates what they cached under the keys of their commands, and no command has keys, so that
//! there is never anything to invalidate. Only the mode is kept, for `CLIENT TRACKINGINFO`.

use turnstile_resp::{Arguments, Encoder, catalogue::Verb};

use super::{Next, Session, Surroundings, client::is_one_of};
use crate::limits::{LABEL_BYTES, SUBSCRIPTIONS};

const SYNTAX: &str = "ERR syntax error";
const CACHING_WITHOUT_MODE: &str = "ERR CLIENT CACHING can be called only when the client is in \
                                    tracking mode with OPTIN or OPTOUT mode enabled";

/// What a client asked for.
#[derive(Debug, Default)]
pub(super) struct Tracking {
    /// The client to which invalidations would go; 0 for the connection itself.
    redirect: u64,
    mode: TrackingMode,
    prefixes: Vec<Box<[u8]>>,
    no_loop: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TrackingMode {
    /// Whatever is read.
    #[default]
    Read,
    Broadcast,
    OptIn,
    OptOut,
}

impl TrackingMode {
    const fn flag(self) -> Option<&'static str> {
        match self {
            Self::Read => None,
            Self::Broadcast => Some("bcast"),
            Self::OptIn => Some("optin"),
            Self::OptOut => Some("optout"),
        }
    }
}

impl Tracking {
    /// Reads the options behind `CLIENT TRACKING ON`.
    fn parse(arguments: Arguments<'_, '_>) -> Result<Self, &'static str> {
        let mut tracking = Self::default();
        let mut words = arguments.iter().skip(3);
        while let Some(word) = words.next() {
            match word.to_ascii_uppercase().as_slice() {
                b"REDIRECT" => {
                    let id = words.next().ok_or(SYNTAX)?;
                    tracking.redirect = super::filter::number(id)?;
                }
                b"PREFIX" => {
                    let prefix = words.next().ok_or(SYNTAX)?;
                    if prefix.len() > LABEL_BYTES || tracking.prefixes.len() == SUBSCRIPTIONS {
                        return Err("ERR at most 64 prefixes of at most 256 bytes are kept");
                    }
                    tracking.prefixes.push(prefix.into());
                }
                b"BCAST" => tracking.set(TrackingMode::Broadcast)?,
                b"OPTIN" => tracking.set(TrackingMode::OptIn)?,
                b"OPTOUT" => tracking.set(TrackingMode::OptOut)?,
                b"NOLOOP" => tracking.no_loop = true,
                _ => return Err(SYNTAX),
            }
        }
        if !tracking.prefixes.is_empty() && tracking.mode != TrackingMode::Broadcast {
            return Err("ERR PREFIX option requires BCAST mode to be enabled");
        }
        Ok(tracking)
    }

    fn set(&mut self, mode: TrackingMode) -> Result<(), &'static str> {
        if ![TrackingMode::Read, mode].contains(&self.mode) {
            return Err("ERR BCAST, OPTIN and OPTOUT are not compatible with each other");
        }
        self.mode = mode;
        Ok(())
    }

    fn put(tracking: Option<&Self>, reply: &mut Encoder<'_>) {
        let flags = tracking.map_or_else(
            || vec!["off"],
            |tracking| {
                let no_loop = tracking.no_loop.then_some("noloop");
                let flags = [Some("on"), tracking.mode.flag(), no_loop];
                flags.into_iter().flatten().collect()
            },
        );
        reply.map(3);
        reply.text("flags");
        reply.set(flags.len());
        for flag in flags {
            reply.text(flag);
        }
        reply.text("redirect");
        put_redirection(tracking, reply);
        reply.text("prefixes");
        let prefixes = tracking.map_or(&[][..], |tracking| &tracking.prefixes);
        reply.array(prefixes.len());
        for prefix in prefixes {
            reply.bulk(prefix);
        }
    }
}

fn put_redirection(tracking: Option<&Tracking>, reply: &mut Encoder<'_>) {
    match tracking {
        None => reply.signed(-1),
        Some(tracking) => reply.integer(tracking.redirect),
    }
}

/// Whether another client with this number is connected.
fn has_client(around: &Surroundings<'_>, id: u64) -> bool {
    let mut others = around.others.listed().into_iter();
    others.any(|(_, client)| client.id == id)
}

impl Session {
    /// `CLIENT TRACKING`, `TRACKINGINFO`, `GETREDIR` and `CACHING`.
    pub(super) fn track(
        &mut self,
        around: &Surroundings<'_>,
        verb: Verb,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let done = match verb {
            Verb::ClientTracking => self.set_tracking(around, arguments),
            Verb::ClientCaching => self.check_caching(arguments),
            _ => {
                let reply = &mut Encoder::new(out, self.protocol);
                let tracking = self.tracking.as_deref();
                if verb == Verb::ClientTrackingInfo {
                    Tracking::put(tracking, reply);
                } else {
                    put_redirection(tracking, reply);
                }
                return Next::Go;
            }
        };
        match done {
            Ok(()) => Encoder::new(out, self.protocol).ok(),
            Err(sentence) => return self.invalid(around.engine, format_args!("{sentence}"), out),
        }
        Next::Go
    }

    fn set_tracking(
        &mut self,
        around: &Surroundings<'_>,
        arguments: Arguments<'_, '_>,
    ) -> Result<(), &'static str> {
        let word = arguments.get(2).unwrap_or_default();
        let tracking = Tracking::parse(arguments)?;
        let redirect = tracking.redirect;
        if redirect != 0 && redirect != self.id && !has_client(around, redirect) {
            return Err("ERR The client ID you want redirect to does not exist");
        }
        self.tracking = match word.to_ascii_uppercase().as_slice() {
            b"ON" => Some(Box::new(tracking)),
            b"OFF" => None,
            _ => return Err(SYNTAX),
        };
        Ok(())
    }

    /// Whether `CLIENT CACHING` says something about the next command: without tracking it would not.
    fn check_caching(&self, arguments: Arguments<'_, '_>) -> Result<(), &'static str> {
        let word = arguments.get(2).unwrap_or_default();
        let mode = self.tracking.as_ref().map(|tracking| tracking.mode);
        let is_yes = is_one_of(word, &["YES"]);
        match mode {
            _ if !is_one_of(word, &["YES", "NO"]) => Err(SYNTAX),
            Some(TrackingMode::OptIn) if is_yes => Ok(()),
            Some(TrackingMode::OptOut) if !is_yes => Ok(()),
            Some(TrackingMode::OptOut) => {
                Err("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
            }
            Some(TrackingMode::OptIn) => {
                Err("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
            }
            _ => Err(CACHING_WITHOUT_MODE),
        }
    }
}
