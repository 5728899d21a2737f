//! One broker: a process that does not outlive us.

use std::{
    fs::{self, File},
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU16, Ordering},
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::Duration,
};

use rustix::{
    fd::OwnedFd,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

use crate::{BrokersError, build::NatsServer};

/// Ports below those that the system gives to connections, so that a broker that was killed finds its
/// own again.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// How long a broker may take to end by itself.
const STOP: Duration = Duration::from_secs(30);

/// A TCP port of the loopback that is free. Until this process ends no other one is given it here, even while
/// nothing listens there: for that, the UDP port of the same number is held, which brokers do not use.
pub(crate) fn free_port() -> Result<u16, BrokersError> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    static KEPT: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());
    let count = PORTS.end - PORTS.start;
    // Processes begin in different places.
    let start = u16::try_from(std::process::id() * 97 % u32::from(count)).unwrap_or_default();
    for _ in 0..count {
        let offset = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + (start + offset % count) % count;
        let Ok(kept) = UdpSocket::bind(("127.0.0.1", port)) else {
            continue;
        };
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            KEPT.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(kept);
            return Ok(port);
        }
    }
    Err(BrokersError::Late {
        what: "a free port".to_owned(),
    })
}

/// What a broker is started with, again and again.
#[derive(Debug)]
pub(crate) struct Broker {
    pub(crate) name: String,
    pub(crate) client: SocketAddr,
    pub(crate) monitor: SocketAddr,
    /// Its configuration and its log are here, and its data unless that has a place of its own.
    pub(crate) folder: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) configuration: String,
    running: Option<BrokerProcess>,
}

/// A process, and its end.
#[derive(Debug)]
struct BrokerProcess {
    pid: Pid,
    descriptor: OwnedFd,
    ended: Receiver<()>,
    has_ended: bool,
}

impl Broker {
    pub(crate) fn new(
        name: String,
        client: SocketAddr,
        monitor: SocketAddr,
        folder: PathBuf,
    ) -> Self {
        let data = folder.join("data");
        Self {
            name,
            client,
            monitor,
            folder,
            data,
            configuration: String::new(),
            running: None,
        }
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Starts it, and does not wait until it serves.
    pub(crate) fn start(&mut self, server: &NatsServer) -> Result<(), BrokersError> {
        self.kill();
        let name = self.name.clone();
        let failed = |error| BrokersError::system(format!("starting broker {name}"))(error);
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let configuration = self.folder.join("nats.conf");
        let name = self.name.clone();
        let failed = |error| BrokersError::system(format!("starting broker {name}"))(error);
        fs::write(&configuration, &self.configuration).map_err(failed)?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]);
        command.arg(server.program()).arg("-c").arg(configuration);
        self.running = Some(BrokerProcess::start(command, self.log())?);
        Ok(())
    }

    /// Whether it runs, after waiting for its end for a moment: a pause between two looks.
    pub(crate) fn runs_after(&mut self, pause: Duration) -> Result<(), BrokersError> {
        let runs = self
            .running
            .as_mut()
            .is_some_and(|running| !running.has_ended_within(pause));
        if runs {
            return Ok(());
        }
        let said = fs::read_to_string(self.log()).unwrap_or_default();
        Err(BrokersError::Ended {
            broker: self.name.clone(),
            log: self.log().display().to_string(),
            last: said.lines().last().unwrap_or_default().to_owned(),
        })
    }

    pub(crate) const fn is_started(&self) -> bool {
        self.running.is_some()
    }

    /// The number of its process, if it runs.
    pub(crate) fn pid(&self) -> Option<Pid> {
        self.running.as_ref().map(|running| running.pid)
    }

    /// Ends it as `kill -9` does, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        self.running = None;
    }

    /// Ends it as `kill` does, and waits until it has ended by itself; after a while it is killed.
    pub(crate) fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.signal(Signal::TERM);
            running.has_ended_within(STOP);
        }
    }

    /// Sends it a signal, if it runs.
    pub(crate) fn signal(&mut self, signal: Signal) {
        if let Some(running) = &mut self.running {
            running.signal(signal);
        }
    }
}

impl BrokerProcess {
    fn start(mut command: Command, log: PathBuf) -> Result<Self, BrokersError> {
        let (started, news) = sync_channel(1);
        let (end, ended) = sync_channel(1);
        // Linux ends this child with the thread that started it, which stays as long as the child.
        thread::spawn(move || {
            let mut child = match spawn(&mut command, &log) {
                Ok(child) => child,
                Err(error) => return drop(started.send(Err(error))),
            };
            let pid = Pid::from_child(&child);
            let descriptor = pidfd_open(pid, PidfdFlags::empty());
            let opened = descriptor.map(|descriptor| (pid, descriptor));
            drop(started.send(opened.map_err(io::Error::from)));
            drop(child.wait());
            end.send(()).ok();
        });
        let started = news
            .recv()
            .unwrap_or_else(|_gone| Err(io::Error::other("its thread has ended")));
        let started = started.map_err(BrokersError::system("starting a broker (setpriv)"))?;
        let (pid, descriptor) = started;
        Ok(Self {
            pid,
            descriptor,
            ended,
            has_ended: false,
        })
    }

    fn has_ended_within(&mut self, pause: Duration) -> bool {
        self.has_ended |= match self.ended.recv_timeout(pause) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
            Err(RecvTimeoutError::Timeout) => false,
        };
        self.has_ended
    }

    fn signal(&self, signal: Signal) {
        // A process that has ended hears nothing, which is no loss.
        pidfd_send_signal(&self.descriptor, signal).ok();
    }
}

impl Drop for BrokerProcess {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        self.signal(Signal::KILL);
        // A killed child ends.
        self.ended.recv().ok();
    }
}

fn spawn(command: &mut Command, log: &PathBuf) -> io::Result<Child> {
    let log = File::options().create(true).append(true).open(log)?;
    command.stdin(Stdio::null());
    command.stdout(log.try_clone()?).stderr(log).spawn()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_was_given_is_nobody_elses_while_nothing_listens_there() {
        let port = free_port().unwrap();
        assert_ne!(free_port().unwrap(), port);
        // What another process that looks for one meets there.
        let taken = UdpSocket::bind(("127.0.0.1", port)).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        assert!(TcpListener::bind(("127.0.0.1", port)).is_ok());
    }
}
