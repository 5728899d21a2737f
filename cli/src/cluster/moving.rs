//! `turnstile cluster move-in` and `move-out`: a server's data becomes a cluster's, and a node's a server's.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use turnstile_embedded::{LeaveError, leave_cluster};
use turnstile_server::{NotJoined, begin_cluster};
use turnstile_stats::units::Count;

use crate::{
    access::unopened,
    config::{Config, LogFlags},
    config_print,
    exit::Coded,
    terminal,
};

#[derive(Args, Debug)]
pub(crate) struct MoveInArguments {
    /// Data directory of a server that is stopped. It stays as it is
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    #[command(flatten)]
    config: config_print::Arguments,
}

#[derive(Args, Debug)]
pub(crate) struct MoveOutArguments {
    /// Data directory of a node that is stopped
    dir: PathBuf,
}

pub(super) fn move_in(arguments: &MoveInArguments, log: &LogFlags) -> anyhow::Result<()> {
    let config = Config::parse(&arguments.config.layers(log)?)?;
    let settings = config.settings()?;
    if settings.partitions.len() > 1 {
        let sentence =
            "a cluster of several partitions begins without data: leave cluster.partitions out";
        return Err(Coded::usage(sentence.to_owned()).into());
    }
    let cluster = settings.cluster.ok_or_else(|| {
        Coded::usage(
            "no cluster is configured: name its brokers by cluster.nats, and this node by cluster.node"
                .to_owned(),
        )
    })?;
    let from = &arguments.from;
    let shown = from.display().to_string();
    let begun = begin_cluster(&cluster, from).map_err(|refused| match refused {
        NotJoined::NodeAlready | NotJoined::NoServer | NotJoined::LogInUse => {
            Coded::usage(format!("{shown}: {refused}")).into()
        }
        NotJoined::Directory(cause) => unopened(&shown, cause),
        other => anyhow!("{shown}: {other}"),
    })?;
    terminal::line(format_args!(
        "the cluster {} begins at position {} of {shown}: {} bytes are in the brokers' object store",
        cluster.partition,
        begun.position,
        Count(begun.snapshot_bytes)
    ))?;
    Ok(terminal::line(format_args!(
        "next: copy {} alone into the empty directory of each node, with mode 600, and start the nodes. What a \
         server still does in {shown} is not in the cluster",
        from.join("id.key").display()
    ))?)
}

pub(super) fn move_out(arguments: &MoveOutArguments) -> anyhow::Result<()> {
    let shown = arguments.dir.display().to_string();
    let left = leave_cluster(&arguments.dir).map_err(|refused| match refused {
        LeaveError::NotANode | LeaveError::OfSeveral => {
            Coded::usage(format!("{shown}: {refused}")).into()
        }
        LeaveError::Open(cause) => unopened(&shown, cause),
        other => anyhow::Error::from(other).context(shown.clone()),
    })?;
    let last = left.entry.map_or_else(
        || "it had left its log before".to_owned(),
        |entry| format!("it has all up to entry {entry} of its log"),
    );
    terminal::line(format_args!(
        "{shown} is a server's own: {last}, position {}, hash {:032x}",
        left.position, left.hash
    ))?;
    Ok(terminal::line(
        "next: start it without [cluster]. The nodes of the cluster go on without it, and it is none of them \
         any more",
    )?)
}
