//! How a client and the server get to know each other: `HELLO`, `AUTH`, `SELECT`.

use turnstile_resp::{Arguments, Encoder, Protocol};

use super::{Next, Session};
use crate::core::engine::Engine;

/// What clients take for a Redis version when they decide what a server can do.
pub(super) const COMPATIBLE_VERSION: &str = "7.4.0";

const NO_PASSWORD: &str = "ERR AUTH <password> called without any password configured for the \
                           default user. Are you sure your configuration is correct?";

/// What a greeting asks for.
struct HelloOptions {
    protocol: Option<Protocol>,
    name: Option<String>,
}

impl Session {
    pub(super) fn hello(
        &mut self,
        engine: &Engine,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let greeting = match greeting(arguments) {
            Ok(greeting) => greeting,
            Err(sentence) => return self.invalid(engine, format_args!("{sentence}"), out),
        };
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

    /// Nobody needs a password yet: a client that sends one is told so, unless it only names the
    /// default user, as Redis does.
    pub(super) fn auth(
        &self,
        engine: &Engine,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        match arguments.len() {
            2 => self.invalid(engine, format_args!("{NO_PASSWORD}"), out),
            3 if is_default_user(arguments.get(1)) => {
                Encoder::new(out, self.protocol).ok();
                Next::Go
            }
            3 => self.invalid(
                engine,
                format_args!("WRONGPASS invalid username-password pair or user is disabled."),
                out,
            ),
            _ => self.invalid(engine, format_args!("ERR syntax error"), out),
        }
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

fn is_default_user(name: Option<&[u8]>) -> bool {
    name == Some(b"default")
}

fn greeting(arguments: Arguments<'_, '_>) -> Result<HelloOptions, &'static str> {
    let protocol = match arguments.get(1) {
        None => None,
        Some(b"2") => Some(Protocol::Resp2),
        Some(b"3") => Some(Protocol::Resp3),
        Some(_) => return Err("NOPROTO unsupported protocol version"),
    };
    let mut greeting = HelloOptions {
        protocol,
        name: None,
    };
    let mut at = 2;
    while let Some(option) = arguments.get(at) {
        if option.eq_ignore_ascii_case(b"AUTH") && arguments.len() > at + 2 {
            if !is_default_user(arguments.get(at + 1)) {
                return Err("WRONGPASS invalid username-password pair or user is disabled.");
            }
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
