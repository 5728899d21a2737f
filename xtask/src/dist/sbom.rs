//! The bill of materials: every library in the program, in the format CycloneDX 1.6.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{program::ShippedTarget, release::Release};
use crate::step;

/// Writes it beside the packages.
pub(crate) fn write(release: &Release, target: &ShippedTarget) -> Result<PathBuf> {
    let libraries = Libraries::of(&release.root, target)?;
    let checksums = checksums(&fs::read_to_string(release.root.join("Cargo.lock"))?);
    let bill = bill(release, &libraries, &checksums);
    let name = format!("turnstile-{}-{}.cdx.json", release.version, target.name);
    let path = release.into().join(name);
    fs::write(&path, format!("{bill:#}\n"))?;
    Ok(path)
}

/// A crate by its name and version.
type CrateName = (String, String);

/// What cargo links into the program. Build scripts and macros are not in it.
struct Libraries {
    /// Each with its licence.
    all: BTreeMap<CrateName, String>,
    edges: BTreeMap<CrateName, BTreeSet<CrateName>>,
}

impl Libraries {
    fn of(root: &Path, target: &ShippedTarget) -> Result<Self> {
        let mut tree = step::cargo(root);
        tree.args(["tree", "--locked", "--offline", "--package", "turnstile"]);
        tree.args(["--edges", "normal,no-proc-macro", "--prefix", "depth"]);
        tree.args(["--no-dedupe", "--format", "|{p}|{l}", "--target"]);
        Self::read(&step::output(tree.arg(target.triple))?)
    }

    /// Reads lines such as `2|serde v1.0.0|MIT`, each below the last that has a smaller number.
    fn read(text: &str) -> Result<Self> {
        let mut libraries = Self {
            all: BTreeMap::new(),
            edges: BTreeMap::new(),
        };
        let mut above: Vec<CrateName> = Vec::new();
        for line in text.lines() {
            let mut fields = line.split('|');
            let mut next = || fields.next().with_context(|| format!("cargo tree: {line}"));
            let depth: usize = next()?.parse().context("the depth of a line")?;
            let mut words = next()?.split(' ');
            let licence = next()?.to_owned();
            let name = words.next().unwrap_or_default().to_owned();
            let version = words.next().unwrap_or_default();
            let version = version.trim_start_matches('v').to_owned();
            let name = (name, version);
            above.truncate(depth);
            if let Some(user) = above.last() {
                let uses = libraries.edges.entry(user.clone()).or_default();
                uses.insert(name.clone());
            }
            libraries.all.insert(name.clone(), licence);
            above.push(name);
        }
        ensure!(!libraries.all.is_empty(), "cargo tree lists nothing");
        Ok(libraries)
    }
}

/// The SHA-256 of each crate's archive.
fn checksums(lock: &str) -> BTreeMap<CrateName, String> {
    let value = |part: &str, key: &str| {
        let start = format!("{key} = \"");
        let line = part.lines().find_map(|line| line.strip_prefix(&start))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    let parts = lock.split("[[package]]");
    let named = parts.filter_map(|part| {
        let name = (value(part, "name")?, value(part, "version")?);
        Some((name, value(part, "checksum")?))
    });
    named.collect()
}

fn bill(
    release: &Release,
    libraries: &Libraries,
    checksums: &BTreeMap<CrateName, String>,
) -> Value {
    let purl = |(name, version): &CrateName| format!("pkg:cargo/{name}@{version}");
    let own = ("turnstile".to_owned(), release.version.clone());
    let component = |name: &CrateName, kind: &str| {
        let licence = libraries.all.get(name).map_or("", String::as_str);
        let mut component = json!({
            "type": kind,
            "bom-ref": purl(name),
            "name": name.0,
            "version": name.1,
            "purl": purl(name),
        });
        if !licence.is_empty() {
            // Some old crates write "or" as a slash.
            let expression = licence.replace('/', " OR ");
            component["licenses"] = json!([{"expression": expression}]);
        }
        if let Some(checksum) = checksums.get(name) {
            component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
        }
        component
    };
    let others = libraries.all.keys().filter(|name| **name != own);
    let dependencies = libraries.all.keys().map(|name| {
        let uses = libraries.edges.get(name).into_iter().flatten();
        json!({"ref": purl(name), "dependsOn": uses.map(purl).collect::<Vec<_>>()})
    });
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial(&release.commit),
        "version": 1,
        "metadata": {
            "component": component(&own, "application"),
            "properties": [{"name": "commit", "value": release.commit}],
        },
        "components": others.map(|name| component(name, "library")).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    })
}

/// A number that only this commit has, in the form of a UUID of version 8.
fn serial(commit: &str) -> String {
    let digit = |range| commit.get(range).unwrap_or_default();
    format!(
        "urn:uuid:{}-{}-8{}-8{}-{}",
        digit(0..8),
        digit(8..12),
        digit(12..15),
        digit(15..18),
        digit(18..30)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> CrateName {
        (name.to_owned(), "1.0.0".to_owned())
    }

    #[test]
    fn a_library_belongs_to_all_that_use_it() {
        let text = "0|turnstile v1.0.0 (/here)|MIT\n1|a v1.0.0|MIT/Apache-2.0\n2|b v1.0.0|ISC\n1|b v1.0.0|ISC\n";
        let libraries = Libraries::read(text).unwrap();
        let edges = BTreeMap::from([
            (name("turnstile"), BTreeSet::from([name("a"), name("b")])),
            (name("a"), BTreeSet::from([name("b")])),
        ]);
        assert_eq!(libraries.edges, edges);
        assert_eq!(libraries.all.len(), 3);
        assert_eq!(libraries.all[&name("b")], "ISC");
    }

    #[test]
    fn checksums_are_those_of_the_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n\n[[package]]\nname = \"own\"\nversion = \"1.0.0\"\n";
        let expected = BTreeMap::from([(name("a"), "ab".to_owned())]);
        assert_eq!(checksums(lock), expected);
    }
}
