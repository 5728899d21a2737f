//! `turnstile cluster status`: the nodes in a table, and what an operator must look at.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use clap::Args;
use serde_json::{Value as Json, json};

use super::{AnsweringNode, AskedNodes};
use crate::terminal;

/// Columns of the table: the title, and the field of a node's report.
const COLUMNS: [(&str, &str); 13] = [
    ("NODE", "node"),
    ("STATE", "state"),
    ("VERSION", "version"),
    ("ENTRY", "entry"),
    ("LAG", "lag"),
    ("EPOCH", "epoch"),
    ("POSITION", "position"),
    ("SNAPSHOT", "snapshot"),
    ("CLIENTS", "connections"),
    ("BROKER", "broker"),
    ("LEADER", "leader"),
    ("PARTITIONS", "holds"),
    ("ADDRESS", "addresses"),
];

#[derive(Args, Debug)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    nodes: AskedNodes,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &StatusArguments) -> anyhow::Result<()> {
    let (nodes, silent) = arguments.nodes.ask()?;
    let silent: Vec<(String, String)> = silent
        .into_iter()
        .map(|(address, error)| (address, format!("{error:#}")))
        .collect();
    if nodes.is_empty() {
        let why: Vec<&str> = silent.iter().map(|(_, why)| &**why).collect();
        return Err(anyhow!("no node answers: {}", why.join("; ")));
    }
    let reports: Vec<&Json> = nodes.iter().map(|node| &node.report).collect();
    let others = others(&reports);
    let concerns = concerns(&reports, &others);
    if arguments.json {
        let asked: Vec<Json> = nodes.iter().map(shown).collect();
        let silent: Vec<Json> = silent
            .iter()
            .map(|(address, why)| json!({ "address": address, "error": why }))
            .collect();
        let told = json!({
            "nodes": asked,
            "others": others,
            "unreachable": silent,
            "concerns": concerns,
        });
        return Ok(terminal::line(told)?);
    }
    for line in table(&reports, &others) {
        terminal::line(line)?;
    }
    for (address, why) in &silent {
        terminal::line(format_args!("no answer from {address}: {why}"))?;
    }
    for concern in concerns {
        terminal::line(format_args!("look at this: {concern}"))?;
    }
    Ok(())
}

fn shown(node: &AnsweringNode) -> Json {
    let mut report = node.report.clone();
    report["address"] = Json::from(node.address.as_str());
    report
}

/// Nodes that did not answer here, as the one that has applied most knows them.
fn others(reports: &[&Json]) -> Vec<Json> {
    let asked: BTreeSet<&str> = reports
        .iter()
        .filter_map(|one| one["node"].as_str())
        .collect();
    let best = reports.iter().max_by_key(|one| one["entry"].as_u64());
    let known = best.and_then(|best| best["nodes"].as_array());
    let known = known.into_iter().flatten();
    let is_other = |one: &&Json| {
        !one["node"]
            .as_str()
            .is_some_and(|name| asked.contains(name))
    };
    known.filter(is_other).cloned().collect()
}

/// The lines of the table: nodes that answered, then those that others know.
fn table(reports: &[&Json], others: &[Json]) -> Vec<String> {
    let mut rows = vec![COLUMNS.map(|(title, _)| title.to_owned()).to_vec()];
    for report in reports {
        rows.push(COLUMNS.map(|(_, field)| cell(&report[field])).to_vec());
    }
    for other in others {
        let mut row = vec![cell(&other["node"]), "not asked".to_owned(), "-".to_owned()];
        row.push(cell(&other["entry"]));
        let seconds = other["silent_ms"].as_u64().unwrap_or_default() / 1_000;
        let place = match cell(&other["addresses"]).as_str() {
            "-" => String::new(),
            address => format!(" at {address}"),
        };
        row.push(format!("last heard {seconds} s ago{place}"));
        rows.push(row);
    }
    let width = |column| {
        let cells = rows.iter().filter(|row| row.len() == COLUMNS.len());
        let cells = cells.filter_map(|row: &Vec<String>| row.get(column));
        cells.map(String::len).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let cells = cells.map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn cell(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => "-".to_owned(),
        Json::Array(many) => many.iter().map(cell).collect::<Vec<_>>().join(","),
        // Of the doors of a node, the one that these commands speak to.
        Json::Object(addresses) => cell(addresses.get("resp").unwrap_or(&Json::Null)),
        other => other.to_string(),
    }
}

/// What an operator must look at, in sentences.
fn concerns(reports: &[&Json], others: &[Json]) -> Vec<String> {
    let mut concerns = Vec::new();
    let mut chains: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for report in reports {
        let node = cell(&report["node"]);
        let entry = report["entry"].as_u64().unwrap_or_default();
        let chain = cell(&report["chain"]);
        chains.entry(entry).or_default().insert(chain);
        if report["taking"] == false {
            concerns.push(format!("the brokers take no entries of node {node}"));
        }
        if report["disputed"] == true {
            concerns.push(format!(
                "node {node} and another one have come to different states"
            ));
        }
        if report["state"] == "read_only" {
            concerns.push(format!("the disk of node {node} is full"));
        }
        if report["leader"] == "none" {
            concerns.push(format!("node {node} knows no broker that leads the log"));
        }
    }
    for (entry, chains) in chains {
        if chains.len() > 1 {
            concerns.push(format!("nodes have different states behind entry {entry}"));
        }
    }
    let written = reports
        .iter()
        .filter_map(|one| one["entry_version"].as_u64());
    let newest = reports.iter().filter_map(|one| one["reads"].as_u64()).max();
    if let (Some(written), Some(newest)) = (written.min(), newest)
        && written < newest
    {
        let older = |one: &&Json| one["reads"].as_u64().is_some_and(|reads| reads < newest);
        let all = reports.iter().copied().chain(others);
        let older: BTreeSet<String> = all.filter(older).map(|one| cell(&one["node"])).collect();
        let older: Vec<String> = older.into_iter().collect();
        let why = if older.is_empty() {
            "not all nodes were heard yet".to_owned()
        } else {
            format!("these nodes read no newer one: {}", older.join(", "))
        };
        concerns.push(format!(
            "entries are written in version {written} of {newest}: {why}"
        ));
    }
    concerns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, entry: u64, chain: &str) -> Json {
        json!({
            "node": name, "state": "serves", "version": "0.1.0", "entry": entry, "lag": 0,
            "epoch": 3, "position": 99, "snapshot": 50, "connections": 2, "broker": "b1",
            "leader": "b2", "taking": true, "disputed": false, "chain": chain,
            "entry_version": 2, "reads": 2, "holds": ["main", "b"],
            "addresses": { "http": "10.0.0.1:8480", "resp": "10.0.0.1:8479" },
            "nodes": [
                { "node": name, "reads": 2, "entry": entry, "silent_ms": 0 },
                { "node": "n9", "reads": 2, "entry": 7, "silent_ms": 61_500,
                  "addresses": { "resp": "10.0.0.9:8479" } },
            ],
        })
    }

    #[test]
    fn nodes_stand_in_a_table_also_those_that_only_others_know() {
        let (one, two) = (node("n1", 12, "aa"), node("n2", 12, "aa"));
        let reports = [&one, &two];
        let others = others(&reports);
        let lines = table(&reports, &others);
        assert_eq!(
            lines,
            [
                "NODE  STATE   VERSION  ENTRY  LAG  EPOCH  POSITION  SNAPSHOT  CLIENTS  BROKER  LEADER  PARTITIONS  ADDRESS",
                "n1    serves  0.1.0    12     0    3      99        50        2        b1      b2      main,b      10.0.0.1:8479",
                "n2    serves  0.1.0    12     0    3      99        50        2        b1      b2      main,b      10.0.0.1:8479",
                "n9    not asked  -        7      last heard 61 s ago at 10.0.0.9:8479",
            ]
        );
        assert_eq!(concerns(&reports, &others), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_well_is_said() {
        let (mut one, two) = (node("n1", 12, "aa"), node("n2", 12, "bb"));
        one["taking"] = json!(false);
        one["entry_version"] = json!(1);
        let other = json!({ "node": "n9", "reads": 1 });
        assert_eq!(
            concerns(&[&one, &two], &[other]),
            [
                "the brokers take no entries of node n1",
                "nodes have different states behind entry 12",
                "entries are written in version 1 of 2: these nodes read no newer one: n9",
            ]
        );
    }
}
