//! Entity tags and the headers that compare them.

use xxhash_rust::xxh3::xxh3_64;

/// A strong entity tag, quotes included.
pub type ETag = String;

/// What a list of entity tags says about a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagMatch {
    Yes,
    No,
    /// The header is not a list of entity tags.
    Malformed,
}

/// The tag of a thing whose changes are counted: of a booking, the position of the last.
#[must_use]
pub fn etag_of_number(number: u64) -> ETag {
    format!("\"{number}\"")
}

/// The tag of a thing whose changes are not counted: a hash of the bytes that show it.
#[must_use]
pub(crate) fn etag_of_bytes(bytes: &[u8]) -> ETag {
    format!("\"{:016x}\"", xxh3_64(bytes))
}

/// Whether `etag` is in the value of an `If-Match` or `If-None-Match` header. A weak tag (`W/`)
/// counts only where `weak` is allowed: in `If-None-Match`.
#[must_use]
pub fn matches_any(value: &str, etag: &str, weak: bool) -> TagMatch {
    if value.trim() == "*" {
        return TagMatch::Yes;
    }
    let mut found = TagMatch::No;
    // Our own tags hold no comma, so a tag that does is another server's and cannot match.
    for tag in value.split(',').map(str::trim) {
        let opaque = tag.strip_prefix("W/").unwrap_or(tag);
        if opaque.len() < 2 || !opaque.starts_with('"') || !opaque.ends_with('"') {
            return TagMatch::Malformed;
        }
        if opaque == etag && (weak || opaque.len() == tag.len()) {
            found = TagMatch::Yes;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_match_in_lists_and_weak_ones_only_where_allowed() {
        let etag = "\"7\"".to_owned();
        let rows = [
            ("\"7\"", false, TagMatch::Yes),
            ("\"6\", \"7\"", false, TagMatch::Yes),
            ("*", false, TagMatch::Yes),
            ("W/\"7\"", true, TagMatch::Yes),
            ("W/\"7\"", false, TagMatch::No),
            ("\"77\"", false, TagMatch::No),
            ("7", false, TagMatch::Malformed),
            ("\"6\", 7", false, TagMatch::Malformed),
            ("", false, TagMatch::Malformed),
        ];
        for (value, weak, expected) in rows {
            assert_eq!(matches_any(value, &etag, weak), expected, "{value}");
        }
    }
}
