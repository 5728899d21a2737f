//! TLS as others see it: what a scanner finds at the doors, and programs that connect.

use std::{
    fs::{self, Permissions},
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use turnstile_tests::Turnstile;

use crate::{clients::installed, program::output};

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

/// What sslyze finds when it attacks an address in each of these ways; of an attack that it could not try,
/// nothing.
fn attacked(addresses: [SocketAddr; 2]) -> Vec<Value> {
    let mut arguments = vec!["-m", "sslyze", "--json_out=-", "--mozilla_config=disable"];
    arguments.extend(["--heartbleed", "--openssl_ccs", "--robot", "--compression"]);
    arguments.extend(["--reneg", "--fallback", "--ems"]);
    let addresses = addresses.map(|address| address.to_string());
    arguments.extend(addresses.iter().map(String::as_str));
    let report = output(installed("TURNSTILE_TEST_PYTHON"), &arguments, b"");
    let report: Value = serde_json::from_str(&report).expect("sslyze writes JSON");
    let scans = report["server_scan_results"].as_array().expect("scans");
    let results = scans.iter().map(|scan| {
        let scanned = scan["scan_result"].as_object().expect("results");
        let found = scanned
            .iter()
            .filter(|(_, one)| one["status"] == "COMPLETED");
        found
            .map(|(name, one)| (name.clone(), one["result"].clone()))
            .collect()
    });
    results.collect()
}

#[test]
fn an_attacker_finds_no_known_hole_in_tls() {
    let secured = Secured::new();
    let expected = json!({
        "heartbleed": {"is_vulnerable_to_heartbleed": false},
        "openssl_ccs_injection": {"is_vulnerable_to_ccs_injection": false},
        "robot": {"robot_result": "NOT_VULNERABLE_RSA_NOT_SUPPORTED"},
        "session_renegotiation": {
            "supports_secure_renegotiation": true,
            "is_vulnerable_to_client_renegotiation_dos": false,
            "client_renegotiations_success_count": 0,
        },
        "tls_compression": {"supports_compression": false},
        "tls_extended_master_secret": {"supports_ems_extension": true},
        "tls_fallback_scsv": {"supports_fallback_scsv": true},
    });
    let found = attacked([secured.server.resp(), secured.server.http()]);
    assert_eq!(found, [expected.clone(), expected]);
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
