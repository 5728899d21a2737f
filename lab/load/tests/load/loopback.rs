//! Servers of the tests: a thread for each connection, whose requests share one state.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use turnstile_resp::{
    Arguments, Decoded, Decoder, Encoder, Protocol,
    catalogue::{Action, Catalogue},
};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// Answers what waits; none: the connection is closed.
pub(crate) type Serve<S> = fn(&mut Vec<u8>, &mut Vec<u8>, &mut Protocol, &Mutex<S>) -> Option<()>;

/// Who answers over RESP.
pub(crate) trait Clerk {
    fn info(&self) -> String;

    /// None: the connection is closed instead.
    fn answer(
        &mut self,
        action: Action,
        arguments: Arguments<'_, '_>,
        reply: &mut Encoder<'_>,
    ) -> Option<()>;
}

/// Has a machine decide one command, at the time that its position says.
pub(crate) fn decide<M: Machine>(
    machine: &mut M,
    position: u64,
    command: &M::Command<'_>,
) -> M::Outcome {
    let context = Context {
        position: Position(position),
        now: Timestamp(position),
        principal: &Principal::local(),
    };
    let outcome = machine.apply(&context, command);
    machine.drain_events(&mut drop);
    outcome
}

/// Listens until the process ends.
pub(crate) fn listen<S: Send + 'static>(state: &Arc<Mutex<S>>, serve: Serve<S>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let state = Arc::clone(state);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let state = Arc::clone(&state);
            thread::spawn(move || attend(stream.unwrap(), &state, serve));
        }
    });
    address
}

/// Until the peer closes, or the fault says so.
fn attend<S>(mut stream: TcpStream, state: &Mutex<S>, serve: Serve<S>) -> Option<()> {
    stream.set_nodelay(true).unwrap();
    let (mut waiting, mut answers) = (Vec::new(), Vec::new());
    let mut buffer = [0; 16 * 1024];
    let mut protocol = Protocol::Resp2;
    loop {
        let read = stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
        waiting.extend_from_slice(&buffer[..read]);
        serve(&mut waiting, &mut answers, &mut protocol, state)?;
        stream.write_all(&answers).ok()?;
        answers.clear();
    }
}

/// Has every whole request answered, and answers those for RESP3 and `INFO` itself.
pub(crate) fn serve_resp<S: Clerk>(
    waiting: &mut Vec<u8>,
    out: &mut Vec<u8>,
    protocol: &mut Protocol,
    clerk: &Mutex<S>,
) -> Option<()> {
    let catalogue = Catalogue::new();
    let mut used = 0;
    loop {
        let mut decoder = Decoder::new();
        let decoded = decoder.decode(&waiting[used..]).unwrap();
        let Decoded::Request { arguments, length } = decoded else {
            break;
        };
        match arguments.get(0) {
            Some(b"HELLO") => {
                *protocol = Protocol::Resp3;
                let mut reply = Encoder::new(out, *protocol);
                reply.map(1);
                reply.text("proto");
                reply.integer(3);
            }
            Some(b"INFO") => {
                let info = clerk.lock().unwrap().info();
                Encoder::new(out, *protocol).bulk(info.as_bytes());
            }
            _ => {
                let action = catalogue.resolve(&arguments).unwrap();
                let mut reply = Encoder::new(out, *protocol);
                clerk
                    .lock()
                    .unwrap()
                    .answer(action, arguments, &mut reply)?;
            }
        }
        used += length;
    }
    waiting.drain(..used);
    Some(())
}
