//! The `turnstile` binary: parse, build, run.

mod access;
mod address;
mod arguments;
mod audit;
mod backup;
mod call;
mod child;
mod cluster;
mod completions;
mod config;
mod config_print;
mod connect;
mod demo;
mod descriptors;
mod dev;
mod doctor;
mod exchange;
mod exit;
mod follow;
mod games;
mod hidden_value;
mod init;
mod journal;
mod key;
mod lab;
mod lab_runs;
mod lines;
mod logging;
mod manual;
mod memory;
mod new_key;
mod principal;
mod reading;
mod resp;
mod rooms;
mod rows;
mod season;
mod serve;
mod serving;
mod state;
mod supervisor;
mod terminal;
mod travel;
mod tx;
mod upgrade;
mod verify;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use arguments::{Arguments, Command, ConfigCommand};
use config::{Config, Layers};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let judges = matches!(
        arguments.command,
        Command::Verify(_)
            | Command::Upgrade(_)
            | Command::Doctor(_)
            | Command::Backup(_)
            | Command::Games(_)
            | Command::Lab(_)
            | Command::Demo(_)
    );
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads on. A judgement that was not told is no good one.
        Err(error) if terminal::is_reader_gone(&error) => {
            ExitCode::from(if judges { exit::FAILED } else { 0 })
        }
        Err(error) => {
            terminal::note(format_args!("error: {}", exit::message(&error)));
            ExitCode::from(exit::code(&error))
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let log = arguments.log;
    if !matches!(arguments.command, Command::Dev(_) | Command::Serve(_)) {
        let config = Config::parse(&Layers::about_logging(&log))?;
        logging::start(config.log_level, config.log_format);
    }
    match arguments.command {
        Command::Dev(arguments) => dev::run(arguments, &log),
        Command::Serve(arguments) => serve::run(arguments, &log),
        Command::Init(arguments) => init::run(&arguments),
        Command::Key(arguments) => key::run(&arguments),
        Command::Principal(arguments) => principal::run(&arguments),
        Command::Config(ConfigCommand::Print(arguments)) => config_print::run(&arguments, &log),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Audit(arguments) => audit::run(&arguments),
        Command::Journal(command) => journal::run(command),
        Command::Backup(arguments) => backup::run(arguments),
        Command::Restore(arguments) => backup::run_restore(&arguments),
        Command::Follow(arguments) => follow::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::State(command) => state::run(&command),
        Command::Upgrade(arguments) => upgrade::run(&arguments),
        Command::Rooms(command) => rooms::run(command),
        Command::Exchange(command) => exchange::run(&command),
        Command::Games(command) => games::run(command),
        Command::Travel(command) => travel::run(&command),
        Command::Tx(command) => tx::run(&command),
        Command::Call(arguments) => call::run(&arguments),
        Command::Cluster(command) => cluster::run(&command, &log),
        Command::Lab(command) => lab::run(command),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments, Arguments::command()),
        Command::Man(arguments) => manual::run(&arguments, Arguments::command()),
    }
}
