//! How a client and the server get to know each other: `HELLO`, `AUTH`, `SELECT`.

use turnstile_resp::{Arguments, Encoder, Protocol};

use super::{Next, Session};
use crate::core::engine::{Engine, LoginRefused};

/// What clients take for a Redis version when they decide what a server can do.
pub(super) const COMPATIBLE_VERSION: &str = "7.4.0";

const NO_PASSWORD: &str = "ERR AUTH <password> called without any password configured for the \
                           default user. Are you sure your configuration is correct?";

const WRONG_PAIR: &str = "WRONGPASS invalid username-password pair or user is disabled.";

/// What Redis says to a greeting without a login.
const HELLO_STRANGER: &str = "NOAUTH HELLO must be called with the client already authenticated, \
                              otherwise the HELLO <proto> AUTH <user> <pass> option can be used to \
                              authenticate the client and select the RESP protocol version at the \
                              same time";

const LOADING: &str = "LOADING the server recovers its journal, try again later";

/// What a greeting asks for.
struct HelloOptions<'a> {
    protocol: Option<Protocol>,
    name: Option<String>,
    /// The name and the key of a login.
    login: Option<(&'a [u8], &'a [u8])>,
}

impl Session {
    pub(super) fn hello(
        &mut self,
        engine: &mut Engine,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let greeting = match greeting(arguments) {
            Ok(greeting) => greeting,
            Err(sentence) => return self.invalid(engine, format_args!("{sentence}"), out),
        };
        let logged_in = match greeting.login {
            Some((name, key)) => self.log_in(engine, Some(name), key),
            None if engine.is_stranger() => Err(HELLO_STRANGER.to_owned()),
            None => Ok(()),
        };
        if let Err(sentence) = logged_in {
            return self.invalid(engine, format_args!("{sentence}"), out);
        }
        if let Some(protocol) = greeting.protocol {
            self.protocol = protocol;
        }
        if let Some(name) = greeting.name {
            self.name = name;
        }
        let mut reply = Encoder::new(out, self.protocol);
        reply.map(7);
        reply.text("server");
        reply.text("turnstile");
        reply.text("version");
        reply.text(COMPATIBLE_VERSION);
        reply.text("proto");
        reply.integer(if self.protocol == Protocol::Resp3 {
            3
        } else {
            2
        });
        reply.text("id");
        reply.integer(self.id);
        reply.text("mode");
        reply.text("standalone");
        reply.text("role");
        reply.text("master");
        reply.text("modules");
        reply.array(0);
        Next::Go
    }

    pub(super) fn auth(
        &self,
        engine: &mut Engine,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let logged_in = match (arguments.len(), arguments.get(1), arguments.get(2)) {
            (2, Some(key), _) => self.log_in(engine, None, key),
            (3, Some(name), Some(key)) => self.log_in(engine, Some(name), key),
            _ => Err("ERR syntax error".to_owned()),
        };
        match logged_in {
            Ok(()) => Encoder::new(out, self.protocol).ok(),
            Err(sentence) => return self.invalid(engine, format_args!("{sentence}"), out),
        }
        Next::Go
    }

    /// Makes whoever shows this key the caller; a name is that of its principal, or `default` for
    /// clients that need one. Where nobody needs a key, a client that sends one is told so, unless it
    /// names the default user, as Redis does.
    fn log_in(&self, engine: &mut Engine, name: Option<&[u8]>, key: &[u8]) -> Result<(), String> {
        if engine.recovery().is_some() {
            return Err(LOADING.to_owned());
        }
        if !engine.access().is_guarded() {
            return match name {
                None => Err(NO_PASSWORD.to_owned()),
                Some(b"default") => Ok(()),
                Some(_) => Err(WRONG_PAIR.to_owned()),
            };
        }
        let name = name.filter(|name| *name != b"default");
        let logged_in = engine.log_in(self.peer.ip(), name, key);
        logged_in.map_err(|refused| match refused {
            LoginRefused::TooManyConnections(_) => format!("BUSY {refused}"),
            LoginRefused::Key(_)
            | LoginRefused::OtherPrincipal
            | LoginRefused::TooManyFailures { .. } => format!("WRONGPASS {refused}"),
        })
    }

    pub(super) fn select(
        &self,
        engine: &Engine,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        if arguments.get(1) == Some(b"0") {
            Encoder::new(out, self.protocol).ok();
            return Next::Go;
        }
        self.invalid(
            engine,
            format_args!("ERR DB index is out of range: there is only 0"),
            out,
        )
    }
}

fn greeting<'a>(arguments: Arguments<'a, '_>) -> Result<HelloOptions<'a>, &'static str> {
    let protocol = match arguments.get(1) {
        None => None,
        Some(b"2") => Some(Protocol::Resp2),
        Some(b"3") => Some(Protocol::Resp3),
        Some(_) => return Err("NOPROTO unsupported protocol version"),
    };
    let mut greeting = HelloOptions {
        protocol,
        name: None,
        login: None,
    };
    let mut at = 2;
    while let Some(option) = arguments.get(at) {
        if option.eq_ignore_ascii_case(b"AUTH") && arguments.len() > at + 2 {
            greeting.login = arguments.get(at + 1).zip(arguments.get(at + 2));
            at += 3;
        } else if option.eq_ignore_ascii_case(b"SETNAME") && arguments.len() > at + 1 {
            let name = arguments.get(at + 1).unwrap_or_default();
            greeting.name = Some(super::client::label(name)?);
            at += 2;
        } else {
            return Err("ERR Syntax error in HELLO option");
        }
    }
    Ok(greeting)
}
