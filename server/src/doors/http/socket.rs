//! The WebSocket: its handshake, and the bytes after it.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};
use hyper::upgrade::OnUpgrade;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};
use turnstile_chassis::{Right, Subject};
use turnstile_exchange::Exchange;
use turnstile_games::{Games, PlayerId};
use turnstile_http::{Code, EventId, FieldError, Place, Problem, games::play::player_and_since};

use super::{
    Door,
    access::StreamPass,
    call::HttpCall,
    limits::{MESSAGE_BYTES, PLAYER_SOCKET_BYTES, SOCKET_BYTES},
    line::{Line, LineIo, left_of},
    operations::Answered,
    play::Play,
    reply::RaisedProblem,
    secured::HttpStream,
    session::Session,
    stream::StreamPermit,
    unsent::{Dropped, Unsent},
};
use turnstile_types::{Machine as _, Name};

use crate::{
    core::quotas::Meter,
    counters::{Counters, DoorName},
};

const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");
const UPGRADE: HeaderValue = HeaderValue::from_static("Upgrade");
const VERSION: HeaderValue = HeaderValue::from_static("13");

/// What a connection becomes after its answer.
#[derive(Clone, Debug)]
pub(super) struct Invitation {
    upgrade: OnUpgrade,
    party: SocketParty,
    pass: StreamPass,
    /// Held by one of the clones at a time.
    seat: Arc<StreamPermit>,
}

/// Whom a conversation is with.
#[derive(Clone, Copy, Debug)]
enum SocketParty {
    /// Whoever follows the exchange.
    Trader,
    /// A player, and the event that was seen last.
    Player(PlayerId, Option<EventId>),
}

pub(super) async fn feed(door: Arc<Door>, call: HttpCall) -> Answered {
    call.given()?.read_with(|_nothing| Some(()))?;
    invite(&door, call, SocketParty::Trader)
}

pub(super) async fn play(door: Arc<Door>, call: HttpCall) -> Answered {
    let (player, since) = player_and_since(&call.given()?)?;
    invite(&door, call, SocketParty::Player(player, since))
}

/// Answers the handshake; the conversation begins when the answer is sent.
fn invite(door: &Arc<Door>, mut call: HttpCall, party: SocketParty) -> Answered {
    let upgrade = call.parts.extensions.remove::<OnUpgrade>();
    let (Some(key), Some(upgrade)) = (handshake_key(&call.parts.headers), upgrade) else {
        return Ok(upgrade_required());
    };
    let accept = accept_key(key)?;
    let wanted = match party {
        SocketParty::Trader => (Exchange::SERVICE, Right::Read, Subject::Public),
        SocketParty::Player(player, _) => {
            let subject = Name::parse(player.as_bytes()).map_or(Subject::All, Subject::of);
            (Games::SERVICE, Right::Use, subject)
        }
    };
    let pass = StreamPass::take(door, &call.visitor.as_socket(), wanted)?;
    let seat = match party {
        SocketParty::Trader => StreamPermit::take(door, &call.visitor.caller)?,
        SocketParty::Player(..) => StreamPermit::take_for_player(door, &call.visitor.caller)?,
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.extensions_mut().insert(Invitation {
        upgrade,
        party,
        pass,
        seat: Arc::new(seat),
    });
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, UPGRADE);
    headers.insert(header::UPGRADE, WEBSOCKET);
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    Ok(response)
}

/// The key of a handshake; none where it is no handshake of RFC 6455.
fn handshake_key(headers: &HeaderMap) -> Option<&HeaderValue> {
    let has_word = |name: HeaderName, word: &str| {
        let mut values = headers.get_all(name).iter();
        values.any(|value| {
            let words = value.to_str().unwrap_or_default().split(',');
            words
                .map(str::trim)
                .any(|found| found.eq_ignore_ascii_case(word))
        })
    };
    let is_asked =
        has_word(header::CONNECTION, "upgrade") && has_word(header::UPGRADE, "websocket");
    let version = headers.get(header::SEC_WEBSOCKET_VERSION);
    let key = headers.get(header::SEC_WEBSOCKET_KEY)?;
    (is_asked && version == Some(&VERSION)).then_some(key)
}

/// The proof that a handshake was understood.
///
/// # Errors
/// Its key is not 16 bytes in base64 (RFC 6455, section 4.2.1).
fn accept_key(key: &HeaderValue) -> Result<HeaderValue, Problem> {
    let digits = key.as_bytes().strip_suffix(b"==").unwrap_or_default();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if digits.len() != 22 || !digits.iter().all(is_digit) {
        return Err(Problem::invalid(vec![FieldError {
            place: Place::Header,
            field: "Sec-WebSocket-Key".to_owned(),
            message: "16 bytes in base64".to_owned(),
        }]));
    }
    let proof = derive_accept_key(key.as_bytes());
    Ok(HeaderValue::try_from(proof).expect("a proof is base64"))
}

fn upgrade_required() -> Response<Body> {
    let mut response = RaisedProblem::from(Code::UpgradeRequired).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, UPGRADE);
    headers.insert(header::UPGRADE, WEBSOCKET);
    headers.insert(header::SEC_WEBSOCKET_VERSION, VERSION);
    response
}

/// Holds the conversation that a connection was invited to, to its end.
pub(super) async fn serve(door: &Arc<Door>, line: Arc<Line>, invitation: Invitation) {
    let Invitation {
        upgrade,
        party,
        pass,
        seat,
    } = invitation;
    let upgraded = match upgrade.await {
        Ok(upgraded) => upgraded,
        Err(failure) => {
            tracing::debug!(%failure, "a connection broke before it became a socket");
            return;
        }
    };
    let parts = upgraded
        .downcast::<LineIo>()
        .expect("every connection of this door reads its line");
    // Copied, since what HTTP has read keeps the whole of its buffer.
    let early = parts.read_buf.to_vec();
    drop((parts.io, parts.read_buf));
    let Some(line) = Arc::into_inner(line) else {
        return;
    };
    let wire = MeteredSocket {
        stream: line.into_stream(),
        unsent: door.backlog.join(),
        counters: Arc::clone(&door.counters),
        meter: Arc::clone(seat.meter()),
    };
    let buffered = match party {
        SocketParty::Trader => SOCKET_BYTES,
        SocketParty::Player(..) => PLAYER_SOCKET_BYTES,
    };
    let config = WebSocketConfig::default()
        .read_buffer_size(buffered)
        .write_buffer_size(buffered)
        .max_message_size(Some(MESSAGE_BYTES))
        .max_frame_size(Some(MESSAGE_BYTES));
    let socket = WebSocketStream::from_partially_read(wire, early, Role::Server, Some(config));
    let (door, socket) = (Arc::clone(door), socket.await);
    match party {
        SocketParty::Trader => Box::pin(Session::new(door, socket, pass).run()).await,
        SocketParty::Player(player, since) => {
            Play::new(door, (socket, pass), player).run(since).await
        }
    }
    drop(seat);
}

/// A socket whose bytes are counted.
#[derive(Debug)]
pub(super) struct MeteredSocket {
    stream: HttpStream,
    unsent: Unsent,
    counters: Arc<Counters>,
    /// What is counted for the client's principal.
    meter: Arc<Meter>,
}

impl MeteredSocket {
    pub(super) const fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    pub(super) const fn dropped(&self) -> &Arc<Dropped> {
        self.unsent.dropped()
    }
}

fn number(length: usize) -> u64 {
    u64::try_from(length).expect("a length fits 64 bits")
}

impl AsyncRead for MeteredSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = room.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, room))?;
        let read = room.filled().len() - before;
        self.counters.of(DoorName::Http).bytes_in.add(number(read));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for MeteredSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.unsent.note(left_of(bytes, &written));
        let written = ready!(written)?;
        self.counters
            .of(DoorName::Http)
            .bytes_out
            .add(number(written));
        self.meter.charge(number(written));
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
