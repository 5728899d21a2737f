//! The image for containers: a folder in the layout of the Open Container Initiative, written without a
//! daemon.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{
    program::{ShippedProgram, ShippedTarget},
    release::Release,
    staging::Staging,
};
use crate::step;

/// The user of the image, which is no user of the host.
const USER: &str = "65532:65532";

const USERS: &str = "root:x:0:0:root:/:/nologin\n\
                     turnstile:x:65532:65532:turnstile:/var/lib/turnstile:/nologin\n";
const GROUPS: &str = "root:x:0:\nturnstile:x:65532:\n";

const DATA: &str = "var/lib/turnstile";

const MEDIA: &str = "application/vnd.oci.image";

/// Writes one image that has a program for each kind of machine.
pub(crate) fn pack(release: &Release, programs: &[ShippedProgram]) -> Result<()> {
    let name = format!("turnstile-{}.oci", release.version);
    let layout = ImageLayout {
        release,
        folder: release.into().join(name),
    };
    fs::create_dir_all(layout.folder.join("blobs/sha256"))?;
    fs::write(
        layout.folder.join("oci-layout"),
        r#"{"imageLayoutVersion":"1.0.0"}"#,
    )?;
    let mut manifests = Vec::new();
    for program in programs {
        let mut manifest = layout.manifest(program)?;
        manifest["platform"] = json!({"architecture": program.target.image, "os": "linux"});
        manifest["annotations"] = json!({"org.opencontainers.image.ref.name": release.version});
        manifests.push(manifest);
    }
    let index = json!({
        "schemaVersion": 2,
        "mediaType": format!("{MEDIA}.index.v1+json"),
        "manifests": manifests,
    });
    Ok(fs::write(
        layout.folder.join("index.json"),
        index.to_string(),
    )?)
}

/// The folder of an image.
struct ImageLayout<'a> {
    release: &'a Release,
    folder: PathBuf,
}

impl ImageLayout<'_> {
    /// Writes the image for one kind of machine; answers how the index points to it.
    fn manifest(&self, program: &ShippedProgram) -> Result<Value> {
        let tar = self.root_folder(program)?;
        let unpacked = sha256(&tar)?;
        step::run(self.release.gzip().arg(&tar))?;
        let layer = self.keep(&tar.with_extension("tar.gz"), "layer.v1.tar+gzip")?;
        let configuration = self.configuration(program.target, &unpacked)?;
        let configuration = self.keep_text(&configuration, "config.v1+json")?;
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": format!("{MEDIA}.manifest.v1+json"),
            "config": configuration,
            "layers": [layer],
        });
        self.keep_text(&manifest, "manifest.v1+json")
    }

    /// The one layer, not compressed yet.
    fn root_folder(&self, program: &ShippedProgram) -> Result<PathBuf> {
        let release = self.release;
        let above = release.scratch().join("image").join(program.target.name);
        let staging = Staging::new(above.join("root"))?;
        let alone = program.alone.as_ref();
        staging.copy(alone.unwrap_or(&program.path), "usr/bin/turnstile", 0o755)?;
        if alone.is_none() {
            copy_libraries(&program.path, &staging)?;
        }
        staging.write("etc/passwd", USERS, 0o644)?;
        staging.write("etc/group", GROUPS, 0o644)?;
        let configuration = "etc/turnstile/turnstile.toml";
        staging.copy(&release.source("turnstile.toml"), configuration, 0o644)?;
        for mounted in ["dev", "proc", "sys"] {
            staging.make(mounted, 0o755)?;
        }
        staging.make(DATA, 0o700)?;
        let tar = above.join("root.tar");
        let owned = |owner: &str| {
            let mut command = release.tar(staging.folder());
            let (user, group) = owner.split_once(':').expect("a user and a group");
            command.args([format!("--owner={user}"), format!("--group={group}")]);
            command
        };
        let mut all = owned("0:0");
        all.arg(format!("--exclude=./{DATA}"));
        step::run(all.args(["--create", "--file"]).arg(&tar).arg("."))?;
        let mut data = owned(USER);
        data.args(["--append", "--file"]).arg(&tar);
        step::run(data.arg(format!("./{DATA}")))?;
        Ok(tar)
    }

    fn configuration(&self, target: &ShippedTarget, unpacked: &str) -> Result<Value> {
        let release = self.release;
        let created = step::output(Command::new("date").args([
            "--utc",
            "--date",
            &format!("@{}", release.seconds),
            "+%Y-%m-%dT%H:%M:%SZ",
        ]))?;
        let created = created.trim();
        Ok(json!({
            "created": created,
            "architecture": target.image,
            "os": "linux",
            "config": {
                "User": USER,
                "ExposedPorts": {"8470/tcp": {}, "8479/tcp": {}},
                "Env": ["PATH=/usr/bin"],
                "Entrypoint": ["/usr/bin/turnstile"],
                "Cmd": ["serve", "--config", "/etc/turnstile/turnstile.toml"],
                "Volumes": {format!("/{DATA}"): {}},
                "WorkingDir": "/",
                "StopSignal": "SIGTERM",
                "Labels": {
                    "org.opencontainers.image.title": "turnstile",
                    "org.opencontainers.image.version": release.version,
                    "org.opencontainers.image.revision": release.commit,
                    "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
                },
            },
            "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{unpacked}")]},
            "history": [{"created": created, "created_by": "cargo xtask dist"}],
        }))
    }

    fn keep_text(&self, text: &Value, kind: &str) -> Result<Value> {
        let path = self.release.scratch().join("image/blob");
        fs::write(&path, text.to_string())?;
        self.keep(&path, kind)
    }

    /// Moves a file to the place that its checksum names; answers how others point to it.
    fn keep(&self, file: &Path, kind: &str) -> Result<Value> {
        let digest = sha256(file)?;
        let bytes = fs::metadata(file)?.len();
        fs::copy(file, self.folder.join("blobs/sha256").join(&digest))?;
        Ok(json!({
            "mediaType": format!("{MEDIA}.{kind}"),
            "digest": format!("sha256:{digest}"),
            "size": bytes,
        }))
    }
}

fn sha256(file: &Path) -> Result<String> {
    let line = step::output(Command::new("sha256sum").arg("--binary").arg(file))?;
    let digest = line
        .split(' ')
        .next()
        .context("sha256sum printed nothing")?;
    Ok(digest.to_owned())
}

/// Copies the libraries that a program asks for, and what loads them.
fn copy_libraries(program: &Path, staging: &Staging) -> Result<()> {
    let listed = step::output(Command::new("ldd").arg(program))?;
    let paths = listed
        .split_whitespace()
        .filter(|word| word.starts_with('/'));
    for path in paths {
        staging.copy(Path::new(path), path.trim_start_matches('/'), 0o755)?;
    }
    Ok(())
}
