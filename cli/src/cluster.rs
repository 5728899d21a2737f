//! `turnstile cluster`: how the nodes of a cluster stand, planned restarts of nodes and brokers, and the way of
//! data into a cluster and out of it.

mod draining;
mod moving;
mod status;

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use serde_json::Value as Json;
use turnstile_client::{Connection, Denied, resp::Value};

use crate::{
    address::{self, DoorAddress},
    config::LogFlags,
    connect::Security,
    resp,
};

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Show nodes, their versions and places in the log, and the broker that leads it
    ///
    /// Each node that is named is asked. Nodes that are not named are shown as the others know them, from
    /// what they have said in the log.
    Status(status::StatusArguments),
    /// Prepare a node for a planned restart: it closes its connections one by one, each when it has its
    /// answers
    Drain(draining::DrainArguments),
    /// Ask the broker that leads the log to leave that to another, before that broker is restarted
    StepDown(draining::StepDownArguments),
    /// Begin a cluster with the data of a server that is stopped: it goes into the brokers' object store, and
    /// nodes with empty directories start with it
    ///
    /// The configuration is that of a node; the log of the cluster must be new.
    MoveIn(moving::MoveInArguments),
    /// Make the directory of a node that is stopped a server's own, with the same state, keys and journal
    MoveOut(moving::MoveOutArguments),
}

/// Nodes that are asked. The key needs the role operator.
#[derive(Args, Debug)]
struct AskedNodes {
    /// RESP address of a node; repeatable
    #[arg(long, value_name = "ADDR", value_parser = address::RESP, default_value = resp::ADDRESS)]
    resp: Vec<DoorAddress>,
    #[command(flatten)]
    security: Security,
}

/// A node that was asked, and how it stands.
struct AnsweringNode {
    address: String,
    door: Connection,
    report: Json,
}

/// Addresses at which no node answers, and why.
type SilentNodes = Vec<(String, anyhow::Error)>;

pub(crate) fn run(command: &ClusterCommand, log: &LogFlags) -> anyhow::Result<()> {
    match command {
        ClusterCommand::Status(arguments) => status::run(arguments),
        ClusterCommand::Drain(arguments) => draining::drain(arguments),
        ClusterCommand::StepDown(arguments) => draining::step_down(arguments),
        ClusterCommand::MoveIn(arguments) => moving::move_in(arguments, log),
        ClusterCommand::MoveOut(arguments) => moving::move_out(arguments),
    }
}

impl AskedNodes {
    /// Those that answer, and why the others do not.
    ///
    /// # Errors
    /// A file of the connection cannot be read, or the key is not enough.
    fn ask(&self) -> anyhow::Result<(Vec<AnsweringNode>, SilentNodes)> {
        let (mut nodes, mut silent) = (Vec::new(), Vec::new());
        for named in &self.resp {
            let address = self.security.resp(named)?;
            let asked = resp::connect(address).and_then(|mut door| {
                let report = report_of(&mut door)?;
                Ok((door, report))
            });
            let address = named.to_string();
            match asked {
                Ok((door, report)) => nodes.push(AnsweringNode {
                    address,
                    door,
                    report,
                }),
                Err(error) if error.chain().any(|cause| cause.is::<Denied>()) => return Err(error),
                Err(error) => silent.push((address, error)),
            }
        }
        Ok((nodes, silent))
    }
}

impl AnsweringNode {
    fn name(&self) -> &str {
        self.report["node"].as_str().unwrap_or_default()
    }

    fn number(&self, field: &str) -> u64 {
        self.report[field].as_u64().unwrap_or_default()
    }

    /// Asks it for something that is answered with OK.
    fn order(&mut self, words: &[&[u8]]) -> anyhow::Result<()> {
        match self.door.command(words)? {
            Value::Error(error) => Err(refused(&error)),
            _ => Ok(()),
        }
    }

    /// Asks it again how it stands.
    fn look(&mut self) -> anyhow::Result<()> {
        self.report = report_of(&mut self.door)?;
        Ok(())
    }
}

/// How a node says that it stands.
///
/// # Errors
/// It cannot be asked, or it is no node.
pub(crate) fn report_of(door: &mut Connection) -> anyhow::Result<Json> {
    let answer = door.command(&[b"CLUSTER", b"STATUS"])?;
    if let Value::Error(error) = &answer {
        return Err(refused(error));
    }
    let text = answer.as_str().context("the node answers with no text")?;
    serde_json::from_str(text).context("the node answers with no JSON")
}

/// An error of a node: of a key that is not enough, or another.
fn refused(error: &str) -> anyhow::Error {
    Denied::of(error).map_or_else(|| anyhow!("{error}"), Into::into)
}
