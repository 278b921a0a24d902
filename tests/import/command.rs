//! `stiction import`

use std::path::PathBuf;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(arguments).output().unwrap()
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("stiction-import-{}-{name}", std::process::id()))
}

#[test]
fn a_model_becomes_a_scene() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/import/models/classes.xml");
    let scene = temporary("scene.toml");
    let path = scene.display().to_string();
    let output = run(&["import", model, "-o", &path, "--json"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("classes.xml:3: option.density: is not followed"), "{errors}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["nv"].as_u64(), json["nu"].as_u64()), (Some(10), Some(2)));
    let steps = run(&["simulate", &path, "--steps", "2"]);
    assert_eq!(steps.status.code(), Some(0), "{}", String::from_utf8_lossy(&steps.stderr));
    std::fs::remove_file(scene).unwrap();
}

#[test]
fn nothing_is_written_of_a_file_with_mistakes() {
    let (model, scene) = (temporary("bad.xml"), temporary("bad.toml"));
    std::fs::write(&model, "<mujoco>\n<worldbody><geom size='x'/></worldbody></mujoco>").unwrap();
    let output = run(&["import", &model.display().to_string(), "-o", &scene.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("bad.xml:2: geom.size"));
    assert!(!scene.exists());
    std::fs::remove_file(model).unwrap();
}
