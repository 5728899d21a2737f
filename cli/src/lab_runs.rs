//! Loads that operators start over HTTP: this same program as `lab`.

use std::{
    ffi::OsString,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
};

use turnstile_load::{
    SERVICES, rooms,
    workload::{Door, Service},
};
use turnstile_server::{LabKind, LabOffer, LabOrder, LabProgram};

/// The running program, also after its file was replaced by another version.
const SELF: &str = "/proc/self/exe";

/// The most connections of a rush: its clients share them.
const RUSH_CONNECTIONS: u64 = 500;

/// This program, with results that go to this folder.
pub(crate) fn program(results: PathBuf) -> LabProgram {
    LabProgram {
        program: PathBuf::from(SELF),
        arguments,
        offers: offers(),
        target: Arc::default(),
        results,
    }
}

/// What a load can be for. A run asks at the RESP door alone.
fn offers() -> Vec<LabOffer> {
    let offer = |kind, is_for: fn(&dyn Service) -> bool| {
        let services = SERVICES.into_iter().filter(|service| is_for(*service));
        LabOffer {
            kind,
            services: services.map(|service| service.name().into()).collect(),
        }
    };
    vec![
        offer(LabKind::Run, |service| service.door() == Door::Resp),
        offer(LabKind::Rush, |service| {
            service.name() == rooms::BookingLoad.name()
        }),
        offer(LabKind::Check, |_any| true),
    ]
}

/// Which server a load asks, whom it trusts, and the file of its key.
pub(crate) fn target(
    mut resp: SocketAddr,
    certificate: Option<&Path>,
    key_file: Option<&Path>,
) -> Vec<OsString> {
    // A door on every address of the machine is asked at loopback.
    if resp.ip().is_unspecified() {
        resp.set_ip(match resp.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    let scheme = if certificate.is_some() {
        "rediss://"
    } else {
        ""
    };
    let mut told: Vec<OsString> = vec!["--resp".into(), format!("{scheme}{resp}").into()];
    let certificate = ("--server-certificate", certificate);
    for (flag, file) in [certificate, ("--key-file", key_file)] {
        told.extend(file.into_iter().flat_map(|file| [flag.into(), file.into()]));
    }
    told
}

fn arguments(order: &LabOrder, folder: &Path) -> Vec<OsString> {
    let LabOrder {
        kind,
        service,
        clients,
        seconds,
        rate,
        rooms,
    } = *order;
    let mut words: Vec<String> = vec!["lab".to_owned(), kind.code().to_owned()];
    if kind != LabKind::Rush {
        words.push(service.to_owned());
    }
    let mut told = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    match kind {
        LabKind::Rush => {
            told("--rooms", rooms.to_string());
            told("--clients", clients.to_string());
            told("--connections", clients.min(RUSH_CONNECTIONS).to_string());
        }
        LabKind::Run | LabKind::Check => {
            told("--connections", clients.to_string());
            told("--duration", format!("{seconds}s"));
            if let Some(rate) = rate {
                told("--rate", rate.to_string());
            }
        }
    }
    words.push("--attached".to_owned());
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    words.extend(["--output".into(), folder.into()]);
    words
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::Arguments;

    /// Whatever can be asked for over HTTP is a command line of this program.
    #[test]
    fn every_load_is_a_command_of_this_program() {
        let all = offers().into_iter().flat_map(|offer| {
            let services = SERVICES.map(Service::name).into_iter();
            let services = services.filter(move |name| offer.services.contains(&(*name).into()));
            services.map(move |service| (offer.kind, service))
        });
        let resp = SocketAddr::from(([127, 0, 0, 1], 8_479));
        let target = target(resp, Some(Path::new("/a.pem")), Some(Path::new("/key")));
        for (kind, service) in all {
            for rate in [None, Some(100)] {
                let order = LabOrder {
                    kind,
                    service,
                    clients: 1_000,
                    seconds: 600,
                    rate,
                    rooms: 3,
                };
                let mut line: Vec<OsString> = vec!["turnstile".into()];
                line.extend(arguments(&order, Path::new("/results/1")));
                line.extend(target.clone());
                let parsed = Arguments::try_parse_from(&line);
                assert!(parsed.is_ok(), "{line:?}: {parsed:?}");
            }
        }
    }
}
