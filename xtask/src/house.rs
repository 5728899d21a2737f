//! `cargo xtask house`: figures of the source tree, to see whether a redesign made it simpler.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::tidy::types;
use crate::tree::{File, Tree};
use crate::{code, modules, tree};

const RESULT: &str = "bench/results/house.md";

const HEAD: &str = "\
# The source tree in figures

`cargo xtask house [BEFORE]` counts the files that git tracks, here and, if BEFORE is the path of an
older checkout, there as well.

- *Production lines* are the lines of Rust files before `#[cfg(test)]`, *test lines* the lines after
  it and those of files and folders named `tests`. The laboratory and the benchmarks are production.
- *Files for a refusal* counts the production files that name a variant, for example
  `Refusal::SoldOut`: the mean over all variants of all services. Files count that belong to the
  service: they lie in a folder or have a name that is the service's, or name its crate. *Files for a
  command* does the same for `Command`. Both stand for each service, too: rooms and the exchange are
  decided again by databases, in their own words.
- *Type names with two meanings* are names of structs, enums, traits and aliases that are defined in
  two or more production files.
- *Shared files that name seats* are the production files and manifests that were touched to add the
  service `seats`, beside its own: those that name its crate, its module or its machine, or that list it
  in text with the exchange. Benchmarks, which load what is there, do not count.
- *Modules in cycles* are top modules of a crate that use each other, directly or over others.
";

/// The service by which files are counted that a new plain service touches.
const PLAIN_SERVICE: &str = "seats";

/// Counts the checkout at `root` and, if there is one, an older checkout; writes the table.
pub(crate) fn run(root: &Path, before: Option<&str>) -> Result<String> {
    let mut columns = Vec::new();
    for checkout in before.map(Path::new).into_iter().chain([root]) {
        let checkout = checkout.canonicalize().context("no such checkout")?;
        let figures = figures(&Tree::load(&checkout)?);
        columns.push((tree::commit(&checkout)?, figures));
    }
    let table = format!("{HEAD}\n{}", table(&columns));
    fs::write(root.join(RESULT), &table).context("writing the result")?;
    Ok(table)
}

type Figures = Vec<(String, String)>;

fn table(columns: &[(String, Figures)]) -> String {
    let mut table = String::from("| figure |");
    for (commit, _) in columns {
        let _infallible = write!(table, " {commit} |");
    }
    let _infallible = writeln!(table, "\n| --- |{}", " ---: |".repeat(columns.len()));
    let figures: BTreeSet<&str> = columns
        .iter()
        .flat_map(|(_, figures)| figures.iter().map(|(name, _)| name.as_str()))
        .collect();
    for name in figures {
        let _infallible = write!(table, "| {name} |");
        for (_, figures) in columns {
            let figure = figures.iter().find(|(other, _)| other == name);
            let figure = figure.map_or("-", |(_, figure)| figure.as_str());
            let _infallible = write!(table, " {figure} |");
        }
        table.push('\n');
    }
    table
}

fn figures(tree: &Tree) -> Figures {
    let production: Vec<(&File, String)> = tree
        .rust()
        .filter(|file| !file.is_test())
        .map(|file| (file, file.untested_code()))
        .collect();
    let lines: usize = tree.rust().map(|file| file.text.lines().count()).sum();
    let lines_of_folders = lines_of_folders(&production);
    let production_lines: usize = lines_of_folders.values().sum();
    let unreachable: usize = production
        .iter()
        .map(|(_, code)| code.matches("unreachable!").count())
        .sum();
    let mut figures = vec![
        ("production lines".to_owned(), production_lines.to_string()),
        (
            "test lines".to_owned(),
            (lines - production_lines).to_string(),
        ),
        (
            "`unreachable!` in production".to_owned(),
            unreachable.to_string(),
        ),
        (
            "type names with two meanings".to_owned(),
            types::with_two_meanings(tree).len().to_string(),
        ),
    ];
    figures.push((
        format!("shared files that name {PLAIN_SERVICE}"),
        shared_files(tree, PLAIN_SERVICE).len().to_string(),
    ));
    for (name, figure) in ["refusal", "command"]
        .into_iter()
        .zip(["Refusal", "Command"])
    {
        for (service, mean) in files_for_a_variant(&production, figure) {
            figures.push((
                format!("files for a {name}, {service}"),
                format!("{mean:.1}"),
            ));
        }
    }
    for (folder, lines) in lines_of_folders {
        figures.push((format!("production lines of {folder}"), lines.to_string()));
    }
    for one in &tree.crates {
        let cycles = modules::cycles(&modules::uses(tree, one));
        let count: usize = cycles.iter().map(BTreeSet::len).sum();
        if count > 0 {
            figures.push((
                format!("modules in cycles: {}", one.folder),
                count.to_string(),
            ));
        }
    }
    figures
}

/// Production files and manifests that name a service and are not there for it alone.
fn shared_files<'a>(tree: &'a Tree, service: &str) -> Vec<&'a str> {
    let (first, rest) = service.split_at(1);
    let machine = first.to_ascii_uppercase() + rest;
    let module = format!("mod {service}");
    let types = format!("{service}::");
    let is_listed = |text: &str| {
        // The name alone may be a word of another service, as seats are of games and flights.
        [service, "exchange"]
            .iter()
            .all(|name| text.contains(&format!("\"{name}\"")))
    };
    let is_own = |file: &File| {
        let mut parts = file.path.split(['/', '.']);
        let is_benchmark = file.path.starts_with("bench/");
        // This file names the service that it counts.
        parts.any(|part| part == service) || is_benchmark || file.path == file!()
    };
    let names_it = |file: &File| match file.path.rsplit('/').next() {
        Some("Cargo.toml" | "Cargo.lock") => file.text.contains(&format!("turnstile-{service}")),
        _ if file.extension() == Some("rs") && !file.is_test() => {
            let code = file.untested_code();
            let text = file.untested_lines().collect::<Vec<_>>().join("\n");
            is_listed(&text)
                || names(&code, &machine)
                || names(&code, &module)
                || code.contains(&types)
        }
        _ => false,
    };
    let shared = tree.files.iter();
    let shared = shared.filter(|file| !is_own(file) && names_it(file));
    shared.map(|file| file.path.as_str()).collect()
}

/// Production lines by the folder at the top.
fn lines_of_folders<'a>(production: &[(&'a File, String)]) -> BTreeMap<&'a str, usize> {
    let mut lines = BTreeMap::new();
    for (file, _) in production {
        let folder = file.path.split('/').next().unwrap_or_default();
        *lines.entry(folder).or_default() += file.untested_lines().count();
    }
    lines
}

/// How many production files name a variant of an enum, on average: of each service, and of all.
fn files_for_a_variant(production: &[(&File, String)], name: &str) -> Vec<(String, f64)> {
    let (mut variants_seen, mut files_seen) = (0, 0);
    let mut means = Vec::new();
    let paths = production.iter().map(|(file, _)| file.path.as_str());
    let services = paths.filter_map(|path| {
        let path = path.strip_prefix("domain/")?;
        path.strip_suffix("/src/outcome.rs")
    });
    for service in services {
        let own = |file: &File| file.path.starts_with(&format!("domain/{service}/"));
        let name_of_crate = format!("turnstile_{service}");
        let of_service: Vec<&str> = production
            .iter()
            .filter(|(file, code)| file.path.contains(service) || code.contains(&name_of_crate))
            .map(|(_, code)| code.as_str())
            .collect();
        let declared = production.iter().filter(|(file, _)| own(file));
        let variants: BTreeSet<String> = declared
            .flat_map(|(_, code)| variants(code, name))
            .collect();
        let name_it = |variant: &String| {
            let naming = of_service.iter().filter(|code| names(code, variant));
            naming.count()
        };
        let files: usize = variants.iter().map(name_it).sum();
        if !variants.is_empty() {
            means.push((service.to_owned(), mean(files, variants.len())));
        }
        variants_seen += variants.len();
        files_seen += files;
    }
    means.push(("mean".to_owned(), mean(files_seen, variants_seen)));
    means
}

#[expect(clippy::cast_precision_loss, reason = "there are hundreds")]
fn mean(files: usize, variants: usize) -> f64 {
    files as f64 / variants.max(1) as f64
}

/// The variants of an enum that a file defines, as paths.
fn variants(code: &str, name: &str) -> Vec<String> {
    let start = format!("pub enum {name}");
    let Some(at) = code.find(&start) else {
        return Vec::new();
    };
    let body = code::block(&code[at..]).unwrap_or_default();
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    lines
        .filter(|line| line.starts_with(char::is_uppercase))
        .filter_map(|line| line.split(|letter| !code::is_word(letter)).next())
        .map(|variant| format!("{name}::{variant}"))
        .collect()
}

fn names(code: &str, path: &str) -> bool {
    code.match_indices(path).any(|(at, _)| {
        let after = code[at + path.len()..].chars().next();
        !after.is_some_and(code::is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)], name: &str) -> String {
        let files = files.iter().map(|(path, text)| File::new(path, text));
        let tree = Tree {
            files: files.collect(),
            ..Tree::default()
        };
        let figures = figures(&tree);
        let found = figures.into_iter().find(|(other, _)| other == name);
        found.expect("every figure is there").1
    }

    #[test]
    fn tests_are_counted_apart() {
        let files = [
            ("a.rs", "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod x {\n"),
            ("tests/b.rs", "four\n"),
            ("c.md", "five\n"),
        ];
        assert_eq!(of(&files, "production lines"), "2");
        assert_eq!(of(&files, "production lines of a.rs"), "2");
        assert_eq!(of(&files, "test lines"), "3");
    }

    #[test]
    fn a_name_that_two_files_define_has_two_meanings() {
        let files = [
            ("a.rs", "struct A; struct A2; type B = u8;"),
            ("b.rs", "enum B {} // struct A2;"),
            ("c.rs", "mod x { struct C; } mod y { struct C; }"),
        ];
        assert_eq!(of(&files, "type names with two meanings"), "1");
    }

    #[test]
    fn files_that_name_a_variant_are_counted_once_each() {
        let files = [
            (
                "domain/rooms/src/outcome.rs",
                "pub enum Refusal {\n    SoldOut { nights: u8 },\n    Sold,\n}\n",
            ),
            ("sim/rooms.rs", "Refusal::SoldOut Refusal::SoldOut"),
            ("b.rs", "turnstile_rooms; Refusal::SoldOut Refusal::Sold"),
            ("rooms.rs", "#[cfg(test)]\nRefusal::Sold"),
            ("of_another_service.rs", "Refusal::Sold"),
        ];
        assert_eq!(of(&files, "files for a refusal, mean"), "1.5");
        assert_eq!(of(&files, "files for a refusal, rooms"), "1.5");
    }

    #[test]
    fn files_that_name_a_plain_service_are_counted_without_its_own() {
        let files = [
            ("Cargo.toml", "turnstile-seats = 1"),
            ("domain/seats/src/lib.rs", "struct Seats;"),
            ("sim/src/seats.rs", "Seats"),
            ("sim/src/lib.rs", "mod seats;"),
            ("sim/src/services.rs", "seats: Seats"),
            ("lab/src/lib.rs", "let names = [\"exchange\", \"seats\"];"),
            ("bench/src/lib.rs", "let names = [\"exchange\", \"seats\"];"),
            ("cli/src/travel.rs", "self.seats + SEATS // Seats"),
            ("cli/src/flight.rs", "let field = \"seats\";"),
            ("server/tests/server.rs", "mod seats;"),
        ];
        assert_eq!(of(&files, "shared files that name seats"), "4");
    }

    #[test]
    fn a_table_has_a_column_for_each_checkout() {
        let column = |commit: &str, figure: &str| {
            let figures = vec![("lines".to_owned(), figure.to_owned())];
            (commit.to_owned(), figures)
        };
        let table = table(&[column("a1", "7"), column("b2", "5")]);
        assert_eq!(
            table,
            "| figure | a1 | b2 |\n| --- | ---: | ---: |\n| lines | 7 | 5 |\n"
        );
    }
}
