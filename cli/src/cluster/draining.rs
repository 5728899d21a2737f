//! `turnstile cluster drain` and `step-down`: planned restarts of nodes and brokers.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{anyhow, ensure};
use clap::Args;

use super::{AnsweringNode, AskedNodes};
use crate::{exit::Coded, terminal};

/// Between two looks at a node that is drained.
const LOOK: Duration = Duration::from_millis(50);

/// How long brokers may take to elect another leader; they take a fraction of it.
const ELECTION: Duration = Duration::from_secs(15);

#[derive(Args, Debug)]
pub(crate) struct DrainArguments {
    /// Name of the node
    node: String,
    #[command(flatten)]
    nodes: AskedNodes,
    /// Drain it though no other node is named that serves
    #[arg(long)]
    alone: bool,
    /// How long to wait until its clients are gone, in seconds
    #[arg(long, value_name = "S", default_value = "60")]
    within: u64,
}

#[derive(Args, Debug)]
pub(crate) struct StepDownArguments {
    #[command(flatten)]
    nodes: AskedNodes,
}

pub(super) fn drain(arguments: &DrainArguments) -> anyhow::Result<()> {
    let (mut nodes, silent) = arguments.nodes.ask()?;
    let wanted = arguments.node.as_str();
    let Some(place) = nodes.iter().position(|node| node.name() == wanted) else {
        let found: Vec<&str> = nodes.iter().map(AnsweringNode::name).collect();
        let silent = silent
            .iter()
            .map(|(address, why)| format!("; {address}: {why:#}"));
        return Err(anyhow!(
            "node {wanted} is not at the addresses of --resp; there: {}{}",
            if found.is_empty() {
                "none".to_owned()
            } else {
                found.join(", ")
            },
            silent.collect::<String>()
        ));
    };
    let mut node = nodes.swap_remove(place);
    if !arguments.alone && !nodes.iter().any(|other| other.report["state"] == "serves") {
        let told = "no other node is named that serves, so clients would have none to go to: name one by \
                    --resp, or say --alone";
        return Err(Coded::usage(told.to_owned()).into());
    }
    let before = node.number("connections");
    node.order(&[b"CLUSTER", b"DRAIN", wanted.as_bytes()])?;
    let deadline = Instant::now() + Duration::from_secs(arguments.within);
    loop {
        node.look()?;
        // One of them is ours.
        let left = node.number("connections").saturating_sub(1);
        let under_way = node.number("under_way");
        if left == 0 && under_way == 0 {
            break;
        }
        ensure!(
            Instant::now() < deadline,
            "node {wanted} still has {left} connections and {under_way} entries under way; it accepts no \
             new ones"
        );
        thread::park_timeout(LOOK);
    }
    let closed = before.saturating_sub(1);
    Ok(terminal::line(format_args!(
        "node {wanted} is drained, {closed} connections were closed: restart it"
    ))?)
}

pub(super) fn step_down(arguments: &StepDownArguments) -> anyhow::Result<()> {
    let (nodes, silent) = arguments.nodes.ask()?;
    let mut nodes = nodes.into_iter();
    let Some(mut node) = nodes.next() else {
        let why = silent
            .iter()
            .map(|(address, why)| format!("{address}: {why:#}"));
        return Err(anyhow!(
            "no node answers: {}",
            why.collect::<Vec<_>>().join("; ")
        ));
    };
    let leader = |node: &AnsweringNode| node.report["leader"].as_str().map(str::to_owned);
    let before = leader(&node);
    node.order(&[b"CLUSTER", b"STEPDOWN"])?;
    let deadline = Instant::now() + ELECTION;
    loop {
        node.look()?;
        let now = leader(&node);
        if let Some(now) = &now
            && now != "none"
            && Some(now) != before.as_ref()
        {
            let before = before.unwrap_or_default();
            return Ok(terminal::line(format_args!(
                "broker {now} leads the log now, {before} may be restarted"
            ))?);
        }
        ensure!(
            Instant::now() < deadline,
            "the leader is still {}: may the user of the nodes publish to \
             $JS.API.STREAM.LEADER.STEPDOWN? The log of the node says more",
            now.unwrap_or_default()
        );
        thread::park_timeout(LOOK);
    }
}
