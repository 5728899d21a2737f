//! `turnstile call`: every operation of every service from a terminal or a script.
//!
//! Names, fields and help come from the catalogue that the RESP door answers by.

use std::ffi::OsStr;

use anyhow::anyhow;
use clap::{
    Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand,
    builder::{PossibleValue, StringValueParser, TypedValueParser},
    error::ErrorKind,
};
use turnstile_client::resp::Value;
use turnstile_resp::catalogue::{FieldSyntax, Syntax, operations, refusals};

use crate::{
    address::{self, DoorAddress},
    connect::Security,
    exit::Coded,
    resp, terminal,
};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// RESP address of the server
    #[arg(long, global = true, value_name = "ADDR", value_parser = address::RESP, default_value = resp::ADDRESS)]
    resp: DoorAddress,
    #[command(flatten)]
    security: Security,
    /// Print the answer as one line of JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    call: OperationCall,
}

/// One operation, and the fields that it is called with.
#[derive(Clone, Debug)]
struct OperationCall {
    operation: &'static Syntax,
    fields: Vec<(String, String)>,
}

/// The name of the argument that holds the fields.
const FIELDS: &str = "fields";

impl Subcommand for OperationCall {
    fn augment_subcommands(command: Command) -> Command {
        let command = command
            .subcommand_required(true)
            .arg_required_else_help(true);
        operations().fold(command, |command, syntax| {
            command.subcommand(described(syntax))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        operations().any(|syntax| syntax.operation() == name)
    }
}

impl FromArgMatches for OperationCall {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, matches) = matches
            .subcommand()
            .ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        let operation = operations()
            .find(|syntax| syntax.operation() == name)
            .ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))?;
        // An operation without fields has no such argument.
        let fields = matches.try_get_many::<(String, String)>(FIELDS);
        Ok(Self {
            operation,
            fields: fields
                .ok()
                .flatten()
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// An operation as a command, with help and completion.
fn described(syntax: &'static Syntax) -> Command {
    let fields = syntax.fields();
    let command = Command::new(syntax.operation()).about(syntax.summary);
    if fields.is_empty() {
        return command;
    }
    let help = table(&fields);
    let argument = Arg::new(FIELDS)
        .value_name("FIELD=VALUE")
        .num_args(0..)
        .help("Fields, in any order")
        .hide_possible_values(true)
        .value_parser(FieldParser { fields });
    command.arg(argument).after_help(help)
}

/// Reads `name=value`, and completes names.
#[derive(Clone)]
struct FieldParser {
    fields: Vec<FieldSyntax>,
}

impl TypedValueParser for FieldParser {
    type Value = (String, String);

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let read = |text: String| match text.split_once('=') {
            Some((name, value)) => Ok((name.replace('-', "_"), value.to_owned())),
            None => Err("write a field as NAME=VALUE"),
        };
        let parser = StringValueParser::new().try_map(read);
        parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let fields = self.fields.iter();
        let names = fields.map(|field| PossibleValue::new(format!("{}=", field.name)));
        Some(Box::new(names))
    }
}

fn table(fields: &[FieldSyntax]) -> String {
    let width = fields
        .iter()
        .map(|field| field.name.len())
        .max()
        .unwrap_or(0);
    let line = |field: &FieldSyntax| {
        let note = match (field.is_required, field.is_repeated) {
            (true, true) => " (required, may be repeated)",
            (true, false) => " (required)",
            (false, true) => " (may be repeated)",
            (false, false) => "",
        };
        format!("  {:width$}  {}{note}", field.name, field.form)
    };
    let lines: Vec<String> = fields.iter().map(line).collect();
    format!("Fields:\n{}", lines.join("\n"))
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let OperationCall { operation, fields } = &arguments.call;
    let name = operation.operation();
    let usage = |misnamed| Coded::usage(format!("{name}: {misnamed}"));
    operation.request(fields).map_err(usage)?;
    let mut server = resp::connect_named(&arguments.security.resp(&arguments.resp)?)?;
    let answer = server.ask(&name, fields)?;
    let reply = answer.fields();
    if arguments.json {
        terminal::line(resp::json(reply).map_err(anyhow::Error::msg)?)?;
    } else {
        let mut lines = Vec::new();
        put_lines(reply, 0, &mut lines);
        terminal::line(lines.join("\n"))?;
    }
    if answer.is_waiting() {
        return Err(anyhow!(
            "in line: nothing was done, call again with the same key after that time"
        ));
    }
    if let Some(code) = answer.refusal() {
        return Err(match sentence(operation, code) {
            Some(sentence) => anyhow!("refused: {sentence} ({code})"),
            None => anyhow!("refused: {code}"),
        });
    }
    Ok(())
}

/// What a code of a refusal means.
fn sentence(operation: &Syntax, code: &str) -> Option<&'static str> {
    let mut refusals = refusals(operation.group).into_iter();
    let found = refusals.find(|refusal| refusal.code == code);
    found.map(|refusal| refusal.sentence)
}

/// One line for each field in the order of the answer, with lists and objects indented below it.
fn put_lines(value: &Value, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Map(fields) => {
            for (name, value) in fields {
                let name = name.as_str().unwrap_or_default();
                match scalar(value) {
                    Some(text) => lines.push(format!("{indent}{name}: {text}")),
                    None => {
                        lines.push(format!("{indent}{name}:"));
                        put_lines(value, depth + 1, lines);
                    }
                }
            }
        }
        Value::Array(values) | Value::Set(values) | Value::Push(values) => {
            for value in values {
                match scalar(value) {
                    Some(text) => lines.push(format!("{indent}- {text}")),
                    None => {
                        let first = lines.len();
                        put_lines(value, depth + 1, lines);
                        if let Some(line) = lines.get_mut(first) {
                            line.replace_range(indent.len()..=indent.len(), "-");
                        }
                    }
                }
            }
        }
        other => lines.extend(scalar(other).map(|text| format!("{indent}{text}"))),
    }
}

/// A value that fits one line; an empty list does.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Map(fields) if !fields.is_empty() => None,
        Value::Array(values) | Value::Set(values) | Value::Push(values) if !values.is_empty() => {
            None
        }
        Value::Map(_) | Value::Array(_) | Value::Set(_) | Value::Push(_) => Some("none".to_owned()),
        Value::Null => Some("-".to_owned()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        other => other.as_str().map(str::to_owned),
    }
}
