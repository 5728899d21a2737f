//! A server in a process of its own: this same binary as `dev`.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
};

use anyhow::{Context as _, anyhow, ensure};
use rustix::process::{Pid, Signal, kill_process};
use turnstile_travel::Desk;

/// Which doors the server opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doors {
    Resp,
    RespAndXml,
    RespAndTravel,
    RespAndArena,
    RespAndScores,
    Every,
}

/// Any port of loopback that is free.
const FREE_PORT: &str = "127.0.0.1:0";

/// A server that serves. It ends with us: it stops when its standard input does, and it is killed
/// when this value is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Held open: its end would stop the server.
    input: ChildStdin,
    /// Held open: a server that may print must not find it closed.
    output: BufReader<ChildStdout>,
    resp: SocketAddr,
    /// What it printed before `ready`.
    printed: Vec<String>,
}

impl Server {
    /// Starts a server on free ports, and waits until it is ready. Without a directory it makes a
    /// temporary one.
    pub(crate) fn start(data: Option<&Path>, doors: Doors) -> anyhow::Result<Self> {
        Self::start_with(data, doors, &[])
    }

    /// Another program than this one that knows `dev`.
    pub(crate) fn start_program(program: &Path, doors: Doors) -> anyhow::Result<Self> {
        Self::start_as(program, None, doors, FREE_PORT, &[])
    }

    /// This program or another, with its data here and its RESP door at this address: so clients find
    /// it again after a crash.
    pub(crate) fn start_at(
        program: Option<&Path>,
        data: &Path,
        resp: SocketAddr,
        more: &[(String, String)],
    ) -> anyhow::Result<Self> {
        let own = std::env::current_exe().context("the path of this binary")?;
        let program = program.unwrap_or(&own);
        Self::start_as(program, Some(data), Doors::Resp, &resp.to_string(), more)
    }

    /// The same as [`Self::start`], with more to be told.
    pub(crate) fn start_with(
        data: Option<&Path>,
        doors: Doors,
        more: &[(String, String)],
    ) -> anyhow::Result<Self> {
        let binary = std::env::current_exe().context("the path of this binary")?;
        Self::start_as(&binary, data, doors, FREE_PORT, more)
    }

    fn start_as(
        binary: &Path,
        data: Option<&Path>,
        doors: Doors,
        resp: &str,
        more: &[(String, String)],
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        command.args(["dev", "--attached"]);
        for (flag, value) in [("--log", "warn"), ("--durability", "sync")] {
            if !more.iter().any(|(told, _)| told == flag) {
                command.args([flag, value]);
            }
        }
        let when = |open| if open { FREE_PORT } else { "off" };
        command.args(["--resp", resp]);
        let opens = |door| doors == door || doors == Doors::Every;
        command.args(["--xml", when(opens(Doors::RespAndXml))]);
        command.args(["--http", when(doors == Doors::Every)]);
        command.args(["--travel", when(opens(Doors::RespAndTravel))]);
        command.args(["--games-arena", when(opens(Doors::RespAndArena))]);
        command.args(["--games-scores", when(opens(Doors::RespAndScores))]);
        command.args(more.iter().flat_map(|(flag, value)| [flag, value]));
        if let Some(data) = data {
            command.arg("--data").arg(data);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("a server process")?;
        let input = child.stdin.take().expect("standard input is piped");
        let mut output = BufReader::new(child.stdout.take().expect("standard output is piped"));
        let printed = match until_ready(&mut output) {
            Ok(printed) => printed,
            Err(error) => {
                child.kill().ok();
                let status = child.wait()?;
                return Err(error.context(format!("the server did not start: {status}")));
            }
        };
        let resp = door(&printed, "resp").context("the server named no RESP door")?;
        Ok(Self {
            child,
            input,
            output,
            resp,
            printed,
        })
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where its RESP door is.
    pub(crate) const fn resp(&self) -> SocketAddr {
        self.resp
    }

    /// Where its XML door is, if it was started with one.
    pub(crate) fn xml(&self) -> Option<SocketAddr> {
        door(&self.printed, "xml")
    }

    /// Where its door of travel is, if it was started with one.
    pub(crate) fn travel(&self) -> Option<SocketAddr> {
        door(&self.printed, "travel")
    }

    /// Where its arena is, if it was started with one.
    pub(crate) fn arena(&self) -> Option<SocketAddr> {
        door(&self.printed, "games-arena")
    }

    /// What it printed when it started.
    pub(crate) fn printed(&self) -> &[String] {
        &self.printed
    }

    /// Kills it: nothing in it gets a chance to finish.
    pub(crate) fn kill(mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| anyhow!("process id {}", self.child.id()))?;
        Ok(kill_process(pid, signal)?)
    }

    /// Gives it an order about its disk, and waits until that counts, or until the server has ended; it
    /// must have been told to heed them.
    pub(crate) fn order(&mut self, order: &str) -> io::Result<()> {
        writeln!(self.input, "{order}")?;
        let mut printed = String::new();
        while self.output.read_line(&mut printed)? > 0 && printed.trim_end() != order {
            printed.clear();
        }
        Ok(())
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Asks it to stop, as an operator does, and waits until it has.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        self.signal(Signal::TERM).context("SIGTERM")?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server stopped with {status}");
        Ok(())
    }

    /// Waits until it ends by itself.
    pub(crate) fn wait(mut self) -> io::Result<ExitStatus> {
        io::stdout().flush()?;
        self.await_end()
    }

    /// Waits until it has ended, in whatever way.
    pub(crate) fn await_end(&mut self) -> io::Result<ExitStatus> {
        // `Child::wait` would close its standard input, had we not taken that.
        self.child.wait()
    }
}

/// Travel in five processes: the middleware, and a desk each.
#[derive(Debug)]
pub(crate) struct Company {
    middleware: Server,
    desks: Vec<Server>,
}

impl Company {
    /// Starts all five on free ports, each with a temporary directory of its own, and waits until
    /// they are ready.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let pair = |flag: &str, value: String| (flag.to_owned(), value);
        let (mut desks, mut peers) = (Vec::new(), Vec::new());
        for desk in Desk::ALL {
            let told = [
                pair("--role", desk.to_string()),
                pair("--desk", FREE_PORT.to_owned()),
            ];
            let server = Server::start_with(None, Doors::Resp, &told)?;
            let address = door(&server.printed, "desk");
            let address = address.with_context(|| format!("{desk} named no door"))?;
            peers.push(pair(&format!("--peer-{desk}"), address.to_string()));
            desks.push(server);
        }
        peers.push(pair("--role", "middleware".to_owned()));
        Ok(Self {
            middleware: Server::start_with(None, Doors::RespAndTravel, &peers)?,
            desks,
        })
    }

    /// The others: customers and managers.
    pub(crate) fn desks(&self) -> &[Server] {
        &self.desks
    }

    /// The one that clients know.
    pub(crate) const fn middleware(&self) -> &Server {
        &self.middleware
    }

    /// Stops all of them, the middleware first.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        self.middleware.stop()?;
        self.desks.into_iter().try_for_each(Server::stop)
    }
}

/// Games in two processes: the arena, and the scores that count its results.
#[derive(Debug)]
pub(crate) struct ArenaServers {
    arena: Server,
    scores: Server,
}

impl ArenaServers {
    /// Starts both on free ports, each with a temporary directory of its own, and waits until they are
    /// ready.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let pair = |flag: &str, value: String| (flag.to_owned(), value);
        let told = [pair("--role", "scores".to_owned())];
        let scores = Server::start_with(None, Doors::RespAndScores, &told)?;
        let address = door(&scores.printed, "games-scores").context("the scores named no door")?;
        let told = [
            pair("--role", "arena".to_owned()),
            pair("--scores", address.to_string()),
        ];
        Ok(Self {
            arena: Server::start_with(None, Doors::RespAndArena, &told)?,
            scores,
        })
    }

    /// The one that players know.
    pub(crate) const fn arena(&self) -> &Server {
        &self.arena
    }

    /// The one that counts.
    pub(crate) const fn scores(&self) -> &Server {
        &self.scores
    }

    /// Stops both, the arena first.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        self.arena.stop()?;
        self.scores.stop()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to kill.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The address of a door that was printed.
fn door(printed: &[String], name: &str) -> Option<SocketAddr> {
    let mut lines = printed.iter();
    lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

fn until_ready(output: &mut BufReader<ChildStdout>) -> anyhow::Result<Vec<String>> {
    let mut printed = Vec::new();
    loop {
        let mut line = String::new();
        ensure!(
            output.read_line(&mut line)? > 0,
            "it ended before it was ready"
        );
        let line = line.trim_end();
        if line == "ready" {
            return Ok(printed);
        }
        printed.push(line.to_owned());
    }
}
