//! Transactions as text and as JSON.

use serde_json::Value as Json;

use crate::terminal::Table;

/// One line for each transaction.
pub(super) fn summary(transactions: &[Json]) -> Table {
    let mut table = Table::default();
    for transaction in transactions {
        let mut line = text(&transaction["phase"]);
        if let Some(holder) = known(&transaction["waits_for"]) {
            line += &format!(" for {holder}");
        }
        if let Some(until) = known(&transaction["until"]) {
            line += &format!(", until {until}");
        }
        let branches = list(&transaction["branches"]);
        let branches: Vec<String> = branches.iter().map(branch).collect();
        if !branches.is_empty() {
            line += &format!(": {}", branches.join("; "));
        }
        table.row(text(&transaction["xid"]), line);
    }
    table
}

/// Everything about one transaction.
pub(super) fn details(transaction: &Json) -> Table {
    let mut table = Table::default();
    for (label, field) in [
        ("transaction", "xid"),
        ("state", "state"),
        ("phase", "phase"),
        ("aborted because of", "cause"),
        ("  who had what it wanted", "holder"),
        ("  at the desk of", "desk"),
        ("waits for", "waits_for"),
        ("  who must end before", "before"),
        ("  desks whose word is missing", "awaited"),
        ("is given up", "until"),
        ("desks", "touched"),
    ] {
        let value = &transaction[field];
        let value = match value.as_array() {
            Some(entries) => entries.iter().map(text).collect::<Vec<_>>().join(", "),
            None => text(value),
        };
        if !value.is_empty() {
            table.row(label, value);
        }
    }
    for one in list(&transaction["branches"]) {
        table.row("at the desk", branch(one));
        for lock in list(&one["locks"]) {
            table.row(format!("  {}", text(&lock["what"])), text(&lock["mode"]));
        }
    }
    table
}

/// What a transaction has at one desk.
fn branch(branch: &Json) -> String {
    let mut line = text(&branch["desk"]);
    if branch["prepared"] == true {
        line += " has voted yes,";
    }
    let held = text(&branch["held"]);
    line += &format!(" {held} {}", if held == "1" { "lock" } else { "locks" });
    if let Some(wanted) = branch["wants"].as_object() {
        let part = |name: &str| wanted.get(name).map(text).unwrap_or_default();
        line += &format!(", wants {} ({})", part("what"), part("mode"));
    }
    line
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn known(value: &Json) -> Option<String> {
    (!value.is_null()).then(|| text(value))
}

fn text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_transaction_is_one_line_or_all_there_is_to_know() {
        let waiting = json!({"xid": 12, "state": "waiting", "phase": "waiting",
            "touched": ["flights"], "awaited": ["flights"], "waits_for": 11, "before": [11, 9],
            "until": "2027-01-01T00:00:00.000Z", "branches": [
                {"desk": "flights", "prepared": false, "held": 1,
                    "locks": [{"what": "flight-7", "mode": "exclusive"}],
                    "wants": {"what": "flight-1", "mode": "shared"}}]});
        let doubtful = json!({"xid": 5, "state": "in-doubt", "phase": "in-doubt",
            "touched": ["cars"], "awaited": [], "waits_for": null, "before": [], "until": null,
            "branches": [
                {"desk": "cars", "prepared": true, "held": 2, "locks": [], "wants": null}]});
        assert_eq!(
            summary(&[doubtful, waiting.clone()]).to_string(),
            "5   in-doubt: cars has voted yes, 2 locks\n\
             12  waiting for 11, until 2027-01-01T00:00:00.000Z: flights 1 lock, wants flight-1 \
             (shared)"
        );
        let expected = [
            "transaction                    12",
            "state                          waiting",
            "phase                          waiting",
            "waits for                      11",
            "  who must end before          11, 9",
            "  desks whose word is missing  flights",
            "is given up                    2027-01-01T00:00:00.000Z",
            "desks                          flights",
            "at the desk                    flights 1 lock, wants flight-1 (shared)",
            "  flight-7                     exclusive",
        ];
        assert_eq!(details(&waiting).to_string(), expected.join("\n"));
    }
}
