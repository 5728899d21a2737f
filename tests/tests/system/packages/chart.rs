//! The Helm chart, checked by Helm and against the schemas of Kubernetes.

use std::process::Command;

use serde_json::Value;

use super::{Packages, done};
use crate::clients::installed;

/// The newest Kubernetes that the chart is checked for, and the oldest that it names.
const KUBERNETES: [&str; 2] = ["1.37", "1.27"];

const SECRET: [&str; 2] = ["--set", "tls.secretName=door"];

fn helm(arguments: &[&str], packages: &Packages) -> Command {
    let mut helm = Command::new(installed("TURNSTILE_TEST_HELM"));
    // Nothing of who runs the tests is read or changed.
    helm.env("HOME", packages.folder.path());
    helm.args(arguments).arg(packages.ending(".tgz"));
    helm
}

/// The objects that are made with these values, as JSON.
fn rendered(packages: &Packages, values: &[&str]) -> Vec<Value> {
    let file = packages.folder.path().join("objects.yaml");
    let python = installed("TURNSTILE_TEST_PYTHON");
    for version in KUBERNETES {
        let mut template = helm(&["template", "inn"], packages);
        template.args(["--kube-version", version]).args(SECRET);
        let objects = done(template.args(values));
        std::fs::write(&file, objects).expect("a file");
        let mut validate = Command::new(&python);
        validate.args(["-m", "kubernetes_validate", "--strict", "-k", version]);
        done(validate.arg(&file));
    }
    let mut read = Command::new(&python);
    let script = "import json, sys, yaml\n\
        print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))\n";
    let json = done(read.args(["-c", script]).arg(&file));
    serde_json::from_str(&json).expect("JSON")
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    let found = objects.iter().find(|object| object["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}"))
}

#[test]
fn the_chart_is_sound_and_its_objects_fit_kubernetes() {
    let packages = Packages::pack();
    done(helm(&["lint", "--strict"], &packages).args(SECRET));
    let objects = rendered(&packages, &[]);
    let set = &of_kind(&objects, "StatefulSet")["spec"];
    assert_eq!(set["replicas"], 1, "a directory has one server");
    let pod = &set["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["automountServiceAccountToken"], false);
    for list in ["initContainers", "containers"] {
        let container = &pod[list][0];
        let sandbox = &container["securityContext"];
        assert_eq!(sandbox["readOnlyRootFilesystem"], true, "{list}");
        assert_eq!(sandbox["allowPrivilegeEscalation"], false, "{list}");
        assert_eq!(sandbox["capabilities"]["drop"][0], "ALL", "{list}");
        let image = format!("turnstile:{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(container["image"], Value::from(image), "{list}");
    }
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        let asked = &pod["containers"][0][probe]["httpGet"];
        assert_eq!(asked["scheme"], "HTTPS", "{probe}");
    }
    assert_eq!(pod["volumes"][1]["secret"]["secretName"], "door");
    let claim = &set["volumeClaimTemplates"][0]["spec"];
    assert_eq!(claim["resources"]["requests"]["storage"], "10Gi");
    let budget = &of_kind(&objects, "PodDisruptionBudget")["spec"];
    assert_eq!(budget["maxUnavailable"], 1);
    assert_eq!(budget["selector"], set["selector"]);
    let text = of_kind(&objects, "ConfigMap")["data"]["turnstile.toml"].as_str();
    check_configuration(&packages, text.expect("a text"));
}

/// The server takes what the chart writes.
fn check_configuration(packages: &Packages, text: &str) {
    assert!(text.contains("resp = \"0.0.0.0:8479\""), "{text}");
    let file = packages.folder.path().join("turnstile.toml");
    std::fs::write(&file, text).expect("a file");
    let mut print = Command::new(turnstile_tests::program());
    done(print.args(["config", "print", "--config"]).arg(file));
}

#[test]
fn values_of_the_chart_are_heeded_and_wrong_ones_refused() {
    let packages = Packages::pack();
    let values = [
        "--set",
        "podDisruptionBudget.enabled=false",
        "--set",
        "image.pullSecrets={registry}",
        "--set",
        "storage.className=fast",
        "--set",
        "priorityClassName=high",
        "--set-json",
        "nodeSelector={\"disk\":\"nvme\"}",
        "--set-string",
        "configuration=[limits]\nconnections = 100\n",
    ];
    let objects = rendered(&packages, &values);
    let budgets = objects
        .iter()
        .filter(|one| one["kind"] == "PodDisruptionBudget");
    assert_eq!(budgets.count(), 0);
    let set = &of_kind(&objects, "StatefulSet")["spec"];
    let pod = &set["template"]["spec"];
    assert_eq!(pod["imagePullSecrets"][0]["name"], "registry");
    assert_eq!(pod["nodeSelector"]["disk"], "nvme");
    let claim = &set["volumeClaimTemplates"][0]["spec"];
    assert_eq!(claim["storageClassName"], "fast");
    let text = of_kind(&objects, "ConfigMap")["data"]["turnstile.toml"].as_str();
    let text = text.expect("a text");
    assert!(text.contains("connections = 100"), "{text}");
    check_configuration(&packages, text);
    for (wrong, said) in [
        (
            &["--set", "tls.secretName="][..],
            "tls.secretName is not set",
        ),
        (&["--set", "storage.size=lots"], "storage.size"),
        (&["--set", "replicas=3"], "replicas"),
    ] {
        let mut helm = helm(&["template", "inn"], &packages);
        helm.args(["--kube-version", KUBERNETES[0]]);
        let refused = helm.args(SECRET).args(wrong).output().expect("it starts");
        assert!(!refused.status.success(), "{wrong:?}");
        let why = String::from_utf8_lossy(&refused.stderr).replace('/', ".");
        assert!(why.contains(said), "{wrong:?}: {why}");
    }
}
