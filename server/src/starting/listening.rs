//! The listeners of all doors.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use mio::Poll;

use crate::{
    Settings, StartError, Stopper,
    core::{
        conversation::FastDoor, feed::Feeds, gate::Gate, listener::Listener,
        request_log::RequestLogs, turn::LISTENERS,
    },
    counters::Counters,
    doors::{
        arena::ARENA,
        desk::DESK,
        http::{About, FollowedPartitions, HttpDoor},
        lines::LINES,
        resp::RESP,
        scores::SCORES,
        xml::XML,
    },
    limits::BACKLOG,
};

use super::addresses;

/// What listens, and where.
#[derive(Default)]
pub(super) struct DoorListeners {
    pub(super) named: Vec<(&'static str, SocketAddr)>,
    pub(super) fast: Vec<(&'static FastDoor, TcpListener)>,
    pub(super) http: Option<TcpListener>,
}

/// Binds every door that is to be open.
pub(super) fn listen(settings: &Settings) -> Result<DoorListeners, StartError> {
    let mut doors = DoorListeners::default();
    for (name, fast, address) in [
        ("resp", Some(&RESP), settings.resp),
        ("http", None, settings.http),
        ("xml", Some(&XML), settings.xml),
        ("travel", Some(&LINES), settings.lines),
        ("desk", Some(&DESK), settings.peers.door),
        ("games-arena", Some(&ARENA), settings.duels.arena),
        ("games-scores", Some(&SCORES), settings.duels.scores),
    ] {
        let Some(address) = address else { continue };
        let listener = bind(name, address)?;
        let address = listener.local_addr().map_err(StartError::System)?;
        doors.named.push((name, address));
        match fast {
            Some(door) => doors.fast.push((door, listener)),
            None => doors.http = Some(listener),
        }
    }
    Ok(doors)
}

fn bind(door: &'static str, address: SocketAddr) -> Result<TcpListener, StartError> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        // The standard library asks for a line of 128; to ask again makes it longer.
        rustix::net::listen(&listener, BACKLOG)?;
        Ok(listener)
    });
    bound.map_err(|cause| StartError::Bind {
        door,
        address,
        cause,
    })
}

/// Has the poll watch the listeners of fast doors.
pub(super) fn watch_all(
    fast: Vec<(&'static FastDoor, TcpListener)>,
    is_secured: bool,
    poll: &Poll,
) -> Result<Vec<Listener>, StartError> {
    let watched = fast.into_iter().map(|(door, socket)| {
        let listener = Listener::new(door, (socket, is_secured), poll.registry(), LISTENERS);
        listener.map_err(StartError::System)
    });
    watched.collect()
}

/// The port of the RESP door; 0 where it is closed.
pub(super) fn port_of(doors: &[(&'static str, SocketAddr)]) -> u16 {
    let resp = doors.iter().find(|(name, _)| *name == "resp");
    resp.map_or(0, |(_, address)| address.port())
}

pub(super) fn open_http(
    listener: TcpListener,
    (gate, feeds, counters): (Gate, Feeds, Arc<Counters>),
    settings: &Settings,
    partitions: FollowedPartitions,
    stopper: &Stopper,
) -> io::Result<HttpDoor> {
    let signals = &stopper.signals;
    let (told, bell) = (Arc::clone(signals), gate.clone());
    let ended = move || {
        told.note_others_ended();
        bell.wake();
    };
    let about = About {
        data: settings.data.clone(),
        commit: settings.commit,
        transport: addresses::transport(settings),
        hosts: settings.http_hosts.clone(),
        addresses: settings.addresses,
        is_draining: signals.draining(),
        end_is_near: signals.end_is_near(),
        reloads: Arc::clone(&stopper.reloads),
        partitions,
        lab: settings.lab.clone(),
        requests: Some(Arc::clone(&stopper.requests)),
    };
    let tls = stopper.tls.clone();
    let wanted = (settings.limits.http, &*settings.http_origins, about, tls);
    let door = HttpDoor::start(listener, gate, feeds, counters, wanted, ended)?;
    let http = door.stopper();
    assert!(
        stopper.http.set(http.clone()).is_ok(),
        "a server has one HTTP door"
    );
    signals.stop_http_with(move || http.stop());
    Ok(door)
}

/// Opens the access log and begins to send spans, as far as either is wanted.
pub(super) fn begin_request_log(
    settings: &Settings,
    counters: &Arc<Counters>,
) -> Result<Arc<RequestLogs>, StartError> {
    let wanted = (settings.access_log.as_ref(), settings.traces.as_ref());
    RequestLogs::begin(wanted, settings.limits.slow_request, counters)
        .map_err(StartError::AccessLog)
}
