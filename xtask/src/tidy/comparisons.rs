//! A test that compares nothing cannot fail, and is none.

use crate::code::{self, Function};
use crate::tree::{File, Tree};

use super::BrokenRule;

pub(super) fn tests_compare(tree: &Tree) -> Vec<BrokenRule> {
    tree.rust()
        .flat_map(|file| idle_tests(tree, file))
        .collect()
}

fn idle_tests(tree: &Tree, file: &File) -> Vec<BrokenRule> {
    let mut functions = code::functions(&file.code);
    for neighbour in tree
        .rust()
        .filter(|other| other.is_test() && are_neighbours(file, other))
    {
        functions.extend(code::functions(&neighbour.code));
    }
    let mut violations = Vec::new();
    for (offset, _) in file.code.match_indices("#[") {
        if !is_test(&file.code[offset + 2..]) {
            continue;
        }
        let Some(at) = functions
            .iter()
            .position(|function| function.offset > offset)
        else {
            continue;
        };
        let mut visited = vec![false; functions.len()];
        if !compares(&functions, at, &mut visited) {
            let function = &functions[at];
            let rule = format!("the test `{}` compares nothing", function.name);
            let line = code::line_of(&file.code, function.offset);
            violations.push(BrokenRule::new(file, line, rule));
        }
    }
    violations
}

/// Whether these are two files of one folder: there lies what tests share.
fn are_neighbours(file: &File, other: &File) -> bool {
    file.path != other.path && file.folder() == other.folder()
}

/// Whether an attribute makes a test, by whatever runtime.
fn is_test(attribute: &str) -> bool {
    let path = attribute.split([']', '(']).next().unwrap_or_default();
    path.rsplit(':').next() == Some("test")
}

/// Whether a function asserts something, by itself or through the functions it calls.
fn compares(functions: &[Function<'_>], at: usize, visited: &mut [bool]) -> bool {
    if std::mem::replace(&mut visited[at], true) {
        return false;
    }
    let body = functions[at].body;
    if body.contains("==") || body.contains("panic!(") {
        return true;
    }
    code::words(body).any(|(_, word)| {
        asserts(word)
            || functions.iter().enumerate().any(|(callee, function)| {
                function.name == word && compares(functions, callee, visited)
            })
    })
}

fn asserts(word: &str) -> bool {
    word.split('_')
        .any(|part| part == "assert" || part == "check" || part == "compare")
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn a_test_asserts_by_itself_or_through_its_file() {
        let text = "
            #[test]
            fn one() { assert_eq!(book(), 1); }
            #[tokio::test(flavor = \"current_thread\")]
            async fn two() { follow(2); }
            fn follow(x: u8) { deeper(x) }
            fn deeper(x: u8) { if x == 2 { follow(x) } }
            proptest! {
                #[test]
                fn three(x in 0..9) { check_history(x); }
            }";
        check(tests_compare, &[("a.rs", text)], &[]);
    }

    #[test]
    fn tests_of_one_folder_share_what_asserts() {
        let shared = ("a/tests/client.rs", "fn hears(x: u8) { assert_eq!(x, 1); }");
        let text = "#[test]\nfn one() { hears(1); }";
        let expected = ["b/tests/one.rs:2: the test `one` compares nothing"];
        let files = [shared, ("a/tests/one.rs", text), ("b/tests/one.rs", text)];
        check(tests_compare, &files, &expected);
    }

    #[test]
    fn a_test_that_only_calls_is_none() {
        let text = "#[test]\nfn one() { book(); checked_add(1); }\nfn book() { book() }\n#[cfg(test)]\nfn f() {}";
        check(
            tests_compare,
            &[("a.rs", text)],
            &["a.rs:2: the test `one` compares nothing"],
        );
    }
}
