//! A C program that uses the interface, compiled and run.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Where cargo has put the library: beside this test.
fn libraries() -> PathBuf {
    let test = env::current_exe().expect("a test knows its own file");
    let dir = test.parent().expect("a file is in a directory");
    dir.to_path_buf()
}

fn compile(program: &Path) -> Option<Output> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let libraries = libraries();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(program)
        .arg(crate_dir.join("tests/session.c"))
        .arg("-I")
        .arg(crate_dir.join("include"))
        .arg("-L")
        .arg(&libraries)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .arg("-lturnstile_capi");
    compiler.output().ok()
}

#[test]
fn a_c_program_trades_through_the_interface() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("session");
    let Some(compiled) = compile(&program) else {
        println!("NOT TESTED: there is no C compiler (cc) on this machine");
        return;
    };
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    let ran = Command::new(&program).output().unwrap();
    let outcome = (
        ran.status.code(),
        String::from_utf8_lossy(&ran.stderr).into_owned(),
    );
    assert_eq!(outcome, (Some(0), String::new()));
}
