//! The archive for a Linux of any kind: a folder to unpack anywhere.

use std::path::Path;

use anyhow::Result;

use super::{Extras, name_of, program::ShippedProgram, release::Release, staging::Staging};
use crate::step;

pub(crate) fn pack(
    release: &Release,
    program: &ShippedProgram,
    extras: &Extras,
    bill: &Path,
) -> Result<()> {
    let name = format!(
        "turnstile-{}-{}-linux",
        release.version, program.target.name
    );
    let above = release.scratch().join("archive").join(program.target.name);
    let staging = Staging::new(above.join(&name))?;
    staging.copy(&program.path, "turnstile", 0o755)?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        staging.copy(&release.root.join(file), file, 0o644)?;
    }
    for file in ["turnstile.service", "turnstile.toml"] {
        staging.copy(&release.source(file), file, 0o644)?;
    }
    staging.copy(bill, "turnstile.cdx.json", 0o644)?;
    for page in extras.pages()? {
        staging.copy(&page, &format!("man/{}", name_of(&page)?), 0o644)?;
    }
    for (script, _) in &extras.completions {
        staging.copy(script, &format!("completions/{}", name_of(script)?), 0o644)?;
    }
    let archive = release.into().join(format!("{name}.tar"));
    let mut tar = release.tar(&above);
    tar.args(["--owner=0", "--group=0", "--create", "--file"]);
    step::run(tar.arg(&archive).arg(&name))?;
    step::run(release.gzip().arg(&archive))
}
