//! What is driven, where a command of the lab measures more than one point: a workload or a server of
//! somebody else, and the server that the lab has started for it.

use std::{
    net::{SocketAddr, ToSocketAddrs as _},
    num::NonZeroUsize,
    path::Path,
    str::FromStr,
};

use anyhow::Context as _;
use clap::Args;
use turnstile_client::{AccessKey, ServerAddress};
use turnstile_load::{foreign, pace::Pace, processors, resources::Watched, workload::Load};
use turnstile_result as result;

use super::{
    default_threads,
    driven::own_server,
    notebook::{self, Notebook},
    pacing::Pacing,
    pin,
    quota::Quota,
    watching::Behind,
    workload::{self, Place, Service, Settings, TargetAddresses},
};
use crate::{
    address::{self, DoorAddress},
    child::Server,
    exit::Coded,
};

#[derive(Args, Clone, Debug)]
pub(crate) struct TestedServers {
    #[arg(required = true, help = format!(
        "{}, http://HOST:PORT/PATH, or resp://HOST:PORT with a command after --; with TLS https:// or \
         rediss://. __n__ in path, body and command becomes the number of the request, __n%100__ that \
         number modulo 100",
        workload::names()
    ))]
    what: Option<DrivenTarget>,
    #[command(flatten)]
    named: TargetAddresses,
    /// Number of generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
    #[command(flatten)]
    settings: Settings,
    /// http: method
    #[arg(long, default_value = "GET")]
    method: String,
    /// http: header, repeatable
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// http: body
    #[arg(long)]
    body: Option<String>,
    /// https and rediss: do not verify certificates
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,
    /// CPUs of the lab's own server and of the generator, such as server=0,gen=1
    #[arg(long, value_parser = pin::parse)]
    pin: Option<pin::Pins>,
    #[command(flatten)]
    behind: Behind,
    /// resp: command to send
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DrivenTarget {
    Service(Service),
    Http {
        host: String,
        path: String,
        encrypted: bool,
    },
    Resp {
        host: String,
        encrypted: bool,
    },
}

/// Schemes and their ports, without TLS and with it.
const HTTP: [(&str, u16); 2] = [("http://", 80), ("https://", 443)];
const RESP: [(&str, u16); 2] = [("resp://", 6379), ("rediss://", 6379)];

/// A subject with its server.
#[derive(Debug)]
pub(super) struct OpenedSubject<'a> {
    subject: &'a TestedServers,
    place: Place,
    /// What an HTTP request says of its sender.
    key: Option<AccessKey>,
    own: Option<Server>,
    quota: Option<Quota>,
}

impl TestedServers {
    fn what(&self) -> &DrivenTarget {
        self.what.as_ref().expect("the parser requires it")
    }

    /// Whether it was said what is driven: kept runs need nothing of the kind.
    pub(super) const fn is_said(&self) -> bool {
        self.what.is_some()
    }

    /// The workload's name for `run.json`.
    fn workload(&self) -> &'static str {
        match self.what() {
            DrivenTarget::Service(service) => service.name(),
            DrivenTarget::Http { .. } => "http",
            DrivenTarget::Resp { .. } => "resp",
        }
    }

    /// Users who can only be there together.
    pub(super) fn together(&self) -> usize {
        match self.what() {
            DrivenTarget::Service(service) => service.together(),
            DrivenTarget::Http { .. } | DrivenTarget::Resp { .. } => 1,
        }
    }

    /// Number of generator threads.
    pub(super) const fn threads(&self) -> NonZeroUsize {
        self.threads
    }

    /// Whether the lab starts the server, and so decides what it may use.
    pub(super) fn starts(&self) -> bool {
        matches!(self.what(), DrivenTarget::Service(_)) && !self.named.is_any()
    }

    /// How many processors its own server is held to.
    pub(super) fn pinned(&self) -> Option<usize> {
        let server = self.pin.as_ref()?.server.as_ref()?;
        self.starts().then_some(server.len())
    }

    /// What is asked, for `run.json`.
    pub(super) fn asked(
        &self,
        command: &str,
        target: result::Target,
        pacing: &Pacing,
    ) -> result::Asked {
        let mut asked = notebook::asked(
            command,
            self.workload(),
            target,
            Some(pacing),
            self.threads.get(),
        );
        asked.settings.extend(self.settings());
        if let Some(pins) = &self.pin {
            asked.pinned = pins.named();
        }
        asked
    }

    /// What only the workload knows, for `run.json`.
    fn settings(&self) -> Vec<(String, String)> {
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        match self.what() {
            DrivenTarget::Service(service) => {
                let own = service.setting(&self.settings.options());
                own.iter()
                    .map(|(name, value)| setting(name, value))
                    .collect()
            }
            DrivenTarget::Http { .. } => vec![setting("method", &self.method)],
            DrivenTarget::Resp { .. } => {
                let command = notebook::without_id_numbers(&self.command.join(" "));
                vec![setting("command", &command)]
            }
        }
    }

    /// The same at another server's door.
    pub(super) fn at(&self, door: DoorAddress) -> Self {
        let named = match self.what() {
            DrivenTarget::Service(service) => service.at(door, self.named.security.clone()),
            DrivenTarget::Http { .. } | DrivenTarget::Resp { .. } => self.named.clone(),
        };
        Self {
            named,
            ..self.clone()
        }
    }

    /// Finds the server, or starts one of this program, on these processors.
    pub(super) fn open(
        &self,
        program: Option<&Path>,
        cores: Option<&[usize]>,
    ) -> anyhow::Result<OpenedSubject<'_>> {
        let what = self.what();
        if self.command.is_empty() == matches!(what, DrivenTarget::Resp { .. }) {
            let wrong = "only resp:// takes a command, after --: resp://HOST:PORT -- SET k __n__";
            return Err(Coded::usage(wrong.to_owned()).into());
        }
        let is_encrypted = matches!(
            what,
            DrivenTarget::Http {
                encrypted: true,
                ..
            } | DrivenTarget::Resp {
                encrypted: true,
                ..
            }
        );
        if self.insecure && !is_encrypted {
            let wrong = "--insecure is about https:// and rediss://";
            return Err(Coded::usage(wrong.to_owned()).into());
        }
        let mut key = None;
        let named = match what {
            DrivenTarget::Service(service) => self.named.place(*service)?,
            DrivenTarget::Http { .. } | DrivenTarget::Resp { .. } if self.named.is_any() => {
                let wrong = "--resp, --travel and --games-arena name the doors of our own services";
                return Err(Coded::usage(wrong.to_owned()).into());
            }
            DrivenTarget::Http {
                host, encrypted, ..
            } => {
                key = self.named.security.named_key()?;
                Some(Place {
                    address: self.foreign(host, *encrypted)?,
                    resp: None,
                })
            }
            DrivenTarget::Resp { host, encrypted } => {
                let mut address = self.foreign(host, *encrypted)?;
                if let Some(key) = self.named.security.named_key()? {
                    address = address.with_key(key);
                }
                let resp = Some(address.clone());
                Some(Place { address, resp })
            }
        };
        if let Some(place) = named {
            return Ok(OpenedSubject {
                subject: self,
                place,
                key,
                own: None,
                quota: None,
            });
        }
        self.start(cores, |service| match program {
            None => own_server(service.doors(), service.flag()),
            Some(program) => Server::start_program(program, service.doors()),
        })
    }

    /// How a server of somebody else is spoken to.
    fn foreign(&self, host: &str, encrypted: bool) -> anyhow::Result<ServerAddress> {
        let address = ServerAddress::from(resolve(host)?);
        let security = &self.named.security;
        if !encrypted && security.is_about_tls() {
            let wrong = "--ca and --client-certificate are about https:// and rediss://";
            return Err(Coded::usage(wrong.to_owned()).into());
        }
        if !encrypted {
            return Ok(address);
        }
        let tls = security.tls(address::host(host), self.insecure)?;
        Ok(address.with_tls(tls))
    }

    /// Starts another server beside the first, on these processors, that is told more.
    pub(super) fn open_other(
        &self,
        cores: Option<&[usize]>,
        told: &[(String, String)],
    ) -> anyhow::Result<OpenedSubject<'_>> {
        self.start(cores, |service| {
            Server::start_with(None, service.doors(), told)
        })
    }

    fn start(
        &self,
        cores: Option<&[usize]>,
        server: impl FnOnce(Service) -> anyhow::Result<Server>,
    ) -> anyhow::Result<OpenedSubject<'_>> {
        let DrivenTarget::Service(service) = *self.what() else {
            let wrong = "the lab starts servers of our own services only";
            return Err(Coded::usage(wrong.to_owned()).into());
        };
        let own = pin::on(cores.or_else(|| self.server_cores()), || server(service))?;
        Ok(OpenedSubject {
            subject: self,
            place: service.place(&own),
            key: None,
            own: Some(own),
            quota: None,
        })
    }

    /// The processors that were asked for a server of the lab's own.
    fn server_cores(&self) -> Option<&[usize]> {
        self.pin.as_ref()?.server.as_deref()
    }
}

impl OpenedSubject<'_> {
    /// For `run.json`.
    pub(super) fn target(&self) -> result::Target {
        result::Target {
            address: match self.subject.what() {
                DrivenTarget::Service(_) => self.place.address.to_string(),
                DrivenTarget::Http {
                    host,
                    path,
                    encrypted,
                } => format!("{}{host}{path}", HTTP[usize::from(*encrypted)].0),
                DrivenTarget::Resp { host, encrypted } => {
                    format!("{}{host}", RESP[usize::from(*encrypted)].0)
                }
            },
            own: self.own.is_some(),
            tls: self.place.address.is_encrypted(),
            authenticated: self.place.address.has_key() || self.key.is_some(),
        }
    }

    /// Server and database, where they can be found.
    pub(super) fn watched(&self) -> Vec<Watched> {
        let behind = self.subject.behind;
        let watched = behind.watched(self.own.as_ref(), &self.place.address, self.resp());
        let quota = self.quota.as_ref().map(Quota::processors);
        watched
            .into_iter()
            .map(|one| {
                if one.is("server") {
                    one.within(quota)
                } else {
                    one
                }
            })
            .collect()
    }

    /// Where the server can be asked for what it says of itself.
    pub(super) const fn resp(&self) -> Option<&ServerAddress> {
        self.place.resp.as_ref()
    }

    /// The processors of a server of the lab's own.
    pub(super) fn cores(&self) -> Vec<usize> {
        let asked = self.subject.server_cores();
        asked.map_or_else(processors::available, <[usize]>::to_vec)
    }

    /// Lets the lab's own server use so many processors and no more, until it is stopped. A running server
    /// is never limited: an interrupted lab would leave it so.
    pub(super) fn hold(&mut self, processors: f64) -> anyhow::Result<()> {
        let own = self.own.as_ref();
        let own = own.context("the lab limits only a server that it starts itself")?;
        self.quota = Some(Quota::of(&[own.pid()], processors)?);
        Ok(())
    }

    /// Lets it use again what it could before.
    pub(super) fn release(&mut self) {
        self.quota = None;
    }

    /// Measures one point and keeps it; its place in the run.
    pub(super) fn measure(
        &self,
        pacing: &Pacing,
        notebook: &mut Notebook,
    ) -> anyhow::Result<usize> {
        self.measure_by(pacing, self.subject.threads, notebook)
    }

    /// The same with another number of generator threads.
    pub(super) fn measure_by(
        &self,
        pacing: &Pacing,
        threads: NonZeroUsize,
        notebook: &mut Notebook,
    ) -> anyhow::Result<usize> {
        let pace = pacing.pace(&self.place.address, threads.get())?;
        let began = notebook.begin(Some(self.watched()));
        let cores = self
            .subject
            .pin
            .as_ref()
            .and_then(|pins| pins.generator.as_deref());
        let point = pin::on(cores, || {
            self.drive(&pace, pacing.connections.get(), notebook)
        })?;
        Ok(notebook.keep(point, &pace, began))
    }

    fn drive(
        &self,
        pace: &Pace,
        users: usize,
        notebook: &mut Notebook,
    ) -> anyhow::Result<result::Point> {
        let subject = self.subject;
        let watch = &mut |progress: &_| notebook.watch(progress);
        let (point, said) = match subject.what() {
            DrivenTarget::Service(service) => {
                let load = Load {
                    pace,
                    users,
                    resp: self.place.resp.clone(),
                    own: self.own.is_some(),
                    options: &subject.settings.options(),
                };
                let run = service.run(&load, watch)?;
                (run.point, run.server)
            }
            DrivenTarget::Resp { .. } => (
                foreign::run_resp(pace, users, &subject.command, watch)?,
                None,
            ),
            DrivenTarget::Http { host, path, .. } => {
                let request = foreign::Request {
                    method: subject.method.clone(),
                    host: host.clone(),
                    path: path.clone(),
                    headers: subject.headers.clone(),
                    body: subject.body.clone(),
                    key: self.key.clone(),
                };
                (foreign::run_http(pace, users, &request, watch)?, None)
            }
        };
        notebook.server(said);
        Ok(point)
    }

    pub(super) fn stop(self) -> anyhow::Result<()> {
        self.own.map_or(Ok(()), Server::stop)
    }
}

fn resolve(host: &str) -> anyhow::Result<SocketAddr> {
    let found = host.to_socket_addrs().with_context(|| host.to_owned())?;
    let mut found = found.collect::<Vec<_>>();
    // What listens on this machine often does so for the older family only.
    found.sort_by_key(SocketAddr::is_ipv6);
    found
        .first()
        .copied()
        .with_context(|| format!("{host} has no address"))
}

impl FromStr for DrivenTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let with_port = |host: &str, port: u16| {
            if host.contains(':') {
                host.to_owned()
            } else {
                format!("{host}:{port}")
            }
        };
        for (encrypted, (scheme, port)) in [false, true].into_iter().zip(HTTP) {
            let Some(rest) = text.strip_prefix(scheme) else {
                continue;
            };
            let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
            if !host.is_empty() {
                return Ok(Self::Http {
                    host: with_port(host, port),
                    path: path.to_owned(),
                    encrypted,
                });
            }
        }
        for (encrypted, (scheme, port)) in [false, true].into_iter().zip(RESP) {
            let host = text.strip_prefix(scheme).unwrap_or("");
            if !host.is_empty() {
                let host = with_port(host.trim_end_matches('/'), port);
                return Ok(Self::Resp { host, encrypted });
            }
        }
        text.parse().map(Self::Service).map_err(|error: String| {
            format!(
                "{error}; any other server is http://HOST:PORT/PATH or resp://HOST:PORT, with TLS \
                 https:// or rediss://"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::DrivenTarget;

    #[test]
    fn what_can_be_driven_has_a_name_or_an_address() {
        let http = |host: &str, path: &str, encrypted| DrivenTarget::Http {
            host: host.to_owned(),
            path: path.to_owned(),
            encrypted,
        };
        let resp = |host: &str, encrypted| DrivenTarget::Resp {
            host: host.to_owned(),
            encrypted,
        };
        let service = |name: &str| DrivenTarget::Service(name.parse().unwrap());
        let rows = [
            ("rooms", service("rooms")),
            ("exchange", service("exchange")),
            ("travel", service("travel")),
            ("games", service("games")),
            ("http://a", http("a:80", "/", false)),
            ("http://a:81/b?c=__n__", http("a:81", "/b?c=__n__", false)),
            ("https://a/b", http("a:443", "/b", true)),
            ("resp://a", resp("a:6379", false)),
            ("resp://127.0.0.1:7/", resp("127.0.0.1:7", false)),
            ("rediss://a", resp("a:6379", true)),
        ];
        for (text, what) in rows {
            assert_eq!(text.parse(), Ok(what), "{text}");
        }
        for text in ["", "http://", "resp://", "https://", "ftp://a", "Rooms"] {
            assert!(text.parse::<DrivenTarget>().is_err(), "{text}");
        }
    }
}
