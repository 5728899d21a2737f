//! What is shipped, packed from the binary under test: the same each time, and installed on a real system.

mod chart;
mod machine;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use turnstile_tests::{automation, program};

use self::machine::Machine;
use crate::clients::installed;

/// Where the packages of one run are.
struct Packages {
    folder: tempfile::TempDir,
}

impl Packages {
    fn pack() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let into = folder.path().join("packages");
        done(automation().arg("dist").arg(program()).arg(&into));
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("packages")
    }

    /// The one file or folder whose name ends so.
    fn ending(&self, end: &str) -> PathBuf {
        let entries = fs::read_dir(self.path()).expect("the packages");
        let mut paths = entries.map(|entry| entry.expect("an entry").path());
        let found = paths.find(|path| path.to_string_lossy().ends_with(end));
        found.unwrap_or_else(|| panic!("no package ends in {end}"))
    }

    fn sums(&self) -> String {
        fs::read_to_string(self.path().join("SHA256SUMS")).expect("the checksums")
    }
}

/// Runs a program that must succeed, and returns what it printed.
fn done(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn packages_are_the_same_each_time_and_fit_their_checksums() {
    let (first, second) = (Packages::pack(), Packages::pack());
    assert_eq!(first.sums(), second.sums());
    let mut check = Command::new("sha256sum");
    check.current_dir(first.path());
    done(check.args(["--check", "--strict", "SHA256SUMS"]));
    let listed = done(
        Command::new("tar")
            .arg("--list")
            .arg("--file")
            .arg(first.ending("-linux.tar.gz")),
    );
    for file in [
        "/turnstile",
        "/man/turnstile-serve.1",
        "/completions/zsh",
        "/turnstile.cdx.json",
        "/LICENSE-MIT",
    ] {
        assert!(
            listed.lines().any(|line| line.ends_with(file)),
            "{file}: {listed}"
        );
    }
}

#[test]
fn the_bill_of_materials_fits_the_schema_of_cyclonedx() {
    let packages = Packages::pack();
    let bill = packages.ending(".cdx.json");
    let validate = "import sys\n\
        from cyclonedx.schema import SchemaVersion\n\
        from cyclonedx.validation.json import JsonStrictValidator\n\
        wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())\n\
        sys.exit(repr(wrong) if wrong else 0)\n";
    let mut python = Command::new(installed("TURNSTILE_TEST_PYTHON"));
    done(python.args(["-c", validate]).arg(&bill));
    let bill: serde_json::Value = serde_json::from_slice(&fs::read(&bill).unwrap()).unwrap();
    let names = bill["components"].as_array().expect("a list");
    let names: Vec<&str> = names
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    for library in ["rustls", "turnstile-journal", "mio"] {
        assert!(names.contains(&library), "{library}");
    }
    for tool in ["proptest", "serde_derive", "turnstile-trial"] {
        assert!(!names.contains(&tool), "{tool} is not in the program");
    }
}

#[test]
fn the_image_holds_a_server_that_writes_its_data_alone() {
    let packages = Packages::pack();
    let image = packages.ending(".oci");
    let reference = format!("oci:{}:{}", image.display(), env!("CARGO_PKG_VERSION"));
    let told = done(Command::new("skopeo").args(["inspect", "--config", &reference]));
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["config"]["User"], "65532:65532", "{told}");
    let bundle = packages.folder.path().join("bundle");
    let unpacked = format!("{}:{}", image.display(), env!("CARGO_PKG_VERSION"));
    let mut umoci = Command::new("umoci");
    done(umoci.args(["unpack", "--image", &unpacked]).arg(&bundle));
    let root = bundle.join("rootfs");
    // Nothing can be written but the data, as with a read-only container and a volume.
    let run = "set -e; mount --bind \"$0\" \"$0\"; mount --bind \"$0/var/lib/turnstile\" \
        \"$0/var/lib/turnstile\"; mount -o remount,bind,ro \"$0\"; mount -t proc proc \"$0/proc\"; \
        mount --rbind /dev \"$0/dev\"; \
        at=\"chroot --userspec=65532:65532 $0 /usr/bin/turnstile\"; \
        $at init /var/lib/turnstile; $at verify /var/lib/turnstile; \
        exec 3< <(exec $at serve --config /etc/turnstile/turnstile.toml --http off \
        --resp 127.0.0.1:0); server=$!; while read -r line <&3 && [ \"$line\" != ready ]; do :; done; \
        kill -TERM $server; wait $server";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--propagation=private", "bash", "-c", run]);
    let told = done(unshare.arg(&root));
    assert!(told.contains("0 violations"), "{told}");
}

#[test]
fn the_unit_exposes_little_of_the_system() {
    let unit = source("turnstile.service");
    let mut judge = Command::new("systemd-analyze");
    judge.args(["security", "--offline=true", "--threshold=20"]);
    done(judge.arg(unit));
}

#[test]
fn each_line_of_the_sample_configuration_is_a_setting() {
    let text = fs::read_to_string(source("turnstile.toml")).expect("the sample");
    let lines = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(setting) if setting.contains(" = ") => setting,
        _ => line,
    });
    let lines: Vec<&str> = lines.collect();
    assert!(lines.contains(&"durability = \"sync\""), "{lines:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("turnstile.toml");
    fs::write(&path, lines.join("\n")).expect("a file");
    done(
        Command::new(program())
            .args(["config", "print", "--config"])
            .arg(path),
    );
}

fn source(name: &str) -> PathBuf {
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging");
    packaging.join(name)
}

/// A package of the next version with the same files.
fn newer(package: &Path, folder: &Path) -> PathBuf {
    let files = folder.join("newer");
    let (newer, control) = (folder.join("newer.deb"), files.join("DEBIAN/control"));
    done(
        Command::new("dpkg-deb")
            .arg("--raw-extract")
            .arg(package)
            .arg(&files),
    );
    let text = fs::read_to_string(&control).expect("the description");
    let version = concat!("Version: ", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(version), "{text}");
    fs::write(&control, text.replace(version, &format!("{version}+1"))).expect("a file");
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zgzip", "-z1", "--build"]);
    done(build.arg(&files).arg(&newer));
    newer
}

/// The life of a package under a real systemd: installed, used, watched, upgraded, removed and purged.
#[test]
fn a_debian_package_is_installed_started_upgraded_and_purged() {
    let packages = Packages::pack();
    let package = packages.ending(".deb");
    let newer = newer(&package, packages.folder.path());
    let machine = Machine::boot();
    let install = |package: &Path| {
        let to = "/srv/turnstile.deb";
        machine.put(package, to);
        machine.done(&["dpkg", "--install", to]);
    };
    // A configuration that fails once it has begun is completed by the next.
    let failing = "mkdir /srv/broken; printf '#!/bin/sh\\ntouch /var/lib/turnstile/begun\\nexit 1\\n' \
        >/srv/broken/runuser; chmod +x /srv/broken/runuser; \
        PATH=/srv/broken:$PATH dpkg --install /srv/turnstile.deb";
    machine.put(&package, "/srv/turnstile.deb");
    assert!(!machine.call(&["sh", "-c", failing]).status.success());
    machine.done(&["dpkg", "--configure", "turnstile"]);
    assert_eq!(machine.shows("ActiveState"), "active", "{}", machine.log());
    assert_eq!(machine.shows("StatusText"), "serving");
    let owned = ["stat", "--format=%a %U", "/var/lib/turnstile"];
    assert_eq!(machine.done(&owned), "700 turnstile");
    let key = ["stat", "--format=%a %U", "/etc/turnstile/admin.key"];
    assert_eq!(machine.done(&key), "600 root");
    machine.done(&["systemctl", "is-enabled", "turnstile"]);

    // Who has no key is asked for one, and the administrator's serves.
    let call = |words: &str| {
        let line = format!("TURNSTILE_KEY=$(cat /etc/turnstile/admin.key) turnstile call {words}");
        machine.done(&["sh", "-c", &line])
    };
    let stranger = machine.call(&["turnstile", "call", "rooms.add_property", "property=inn"]);
    assert_eq!(stranger.status.code(), Some(77), "{stranger:?}");
    call("rooms.add_property property=inn open=true");
    machine.done(&["systemctl", "reload", "turnstile"]);
    assert_eq!(machine.shows("ActiveState"), "active", "{}", machine.log());

    // A changed configuration and the data survive an upgrade, which restarts the server.
    let (before, secret) = (
        machine.shows("MainPID"),
        machine.done(&["cat", "/etc/turnstile/admin.key"]),
    );
    machine.done(&["sh", "-c", "echo '# mine' >>/etc/turnstile/turnstile.toml"]);
    install(&newer);
    assert_eq!(machine.shows("ActiveState"), "active", "{}", machine.log());
    assert_ne!(machine.shows("MainPID"), before);
    assert_eq!(machine.done(&["cat", "/etc/turnstile/admin.key"]), secret);
    machine.done(&["grep", "# mine", "/etc/turnstile/turnstile.toml"]);
    let listed = call("rooms.list_properties");
    assert!(listed.contains("inn"), "{listed}");

    // A server that hangs is found by its silence, and another one is started.
    let quick = "mkdir -p /etc/systemd/system/turnstile.service.d; printf \
        '[Service]\\nWatchdogSec=5s\\nTimeoutAbortSec=100ms\\nRestartSec=0\\n' \
        >/etc/systemd/system/turnstile.service.d/trial.conf; systemctl daemon-reload; \
        systemctl restart turnstile";
    machine.done(&["sh", "-c", quick]);
    machine.done(&["kill", "-STOP", &machine.shows("MainPID")]);
    machine.await_shown("NRestarts", "1");
    machine.await_shown("ActiveState", "active");
    assert!(call("rooms.list_properties").contains("inn"));

    machine.done(&["systemctl", "stop", "turnstile"]);
    assert_eq!(machine.shows("Result"), "success", "{}", machine.log());
    machine.done(&["turnstile", "verify", "/var/lib/turnstile"]);
    machine.done(&["dpkg", "--purge", "turnstile"]);
    machine.done(&["test", "!", "-e", "/etc/turnstile/admin.key"]);
    machine.done(&["test", "!", "-e", "/usr/bin/turnstile"]);
    // The bookings are no configuration.
    assert_eq!(machine.done(&owned), "700 turnstile");
}
