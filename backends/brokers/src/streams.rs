//! What brokers say of streams on their monitoring port.

use serde_json::Value;

/// The question for all streams.
pub(crate) const STREAMS: &str = "/jsz?accounts=true&streams=true&config=false";

/// A stream, in what `/jsz` says.
pub(crate) fn stream_in<'a>(told: &'a Value, stream: &str) -> Option<&'a Value> {
    let accounts = told["account_details"].as_array()?.iter();
    let mut streams = accounts.filter_map(|account| account["stream_detail"].as_array());
    streams.find_map(|streams| streams.iter().find(|one| one["name"] == stream))
}

/// The names of all streams, in what `/jsz` says.
pub(crate) fn names_in(told: &Value) -> Vec<String> {
    let accounts = told["account_details"].as_array().into_iter().flatten();
    let streams = accounts.filter_map(|account| account["stream_detail"].as_array());
    let names = streams
        .flatten()
        .map(|stream| text(&stream["name"]).to_owned());
    names.collect()
}

/// The leader of a stream in what `/jsz` says.
pub(crate) fn leader_in(told: &Value, stream: &str) -> Option<String> {
    let leader = text(&stream_in(told, stream)?["cluster"]["leader"]);
    (!leader.is_empty()).then(|| leader.to_owned())
}

/// How many others have all of a stream, in what its leader says.
pub(crate) fn copies_in(told: &Value, stream: &str) -> usize {
    let others = stream_in(told, stream).and_then(|one| one["cluster"]["replicas"].as_array());
    let is_whole = |other: &&Value| other["current"] == true && other["offline"] != true;
    others.map_or(0, |others| others.iter().filter(is_whole).count())
}

/// A text, or an empty one where there is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn copies_count_that_are_current_and_there() {
        let other =
            |current: bool, offline: bool| json!({ "current": current, "offline": offline });
        let stream = |name: &str, others: [Value; 2]| {
            let cluster = json!({ "leader": "n1", "replicas": others });
            json!({ "name": name, "cluster": cluster })
        };
        let streams = [
            stream("LOG", [other(true, false), other(true, true)]),
            stream("OBJ", [other(true, false), json!({ "current": true })]),
        ];
        let told =
            json!({ "account_details": [{ "name": "empty" }, { "stream_detail": streams }] });
        assert_eq!(names_in(&told), ["LOG", "OBJ"]);
        assert_eq!(leader_in(&told, "LOG").as_deref(), Some("n1"));
        assert_eq!((copies_in(&told, "LOG"), copies_in(&told, "OBJ")), (1, 2));
        assert_eq!((leader_in(&told, "X"), copies_in(&told, "X")), (None, 0));
        assert_eq!(names_in(&json!({})), Vec::<String>::new());
    }
}
