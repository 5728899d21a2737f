//! `turnstile tx`: lists travel transactions with their locks, and resolves those in doubt.

mod shown;

use anyhow::anyhow;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde_json::Value as Json;
use turnstile_client::NamedConnection;

use crate::{
    address::{self, DoorAddress},
    connect::Security,
    resp, terminal,
};
use shown::{details, summary};

/// Transactions that are asked for at once: the longest page that a server gives.
const PAGE: &str = "1000";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List open transactions with their phase and the transaction they wait for
    List(ListArguments),
    /// Show one transaction: the locks it holds, the lock it waits for, and the holder of that lock
    Show(ShowArguments),
    /// Commit or abort by hand a transaction that is in doubt at one resource manager
    ///
    /// The other participants are notified. If one of them decided differently, the server
    /// publishes an event (a heuristic disagreement). Ask the coordinator for its decision first,
    /// if it is reachable.
    Resolve(ResolveArguments),
}

#[derive(Args, Debug)]
pub(crate) struct ListArguments {
    /// List only transactions in this state
    #[arg(long)]
    state: Option<State>,
    #[command(flatten)]
    asking: TxArguments,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArguments {
    /// Transaction number (xid)
    xid: u64,
    #[command(flatten)]
    asking: TxArguments,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("decision").required(true))]
pub(crate) struct ResolveArguments {
    /// Transaction number (xid)
    xid: u64,
    /// Resource manager in doubt; --resp must name its server
    #[arg(long)]
    desk: Desk,
    /// Commit the transaction there
    #[arg(long, group = "decision")]
    commit: bool,
    /// Abort the transaction there
    #[arg(long, group = "decision")]
    abort: bool,
    #[command(flatten)]
    asking: TxArguments,
}

#[derive(Args, Debug)]
struct TxArguments {
    /// RESP address of the server
    #[arg(long, value_name = "ADDR", value_parser = address::RESP, default_value = resp::ADDRESS)]
    resp: DoorAddress,
    #[command(flatten)]
    security: Security,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl TxArguments {
    fn connect(&self) -> anyhow::Result<NamedConnection> {
        resp::connect_named(&self.security.resp(&self.resp)?)
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    /// Accepts more operations
    Active,
    /// Waits for a lock
    Waiting,
    /// Commit or abort has begun
    Prepared,
    /// Voted, and its decision is not known here
    InDoubt,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Desk {
    Flights,
    Cars,
    Rooms,
    Customers,
}

/// The word of a choice, on the command line as in the protocol.
fn word(choice: &impl ValueEnum) -> String {
    let value = choice.to_possible_value().expect("no choice is hidden");
    value.get_name().to_owned()
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::List(arguments) => list(arguments),
        Command::Show(arguments) => show(arguments),
        Command::Resolve(arguments) => resolve(arguments),
    }
}

fn list(arguments: &ListArguments) -> anyhow::Result<()> {
    let mut door = arguments.asking.connect()?;
    let state = arguments.state.as_ref().map(word);
    let (mut all, mut cursor) = (Vec::new(), "0".to_owned());
    loop {
        let mut fields = vec![("cursor", &*cursor), ("limit", PAGE)];
        fields.extend(state.as_deref().map(|state| ("state", state)));
        let mut page = ask(&mut door, "travel.list_transactions", &fields)?;
        let Json::Array(listed) = page["transactions"].take() else {
            return Err(anyhow!("the server's answer has no list of transactions"));
        };
        all.extend(listed);
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    if arguments.asking.json {
        terminal::line(Json::Array(all))?;
    } else if all.is_empty() {
        terminal::note("none");
    } else {
        summary(&all).print()?;
    }
    Ok(())
}

fn show(arguments: &ShowArguments) -> anyhow::Result<()> {
    let mut door = arguments.asking.connect()?;
    let xid = arguments.xid.to_string();
    let shown = ask(&mut door, "travel.get_transaction", &[("xid", &xid)])?;
    if arguments.asking.json {
        terminal::line(shown)?;
    } else {
        details(&shown).print()?;
    }
    Ok(())
}

fn resolve(arguments: &ResolveArguments) -> anyhow::Result<()> {
    let mut door = arguments.asking.connect()?;
    let (xid, desk) = (arguments.xid.to_string(), word(&arguments.desk));
    let (decision, done) = if arguments.commit {
        ("commit", "committed")
    } else {
        ("abort", "aborted")
    };
    let fields = [("desk", &*desk), ("xid", &xid), ("decision", decision)];
    let resolved = ask(&mut door, "travel.resolve", &fields)?;
    if arguments.asking.json {
        terminal::line(resolved)?;
    } else {
        terminal::line(format_args!(
            "transaction {xid} is {done} at the desk of {desk}"
        ))?;
    }
    Ok(())
}

/// # Errors
/// The server does not answer, answers with an error, or refuses.
fn ask(
    door: &mut NamedConnection,
    operation: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<Json> {
    let answer = door.ask(operation, fields)?;
    match answer.refusal() {
        Some(reason) => Err(anyhow!("refused: {reason}")),
        None => resp::json(answer.fields()).map_err(anyhow::Error::msg),
    }
}
