//! Whether a client accepts a content type: the `Accept` header (RFC 9110, section 12.5.1).

/// The weight of what is not accepted, and of what is by default, in thousandths.
const NONE: u16 = 0;
const WHOLE: u16 = 1_000;

/// How much a client likes a content type, in thousandths; 0 is not at all. The range that fits most
/// closely decides. Parameters of a range but its weight do not count.
#[must_use]
pub fn acceptance(accept: &str, content: &str) -> u16 {
    let (kind, _) = content.split_once('/').unwrap_or((content, ""));
    let mut best = (0, NONE);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let closeness = if media.eq_ignore_ascii_case(content) {
            3
        } else if media
            .strip_suffix("/*")
            .is_some_and(|of| of.eq_ignore_ascii_case(kind))
        {
            2
        } else if media == "*/*" {
            1
        } else {
            continue;
        };
        let weight =
            parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight = weight.map_or(WHOLE, thousandths);
        // Of two ranges alike, the one that is liked more.
        best = best.max((closeness, weight));
    }
    best.1
}

/// A weight, `0` to `1` with at most three decimals, in thousandths; what is no weight counts as none
/// at all was given.
fn thousandths(weight: &str) -> u16 {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    let is_sound = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let decimals = format!("{decimals:0<3}").parse::<u16>();
    match (whole, decimals) {
        ("0", Ok(decimals)) if is_sound => decimals,
        _ => WHOLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_range_decides() {
        let rows = [
            ("application/json", 1_000),
            ("Application/JSON; charset=utf-8", 1_000),
            ("application/*;q=0.25", 250),
            ("*/*;q=0.1", 100),
            ("text/html, */*;q=0.8", 800),
            ("*/*, application/json;q=0", 0),
            ("application/*;q=0, application/json;q=0.5", 500),
            ("text/html", 0),
            ("application/xml, text/*", 0),
            ("application/json;q=0.000", 0),
            ("application/json;q=1.000", 1_000),
            ("application/json;q=high", 1_000),
            ("application/problem+json", 0),
            ("", 0),
        ];
        for (accept, expected) in rows {
            assert_eq!(
                acceptance(accept, "application/json"),
                expected,
                "{accept:?}"
            );
        }
    }
}
