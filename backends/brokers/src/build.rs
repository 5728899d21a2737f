//! Building the server.

use std::{
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::fs::{FlockOperation, flock};

use crate::BrokersError;

/// The version that logs are trusted to (`docs/decisions/0028-the-log-is-a-jetstream-stream.md`).
pub const PINNED_VERSION: &str = "2.12.15";

const MODULE: &str = "github.com/nats-io/nats-server/v2";

/// A `nats-server` that can be started.
#[derive(Clone, Debug)]
pub struct NatsServer {
    program: PathBuf,
    version: String,
}

impl NatsServer {
    /// Finds the server of [`PINNED_VERSION`] in `cache` or on the path, or builds it into `cache`, which
    /// takes Go, the Go module proxy, and about a minute.
    ///
    /// # Errors
    /// There is no Go, or it does not build the server.
    pub fn install(cache: &Path) -> Result<Self, BrokersError> {
        Self::install_version(cache, PINNED_VERSION)
    }

    /// The same with another version, such as `2.15.2`.
    ///
    /// # Errors
    /// As [`Self::install`].
    pub fn install_version(cache: &Path, version: &str) -> Result<Self, BrokersError> {
        let folder = cache.join(format!("v{version}"));
        let built = folder.join("nats-server");
        let server = |program: PathBuf| Self {
            program,
            version: version.to_owned(),
        };
        let path = env::var_os("PATH").unwrap_or_default();
        let on_path = env::split_paths(&path).map(|folder| folder.join("nats-server"));
        let mut places = [built.clone()].into_iter().chain(on_path);
        if let Some(program) = places.find(|program| has_version(program, version)) {
            return Ok(server(program));
        }
        let name = folder.display().to_string();
        fs::create_dir_all(&folder).map_err(BrokersError::system(name))?;
        // Tests of several processes may come here at once.
        let lock = fs::File::create(folder.join("lock"));
        let lock = lock.map_err(BrokersError::system("the lock of the cache"))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| BrokersError::system("the lock of the cache")(error.into()))?;
        if !has_version(&built, version) {
            build(&folder, version)?;
        }
        Ok(server(built))
    }

    /// Where the program is.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Which version it is, such as `2.12.15`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// Whether a program is a server of this version.
fn has_version(program: &Path, version: &str) -> bool {
    if !program.is_file() {
        return false;
    }
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| {
        let told = String::from_utf8_lossy(&output.stdout);
        told.trim() == format!("nats-server: v{version}")
    })
}

/// Has Go build the server, with a newer Go from the module proxy if this one is too old.
fn build(folder: &Path, version: &str) -> Result<(), BrokersError> {
    let mut go = Command::new("go");
    go.arg("install").arg(format!("{MODULE}@v{version}"));
    go.env("GOBIN", folder).env("CGO_ENABLED", "0");
    if env::var_os("GOTOOLCHAIN").is_none() {
        go.env("GOTOOLCHAIN", "auto");
    }
    let not_built = |reason: String| BrokersError::NotBuilt {
        version: version.to_owned(),
        reason,
    };
    match go.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(not_built(told.trim().to_owned()));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(BrokersError::NoGo),
        Err(error) => return Err(BrokersError::system("starting go")(error)),
    }
    if has_version(&folder.join("nats-server"), version) {
        return Ok(());
    }
    Err(not_built("what it built has another version".to_owned()))
}
