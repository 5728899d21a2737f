//! TLS as others see it: what a scanner finds at the doors, and programs that connect.

use std::{
    fs::{self, Permissions},
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use turnstile_tests::Turnstile;

use crate::program::output;

/// A server that speaks TLS with a certificate of its own.
struct Secured {
    server: Turnstile,
    certificate: PathBuf,
    _directory: tempfile::TempDir,
}

impl Secured {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary folder");
        let [certificate, key] =
            ["server.pem", "server.key"].map(|name| directory.path().join(name));
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let own = own.expect("a certificate");
        fs::write(&certificate, own.cert.pem()).expect("the certificate can be written");
        fs::write(&key, own.signing_key.serialize_pem()).expect("the key can be written");
        fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("it is ours");
        let data = directory.path().join("data");
        let arguments = [
            "--tls-certificate",
            text(&certificate),
            "--tls-key",
            text(&key),
        ];
        Self {
            server: Turnstile::dev_with(&data, &arguments),
            certificate,
            _directory: directory,
        }
    }

    /// Runs redis-cli at the RESP door with this authority; answers whether it was content, and what it
    /// wrote.
    fn redis_cli(&self, authority: &Path, arguments: &[&str]) -> (bool, String) {
        let port = self.server.resp().port().to_string();
        let mut command = Command::new("redis-cli");
        command.args(["--tls", "--sni", "localhost", "-p", &port, "--cacert"]);
        command.arg(authority).args(arguments).stdin(Stdio::null());
        let ran = command.output().expect("redis-cli is installed");
        let wrote = [ran.stdout, ran.stderr].concat();
        (
            ran.status.success(),
            String::from_utf8_lossy(&wrote).into_owned(),
        )
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// What sslscan finds at an address: each element with the attributes that matter, in its order.
fn scanned(address: SocketAddr) -> Vec<String> {
    let report = output(
        "sslscan",
        &[
            "--no-colour",
            "--xml=-",
            "--no-check-certificate",
            &address.to_string(),
        ],
        b"",
    );
    let attribute = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let found = report.lines().map(str::trim).filter_map(|line| {
        let names: &[&str] = match line.split_once(' ')?.0 {
            "<protocol" => &["type", "version", "enabled"],
            "<renegotiation" => &["supported"],
            "<heartbleed" => &["sslversion", "vulnerable"],
            "<cipher" => &["sslversion", "cipher"],
            _ => return None,
        };
        let values = names.iter().filter_map(|name| attribute(line, name));
        Some(values.collect::<Vec<_>>().join(" "))
    });
    found.collect()
}

#[test]
fn a_scanner_finds_no_old_version_and_no_weak_cipher() {
    let secured = Secured::new();
    for address in [secured.server.resp(), secured.server.http()] {
        assert_eq!(
            scanned(address),
            [
                "ssl 2 0",
                "ssl 3 0",
                "tls 1.0 0",
                "tls 1.1 0",
                "tls 1.2 1",
                "tls 1.3 1",
                "0",
                "TLSv1.3 0",
                "TLSv1.2 0",
                "TLSv1.3 TLS_AES_128_GCM_SHA256",
                "TLSv1.3 TLS_AES_256_GCM_SHA384",
                "TLSv1.3 TLS_CHACHA20_POLY1305_SHA256",
                "TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384",
                "TLSv1.2 ECDHE-ECDSA-CHACHA20-POLY1305",
                "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256",
            ],
            "{address}"
        );
    }
}

#[test]
fn programs_that_know_the_authority_connect_and_others_do_not() {
    let secured = Secured::new();
    let (content, wrote) = secured.redis_cli(&secured.certificate, &["INFO", "server"]);
    assert!(content && wrote.contains("transport:tls\r\n"), "{wrote}");
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
    let stranger = secured.certificate.with_file_name("other.pem");
    fs::write(&stranger, other.expect("a certificate").cert.pem()).expect("it can be written");
    let (content, wrote) = secured.redis_cli(&stranger, &["PING"]);
    assert!(
        !content && wrote.contains("certificate verify failed"),
        "{wrote}"
    );

    let port = secured.server.resp().port().to_string();
    let cacert = text(&secured.certificate);
    let wrote = output(
        "redis-benchmark",
        &[
            "--tls",
            "--sni",
            "localhost",
            "--cacert",
            cacert,
            "-p",
            &port,
            "-n",
            "20000",
            "-P",
            "16",
            "-q",
            "PING",
        ],
        b"",
    );
    assert!(wrote.contains("requests per second"), "{wrote}");

    let http = secured.server.http().port();
    let url = format!("https://localhost:{http}/readyz");
    let arguments = [
        "--silent",
        "--show-error",
        "--cacert",
        cacert,
        "--http1.1",
        &url,
    ];
    assert_eq!(output("curl", &arguments, b""), r#"{"status":"ready"}"#);
    let url = format!("http://localhost:{http}/readyz");
    let told = output("curl", &["--silent", "--show-error", &url], b"");
    assert!(told.contains("this address serves HTTPS only"), "{told}");
}
