//! Every type, cut at every byte, and every way to be malformed.

use super::{MalformedReply, ReplyLimits, Value, decode, put_command, reply_length};

const SMALL: ReplyLimits = ReplyLimits {
    bulk_bytes_max: 100,
    elements_max: 20,
};

/// The reply is this value, takes all its bytes also when more follow, and is never taken for
/// whole when any byte is missing.
#[track_caller]
fn check(bytes: &[u8], value: &Value) {
    let whole = Ok(Some((value.clone(), bytes.len())));
    assert_eq!(decode(bytes, &SMALL), whole);
    let mut longer = bytes.to_vec();
    longer.extend_from_slice(b"+next\r\n");
    assert_eq!(decode(&longer, &SMALL), whole);
    assert_eq!(reply_length(&longer, &SMALL), Ok(Some(bytes.len())));
    for cut in 0..bytes.len() {
        assert_eq!(decode(&bytes[..cut], &SMALL), Ok(None), "cut at {cut}");
        assert_eq!(
            reply_length(&bytes[..cut], &SMALL),
            Ok(None),
            "cut at {cut}"
        );
    }
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

fn simple(text: &str) -> Value {
    Value::Simple(text.into())
}

#[test]
fn every_plain_type_is_read() {
    check(b"+OK\r\n", &simple("OK"));
    check(b"+\r\n", &simple(""));
    check(b"-ERR no\r\n", &Value::Error("ERR no".into()));
    check(b":0\r\n", &Value::Integer(0));
    check(b":+7\r\n", &Value::Integer(7));
    check(b":-9223372036854775808\r\n", &Value::Integer(i64::MIN));
    check(b"$5\r\na\r\nbc\r\n", &bulk("a\r\nbc"));
    check(b"$0\r\n\r\n", &bulk(""));
    check(b"$-1\r\n", &Value::Null);
    check(b"*-1\r\n", &Value::Null);
    check(b"_\r\n", &Value::Null);
    check(b"#t\r\n", &Value::Boolean(true));
    check(b"#f\r\n", &Value::Boolean(false));
    check(b",1.25\r\n", &Value::Double(1.25));
    check(b",-1e3\r\n", &Value::Double(-1000.0));
    check(b",inf\r\n", &Value::Double(f64::INFINITY));
    check(b",-inf\r\n", &Value::Double(f64::NEG_INFINITY));
    check(
        b"(-3492890328409238509324850943850943825024385\r\n",
        &Value::Big("-3492890328409238509324850943850943825024385".into()),
    );
    check(b"!8\r\nERR\r\nbad\r\n", &Value::Error("ERR\r\nbad".into()));
    check(
        b"=7\r\ntxt:a\nb\r\n",
        &Value::Verbatim {
            format: *b"txt",
            text: b"a\nb".to_vec(),
        },
    );
}

#[test]
fn every_aggregate_is_read() {
    check(b"*0\r\n", &Value::Array(Vec::new()));
    check(
        b"*3\r\n:1\r\n*1\r\n$1\r\nx\r\n_\r\n",
        &Value::Array(vec![
            Value::Integer(1),
            Value::Array(vec![bulk("x")]),
            Value::Null,
        ]),
    );
    check(b"~1\r\n+a\r\n", &Value::Set(vec![simple("a")]));
    check(
        b">2\r\n+message\r\n:5\r\n",
        &Value::Push(vec![simple("message"), Value::Integer(5)]),
    );
    check(
        b"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n",
        &Value::Map(vec![
            (simple("a"), Value::Integer(1)),
            (simple("b"), Value::Array(vec![Value::Integer(2)])),
        ]),
    );
}

#[test]
fn attributes_are_dropped_and_their_reply_stays() {
    check(b"|1\r\n+ttl\r\n:5\r\n$1\r\nx\r\n", &bulk("x"));
    check(
        b"*2\r\n|1\r\n+ttl\r\n:5\r\n:1\r\n:2\r\n",
        &Value::Array(vec![Value::Integer(1), Value::Integer(2)]),
    );
}

#[test]
fn what_is_no_reply_is_named() {
    let line = [&b"+"[..], &[b'a'; 70_000]].concat();
    let ended = [&line[..], b"\r\n"].concat();
    let deep = b"*1\r\n".repeat(40);
    let nested = [&b"*19\r\n"[..], b"*2\r\n"].concat();
    let rows: [(&[u8], MalformedReply); 26] = [
        (b"x", MalformedReply::Type(b'x')),
        (b"\r\n", MalformedReply::Type(b'\r')),
        (b":\r\n", MalformedReply::Number),
        (b":1a\r\n", MalformedReply::Number),
        (b":++1\r\n", MalformedReply::Number),
        (b":9223372036854775808\r\n", MalformedReply::Number),
        (b"$+3\r\nabc\r\n", MalformedReply::Number),
        (b"$-2\r\n", MalformedReply::Number),
        (b"$?\r\n", MalformedReply::Number),
        (b"*\r\n", MalformedReply::Number),
        (b"*99999999999999999999\r\n", MalformedReply::Number),
        (b",infinity\r\n", MalformedReply::Number),
        (b",\r\n", MalformedReply::Number),
        (b"(-\r\n", MalformedReply::Number),
        (b"(12x\r\n", MalformedReply::Number),
        (b"#y\r\n", MalformedReply::Boolean),
        (b"=3\r\nabc\r\n", MalformedReply::Verbatim),
        (b"_x\r\n", MalformedReply::Null),
        (b"+a\rb", MalformedReply::Terminator),
        (b"$1\r\nabc", MalformedReply::Terminator),
        (&line, MalformedReply::Line),
        (&ended, MalformedReply::Line),
        (b"$101\r\n", MalformedReply::BulkTooLong),
        (b"*21\r\n", MalformedReply::TooManyElements),
        (b"%11\r\n", MalformedReply::TooManyElements),
        (&nested, MalformedReply::TooManyElements),
    ];
    for (bytes, malformed) in rows {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(20)]);
        assert_eq!(decode(bytes, &SMALL), Err(malformed), "{shown}");
        assert_eq!(reply_length(bytes, &SMALL), Err(malformed), "{shown}");
    }
    assert_eq!(
        decode(&deep, &ReplyLimits::REPLY),
        Err(MalformedReply::TooDeep)
    );
}

#[test]
fn a_request_is_an_array_of_bulk_strings() {
    let mut out = b"before".to_vec();
    put_command(&mut out, &[b"ROOMS.LOOK-UP", b"", b"ABCDEFGHIJKL"]);
    assert_eq!(
        out,
        b"before*3\r\n$13\r\nROOMS.LOOK-UP\r\n$0\r\n\r\n$12\r\nABCDEFGHIJKL\r\n"
    );
}

#[test]
fn a_value_gives_what_it_holds() {
    let map = Value::Map(vec![(bulk("position"), Value::Integer(9))]);
    assert_eq!(map.at("position"), Some(&Value::Integer(9)));
    assert_eq!(map.at("other"), None);
    assert_eq!(simple("a").as_bytes(), Some(&b"a"[..]));
    assert_eq!(Value::Bulk(vec![0xff]).as_str(), None);
    assert_eq!(Value::Error("ERR".into()).as_bytes(), None);
    let set = Value::Set(vec![Value::Null]);
    assert_eq!(set.as_array(), Some(&[Value::Null][..]));
    assert_eq!(map.as_array(), None);
}

#[test]
fn a_value_is_shown_in_one_line() {
    let value = Value::Array(vec![
        Value::Integer(0),
        bulk("sold\nout"),
        Value::Null,
        simple("OK"),
        Value::Map(vec![
            (simple("free"), Value::Boolean(false)),
            (simple("share"), Value::Double(0.5)),
        ]),
        Value::Error("ERR no".into()),
    ]);
    let shown = r#"[0, "sold\nout", (nil), OK, {free: false, share: 0.5}, (error) ERR no]"#;
    assert_eq!(value.to_string(), shown);
}
