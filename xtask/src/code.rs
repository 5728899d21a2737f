//! Rust source seen as text: what is code, what is a function, what is a word.

/// The text with comments and literals blanked, so that a rule meets only code.
/// Every byte offset and every line stays where it was.
pub(crate) fn only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let blank = blank_len(rest, code.ends_with(is_word));
        if blank == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (blanked, after) = rest.split_at(blank);
        for byte in blanked.bytes() {
            code.push(if byte == b'\n' { '\n' } else { ' ' });
        }
        rest = after;
    }
    code
}

/// The comments and literals that [`only`] blanks, with their offsets.
pub(crate) fn blanked(text: &str) -> Vec<(usize, &str)> {
    let mut blanked = Vec::new();
    let mut at = 0;
    let mut within_word = false;
    while let Some(first) = text[at..].chars().next() {
        let blank = blank_len(&text[at..], within_word);
        if blank > 0 {
            blanked.push((at, &text[at..at + blank]));
        }
        within_word = blank == 0 && is_word(first);
        at += if blank > 0 { blank } else { first.len_utf8() };
    }
    blanked
}

/// How many bytes from here are a comment or a literal.
fn blank_len(rest: &str, within_word: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment_len(rest);
    }
    if rest.starts_with('"') {
        return quoted_len(rest, '"');
    }
    if rest.starts_with('\'') {
        return char_len(rest);
    }
    if within_word { 0 } else { raw_string_len(rest) }
}

fn block_comment_len(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of a literal between two quotes, with escapes.
fn quoted_len(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        if !escaped && character == quote {
            return at + 1;
        }
        escaped = !escaped && character == '\\';
    }
    rest.len()
}

/// The length of a character literal; zero for a lifetime.
fn char_len(rest: &str) -> usize {
    let mut characters = rest.chars().skip(1);
    match (characters.next(), characters.next()) {
        (Some('\\'), _) => quoted_len(rest, '\''),
        (Some(character), Some('\'')) => character.len_utf8() + 2,
        _ => 0,
    }
}

fn raw_string_len(rest: &str) -> usize {
    let prefix = ["r", "br", "cr"]
        .into_iter()
        .find_map(|prefix| rest.strip_prefix(prefix));
    let Some(after) = prefix else { return 0 };
    let hashes = after.len() - after.trim_start_matches('#').len();
    let Some(body) = after[hashes..].strip_prefix('"') else {
        return 0;
    };
    let close = format!("\"{}", "#".repeat(hashes));
    let body_len = body.find(&close).map_or(body.len(), |at| at + close.len());
    rest.len() - body.len() + body_len
}

pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The identifiers, keywords and numbers of a piece of code, with their offsets.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.split(|character| !is_word(character))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr().addr() - code.as_ptr().addr(), word))
}

/// The line, from 1, of an offset.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) offset: usize,
    pub(crate) body: &'a str,
}

pub(crate) fn functions(code: &str) -> Vec<Function<'_>> {
    let mut functions = Vec::new();
    for (keyword, _) in words(code).filter(|(_, word)| *word == "fn") {
        let after = &code[keyword + 2..];
        let item = after.trim_start();
        // The type `fn(u8)` has no name.
        let name = item
            .split(|character| !is_word(character))
            .next()
            .unwrap_or_default();
        if name.is_empty() {
            continue;
        }
        if let Some(body) = block(item) {
            let offset = keyword + 2 + (after.len() - item.len());
            functions.push(Function { name, offset, body });
        }
    }
    functions
}

/// The first `{...}` outside parentheses, unless a `;` ends the item before it.
pub(crate) fn block(code: &str) -> Option<&str> {
    let mut parentheses = 0_usize;
    let open = code.find(|character| {
        match character {
            '(' | '[' => parentheses += 1,
            ')' | ']' => parentheses = parentheses.saturating_sub(1),
            _ => {}
        }
        parentheses == 0 && (character == '{' || character == ';')
    })?;
    let block = code[open..].strip_prefix('{')?;
    let mut depth = 1_usize;
    let close = block.find(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    Some(&block[..close.unwrap_or(block.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_only(text: &str, code: &str) {
        assert_eq!(only(text), code);
    }

    #[test]
    fn comments_and_literals_are_blank_and_lines_stay() {
        check_only("a // b\nc", "a     \nc");
        check_only("a /* b /* \n */ */ c", "a         \n       c");
        check_only(r#"f("x \" y", z)"#, "f(        , z)");
        check_only("r#\"sleep\"# + br\"b\"", "           +      ");
        check_only("bar\"s\"", "bar   ");
        check_only(r"'a' '\'' '\u{e9}' x", "                  x");
    }

    #[test]
    fn lifetimes_are_code() {
        check_only("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
    }

    #[test]
    fn functions_are_found_with_their_bodies() {
        let code = "trait T { fn a(x: [u8; 2]); }\nfn b(f: fn(u8)) -> u8 { { 1 } }\n";
        let expected = Function {
            name: "b",
            offset: 33,
            body: " { 1 } ",
        };
        assert_eq!(functions(code), [expected]);
        assert_eq!(line_of(code, 33), 2);
    }
}
