//! `turnstile lab run` against other servers.

use clap::Parser;

use super::{
    notebook::{Aims, Notebook, OutputArguments},
    pacing::Pacing,
    subject::TestedServers,
};

#[derive(Debug, Parser)]
#[command(name = "turnstile lab run")]
struct Arguments {
    #[command(flatten)]
    subject: TestedServers,
    #[command(flatten)]
    pacing: Pacing,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    aims: Aims,
}

/// The words behind `lab run`.
pub(super) fn run(words: &[String]) -> anyhow::Result<()> {
    let words = std::iter::once("turnstile lab run").chain(words.iter().map(String::as_str));
    let arguments = Arguments::try_parse_from(words).unwrap_or_else(|error| error.exit());
    let (subject, pacing) = (&arguments.subject, &arguments.pacing);
    let opened = subject.open(None, None)?;
    let asked = subject.asked("run", opened.target(), pacing);
    let mut notebook = Notebook::new(&arguments.output, asked, opened.watched())?;
    opened.measure(pacing, &mut notebook)?;
    opened.stop()?;
    notebook.finish(&arguments.aims)
}
