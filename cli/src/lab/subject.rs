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
use turnstile_load::{exchange, foreign, pace::Pace, processors, resources::Watched, rooms};
use turnstile_result as result;

use super::{
    PROPERTY, default_threads,
    notebook::{self, Notebook},
    own_server,
    pacing::Pacing,
    pin,
    quota::Quota,
    server,
    watching::Behind,
};
use crate::{
    address,
    child::{Doors, Server},
    exit::Coded,
};

#[derive(Args, Clone, Debug)]
pub(crate) struct Subject {
    /// rooms, exchange, http://HOST:PORT/PATH, or resp://HOST:PORT with a command after --; __n__ in
    /// path, body and command is the number of the request
    what: What,
    /// RESP door of the server of rooms or exchange; without it, the lab starts one of its own
    #[arg(long, value_name = "ADDR", value_parser = address::parse)]
    resp: Option<SocketAddr>,
    /// Generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
    /// rooms: shares of the operations
    #[arg(long, default_value = "book=70,cancel=30")]
    mix: rooms::Mix,
    /// exchange: symbols, each with a book of its own
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    symbols: u16,
    /// http: the method
    #[arg(long, default_value = "GET")]
    method: String,
    /// http: more headers, `name: value`
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// http: the body
    #[arg(long)]
    body: Option<String>,
    /// Processors of a server of the lab's own and of the generator, such as server=0,gen=1
    #[arg(long, value_parser = pin::parse)]
    pin: Option<pin::Pins>,
    #[command(flatten)]
    behind: Behind,
    /// resp: the command
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Rooms,
    Exchange,
    Http { host: String, path: String },
    Resp { host: String },
}

/// A subject with its server.
#[derive(Debug)]
pub(super) struct Opened<'a> {
    subject: &'a Subject,
    address: SocketAddr,
    own: Option<Server>,
    quota: Option<Quota>,
}

impl Subject {
    /// The workload's name for `run.json`.
    const fn workload(&self) -> &'static str {
        match self.what {
            What::Rooms => "rooms",
            What::Exchange => "exchange",
            What::Http { .. } => "http",
            What::Resp { .. } => "resp",
        }
    }

    /// Generator threads.
    pub(super) const fn threads(&self) -> NonZeroUsize {
        self.threads
    }

    /// Whether the lab starts the server, and so decides what it may use.
    pub(super) const fn starts(&self) -> bool {
        matches!(self.what, What::Rooms | What::Exchange) && self.resp.is_none()
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
        match &self.what {
            What::Rooms => vec![setting("mix", &self.mix.to_string())],
            What::Exchange => vec![setting("symbols", &self.symbols.to_string())],
            What::Http { .. } => vec![setting("method", &self.method)],
            What::Resp { .. } => vec![setting("command", &self.command.join(" "))],
        }
    }

    /// The same against another server.
    pub(super) fn at(&self, resp: SocketAddr) -> Self {
        Self {
            resp: Some(resp),
            ..self.clone()
        }
    }

    /// Finds the server, or starts one of this program, on these processors.
    pub(super) fn open(
        &self,
        program: Option<&Path>,
        cores: Option<&[usize]>,
    ) -> anyhow::Result<Opened<'_>> {
        if self.command.is_empty() == matches!(self.what, What::Resp { .. }) {
            let wrong = "a command goes with resp://, after --: resp://HOST:PORT -- SET k __n__";
            return Err(Coded::usage(wrong.to_owned()).into());
        }
        let named = match &self.what {
            What::Rooms | What::Exchange => self.resp,
            What::Http { host, .. } | What::Resp { host } => Some(resolve(host)?),
        };
        if let Some(address) = named {
            return Ok(Opened {
                subject: self,
                address,
                own: None,
                quota: None,
            });
        }
        self.start(cores, || match program {
            None => own_server(Doors::Resp, "--resp"),
            Some(program) => Server::start_program(program),
        })
    }

    /// Starts another server beside the first, on these processors, that is told more.
    pub(super) fn open_other(
        &self,
        cores: Option<&[usize]>,
        told: &[(String, String)],
    ) -> anyhow::Result<Opened<'_>> {
        self.start(cores, || Server::start_with(None, Doors::Resp, told))
    }

    fn start(
        &self,
        cores: Option<&[usize]>,
        server: impl FnOnce() -> anyhow::Result<Server>,
    ) -> anyhow::Result<Opened<'_>> {
        let own = pin::on(cores.or_else(|| self.server_cores()), server)?;
        Ok(Opened {
            subject: self,
            address: own.resp(),
            own: Some(own),
            quota: None,
        })
    }

    /// The processors that were asked for a server of the lab's own.
    fn server_cores(&self) -> Option<&[usize]> {
        self.pin.as_ref()?.server.as_deref()
    }
}

impl Opened<'_> {
    /// For `run.json`.
    pub(super) fn target(&self) -> result::Target {
        result::Target {
            address: match &self.subject.what {
                What::Rooms | What::Exchange => self.address.to_string(),
                What::Http { host, path } => format!("http://{host}{path}"),
                What::Resp { host } => format!("resp://{host}"),
            },
            own: self.own.is_some(),
        }
    }

    /// Server and database, where they can be found.
    pub(super) fn watched(&self) -> Vec<Watched> {
        let behind = self.subject.behind;
        let watched = behind.watched(self.own.as_ref(), self.address, self.resp());
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
    pub(super) const fn resp(&self) -> Option<SocketAddr> {
        match self.subject.what {
            What::Http { .. } => None,
            What::Rooms | What::Exchange | What::Resp { .. } => Some(self.address),
        }
    }

    /// The processors of a server of the lab's own.
    pub(super) fn cores(&self) -> Vec<usize> {
        let asked = self.subject.server_cores();
        asked.map_or_else(processors::available, <[usize]>::to_vec)
    }

    /// Lets the server use so many processors and no more, until it is stopped.
    pub(super) fn hold(&mut self, processors: f64) -> anyhow::Result<()> {
        let watched = self.watched();
        let server = watched.iter().find(|one| one.is("server"));
        let pid = server.context("the server is not on this machine, or may not be seen")?;
        self.quota = Some(Quota::of(&[pid.pid()], processors)?);
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
        let pace = pacing.pace(self.address, threads.get())?;
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
        let (point, said) = match &subject.what {
            What::Rooms => {
                let config = rooms::Config {
                    pace: pace.clone(),
                    users,
                    mix: subject.mix,
                    property: PROPERTY.to_owned(),
                };
                let report = rooms::run(&config, &mut |progress| notebook.watch(progress))?;
                (report.point, Some(server(&report.server)))
            }
            What::Exchange => {
                let config = exchange::Config {
                    door: exchange::Door::Resp,
                    pace: pace.clone(),
                    proof: Some(self.address),
                    users,
                    symbols: usize::from(subject.symbols),
                    one_shot: None,
                };
                let report = exchange::run(&config, &mut |progress| notebook.watch(progress))?;
                (report.point, report.server.as_ref().map(server))
            }
            What::Resp { .. } => {
                let watch = &mut |progress: &_| notebook.watch(progress);
                (
                    foreign::run_resp(pace, users, &subject.command, watch)?,
                    None,
                )
            }
            What::Http { host, path } => {
                let request = foreign::Request {
                    method: subject.method.clone(),
                    host: host.clone(),
                    path: path.clone(),
                    headers: subject.headers.clone(),
                    body: subject.body.clone(),
                };
                let watch = &mut |progress: &_| notebook.watch(progress);
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

impl FromStr for What {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let with_port = |host: &str, port: u16| {
            if host.contains(':') {
                host.to_owned()
            } else {
                format!("{host}:{port}")
            }
        };
        if let Some(rest) = text.strip_prefix("http://") {
            let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
            if !host.is_empty() {
                let host = with_port(host, 80);
                let path = path.to_owned();
                return Ok(Self::Http { host, path });
            }
        }
        if let Some(host) = text.strip_prefix("resp://").filter(|host| !host.is_empty()) {
            let host = with_port(host.trim_end_matches('/'), 6379);
            return Ok(Self::Resp { host });
        }
        match text {
            "rooms" => Ok(Self::Rooms),
            "exchange" => Ok(Self::Exchange),
            _ => Err(format!(
                "`{text}` cannot be driven: write rooms, exchange, http://HOST:PORT/PATH or \
                 resp://HOST:PORT"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::What;

    #[test]
    fn what_can_be_driven_has_a_name_or_an_address() {
        let http = |host: &str, path: &str| What::Http {
            host: host.to_owned(),
            path: path.to_owned(),
        };
        let resp = |host: &str| What::Resp {
            host: host.to_owned(),
        };
        let rows = [
            ("rooms", What::Rooms),
            ("exchange", What::Exchange),
            ("http://a", http("a:80", "/")),
            ("http://a:81/b?c=__n__", http("a:81", "/b?c=__n__")),
            ("resp://a", resp("a:6379")),
            ("resp://127.0.0.1:7/", resp("127.0.0.1:7")),
        ];
        for (text, what) in rows {
            assert_eq!(text.parse(), Ok(what), "{text}");
        }
        for text in ["", "http://", "resp://", "https://a", "ftp://a", "Rooms"] {
            assert!(text.parse::<What>().is_err(), "{text}");
        }
    }
}
