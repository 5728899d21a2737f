//! One booking over RESP, as our own clients here ask for it.

use turnstile_client::resp::Value;

/// Books a room of the property in which every room exists, for one night.
pub(crate) const fn request(room: &[u8]) -> [&[u8]; 7] {
    [
        b"ROOMS.BOOK",
        b"bench",
        room,
        b"2027-01-01",
        b"2027-01-02",
        b"ada",
        b"234123412346",
    ]
}

/// Whether a reply says that something was done: an array that starts with 1.
pub(crate) fn is_done(reply: &Value) -> bool {
    reply.as_array().and_then(<[Value]>::first) == Some(&Value::Integer(1))
}

/// The reference of a booking that was made.
pub(crate) fn reference(reply: &Value) -> Option<&[u8]> {
    if !is_done(reply) {
        return None;
    }
    reply.as_array()?.get(1)?.as_bytes()
}

#[cfg(test)]
mod tests {
    use turnstile_client::resp::Value;

    use super::{is_done, reference};

    #[test]
    fn only_a_reply_that_starts_with_1_is_done_and_has_a_reference() {
        let reply = |first| Value::Array(vec![Value::Integer(first), Value::Bulk(b"R7".into())]);
        let rows = [
            (reply(1), true, Some(&b"R7"[..])),
            (reply(0), false, None),
            (Value::Array(Vec::new()), false, None),
            (Value::Array(vec![Value::Integer(1)]), true, None),
            (Value::Error("ERR no".into()), false, None),
        ];
        for (reply, done, booked) in rows {
            assert_eq!(is_done(&reply), done, "{reply}");
            assert_eq!(reference(&reply), booked, "{reply}");
        }
    }
}
