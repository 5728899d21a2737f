//! The program for one kind of machine, built so that it names no folder of the machine that built it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use super::release::Release;
use crate::{step, tree};

/// What a program may have, in bytes; one for an image also has the C library.
const BYTES_MAX: u64 = 20_000_000;

/// A kind of machine.
#[derive(Debug)]
pub(crate) struct ShippedTarget {
    /// As Rust names it.
    pub(crate) triple: &'static str,
    /// In the names of our files.
    pub(crate) name: &'static str,
    pub(crate) debian: &'static str,
    /// In the configuration of an image.
    pub(crate) image: &'static str,
    /// The C compiler that also links, and the Debian package that has it.
    compiler: (&'static str, &'static str),
    /// Cargo's variable for what links.
    linker: &'static str,
}

pub(crate) const TARGETS: [ShippedTarget; 2] = [
    ShippedTarget {
        triple: "x86_64-unknown-linux-gnu",
        name: "x86_64",
        debian: "amd64",
        image: "amd64",
        compiler: ("x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"),
        linker: "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER",
    },
    ShippedTarget {
        triple: "aarch64-unknown-linux-gnu",
        name: "arm64",
        debian: "arm64",
        image: "arm64",
        compiler: ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        linker: "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
    },
];

impl ShippedTarget {
    /// Whether its programs run on this machine.
    pub(crate) fn is_host(&self) -> bool {
        self.triple.starts_with(env::consts::ARCH)
    }

    /// What this machine lacks to build for it, and how to get that.
    pub(crate) fn missing(&self) -> Result<Option<String>> {
        let mut rustc = Command::new("rustc");
        rustc.args(["--print", "target-libdir", "--target", self.triple]);
        let libraries = step::output(&mut rustc)?;
        if !Path::new(libraries.trim()).exists() {
            return Ok(Some(format!(
                "Rust's libraries are missing: rustup target add {}",
                self.triple
            )));
        }
        let (compiler, package) = self.compiler;
        let is_there = step::succeeds(Command::new(compiler).arg("--version"));
        Ok((!is_there).then(|| format!("there is no {compiler}: apt-get install {package}")))
    }
}

/// A program, ready to be packed.
#[derive(Debug)]
pub(crate) struct ShippedProgram {
    pub(crate) target: &'static ShippedTarget,
    /// It asks the system for the C library.
    pub(crate) path: PathBuf,
    /// The same for an image, which has no C library. Nothing if it was given and not built: then the image
    /// gets the libraries that it asks for.
    pub(crate) alone: Option<PathBuf>,
}

impl ShippedProgram {
    /// Builds it twice: only the last step, which links, differs.
    pub(crate) fn build(release: &Release, target: &'static ShippedTarget) -> Result<Self> {
        let path = build(release, target, "turnstile", &[])?;
        let bytes = fs::metadata(&path)?.len();
        ensure!(
            bytes < BYTES_MAX,
            "a program of {bytes} bytes is too large: at most {BYTES_MAX} are promised"
        );
        let alone = build(
            release,
            target,
            "turnstile-alone",
            &["-C", "target-feature=+crt-static"],
        )?;
        Ok(Self {
            target,
            path,
            alone: Some(alone),
        })
    }

    /// One that is built already, for this machine; debug information is left out.
    pub(crate) fn given(
        release: &Release,
        target: &'static ShippedTarget,
        program: &Path,
    ) -> Result<Self> {
        let path = release.scratch().join("turnstile");
        let mut strip = Command::new("strip");
        step::run(strip.arg("-o").arg(&path).arg(program))?;
        Ok(Self {
            target,
            path,
            alone: None,
        })
    }

    /// The newest version of the GNU C library that it asks for, such as 2.34; nothing if it asks for none.
    pub(crate) fn c_library(&self) -> Result<Option<String>> {
        const PREFIX: &[u8] = b"GLIBC_";
        let bytes = fs::read(&self.path)?;
        let names = bytes
            .windows(PREFIX.len())
            .enumerate()
            .filter(|(_, window)| *window == PREFIX);
        let versions = names.filter_map(|(at, _)| {
            let rest = bytes.get(at + PREFIX.len()..)?;
            let end = rest
                .iter()
                .position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
            let text = std::str::from_utf8(rest.get(..end)?).ok()?;
            let numbers = text.split('.').map(|number| number.parse::<u32>().ok());
            Some((numbers.collect::<Option<Vec<_>>>()?, text.to_owned()))
        });
        Ok(versions.max().map(|(_, text)| text))
    }
}

/// Builds one program and keeps it under a name; these flags are for its last step alone.
fn build(release: &Release, target: &ShippedTarget, name: &str, last: &[&str]) -> Result<PathBuf> {
    let root = &release.root;
    let home = env::var_os("CARGO_HOME").map_or_else(
        || Path::new(&env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    );
    let mut cargo = step::cargo(root);
    cargo.args(["rustc", "--package", "turnstile", "--bin", "turnstile"]);
    cargo.args(["--profile", "dist", "--locked", "--offline", "--target"]);
    cargo.arg(target.triple).arg("--").args(last);
    let renamed = [(root.as_path(), "/turnstile"), (home.as_path(), "/cargo")];
    let renamed = renamed.map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    let mut flags = without_unwinding(root).to_vec();
    flags.extend(renamed);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    let (compiler, _) = target.compiler;
    cargo.env(target.linker, compiler);
    cargo.env(format!("CC_{}", target.triple.replace('-', "_")), compiler);
    cargo.env(
        "CFLAGS",
        format!("-ffile-prefix-map={}=/cargo", home.display()),
    );
    step::run(&mut cargo)?;
    let folder = tree::target_folder(root)?.join(target.triple).join("dist");
    let kept = release.scratch().join(target.name).join(name);
    fs::create_dir_all(kept.parent().expect("it is below a folder"))?;
    let bytes = fs::copy(folder.join("turnstile"), &kept).context("keeping the program")?;
    println!("xtask: {name} for {}: {bytes} bytes", target.name);
    Ok(kept)
}

/// Flags for whoever links. A panic ends the process and nothing unwinds: its message names the line without these
/// tables.
fn without_unwinding(root: &Path) -> [String; 2] {
    let script = root.join("packaging/no-unwinding.ld");
    [
        "-Clink-arg=-Wl,--no-eh-frame-hdr".to_owned(),
        format!("-Clink-arg=-Wl,-T,{}", script.display()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small program stands for ours, which takes many minutes.
    #[test]
    fn programs_with_and_without_the_c_library_are_linked_for_all_machines() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("small.rs");
        fs::write(&source, "fn main() { println!(\"linked\"); }").unwrap();
        for target in &TARGETS {
            // What links for other machines is not there everywhere.
            if !target.is_host() && target.missing().unwrap().is_some() {
                continue;
            }
            for library in ["-crt-static", "+crt-static"] {
                let program = folder.path().join("small");
                let mut rustc = Command::new("rustc");
                rustc.args(["-Cpanic=abort", "--target", target.triple]);
                rustc.arg(format!("-Clinker={}", target.compiler.0));
                rustc.arg(format!("-Ctarget-feature={library}"));
                rustc.args(without_unwinding(root));
                step::run(rustc.arg(&source).arg("-o").arg(&program)).unwrap();
                if target.is_host() {
                    let said = step::output(&mut Command::new(&program)).unwrap();
                    assert_eq!(said, "linked\n");
                }
            }
        }
    }
}
