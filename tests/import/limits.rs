//! Files that are too deep, too large, or go round in circles: refused, with the limit.

use super::{parse, refused};
use crate::folder::Folder;
use stiction::assemble::Description;
use stiction::formats::LoadOptions;

/// A folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(&format!("import-{name}"));
    files.iter().for_each(|(file, text)| folder.write(file, text));
    folder
}

fn load(folder: &Folder, file: &str) -> Result<Description, stiction::Error> {
    Description::load(folder.path(file), LoadOptions::default())
}

#[test]
fn includes_are_read_in_place() {
    let folder = folder(
        "place",
        &[
            (
                "a.xml",
                "<mujoco><include file='b.xml'/><worldbody><body><freejoint/><geom size='1'/></body>\
                   </worldbody></mujoco>",
            ),
            ("b.xml", "<mujoco><option timestep='0.125'/></mujoco>"),
        ],
    );
    assert_eq!(load(&folder, "a.xml").unwrap().settings.time_step, 0.125);
}

#[test]
fn circles_of_includes_are_refused() {
    let folder = folder(
        "circle",
        &[
            ("a.xml", "<mujoco>\n<include file='b.xml'/></mujoco>"),
            ("b.xml", "<mujoco>\n\n<include file='c.xml'/></mujoco>"),
            ("c.xml", "<mujoco><include file='b.xml'/></mujoco>"),
            ("twice.xml", "<mujoco><include file='d.xml'/>\n<include file='d.xml'/></mujoco>"),
            ("d.xml", "<mujoco><size/></mujoco>"),
            ("no.xml", "<mujoco>\n\n<include file='nowhere.xml'/></mujoco>"),
        ],
    );
    let message = |file: &str| load(&folder, file).unwrap_err().to_string();
    assert!(message("a.xml").contains("includes itself"), "{}", message("a.xml"));
    assert!(message("twice.xml").contains("included twice"), "{}", message("twice.xml"));
    assert!(message("no.xml").contains("no.xml:3: include.file: cannot read"));
}

#[test]
fn long_chains_of_includes_are_refused() {
    let files: Vec<(String, String)> = (0..40)
        .map(|k| (format!("{k}.xml"), format!("<mujoco><include file='{}.xml'/></mujoco>", k + 1)))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let folder = folder("chain", &files);
    let message = load(&folder, "0.xml").unwrap_err().to_string();
    assert!(message.contains("more than 16 levels deep"), "{message}");
}

#[test]
fn depth_is_limited() {
    for (open, close) in [("<body>", "</body>"), ("<a>", "</a>")] {
        for count in [250, 1_000_000] {
            let text = format!(
                "<mujoco><worldbody>\n{}{}</worldbody></mujoco>",
                open.repeat(count),
                close.repeat(count)
            );
            assert!(refused(&text).contains("more than 200 levels deep"));
        }
    }
    let nested = "<default class='x'>".repeat(1000) + &"</default>".repeat(1000);
    assert!(refused(&format!("<mujoco>{nested}</mujoco>")).contains("200 levels"));
    // Never closed, and so not XML either.
    assert!(parse(&"<mujoco>".repeat(100_000)).is_err());
}

#[test]
fn sizes_are_limited() {
    let attributes: String = (0..300).map(|k| format!(" a{k}=''")).collect();
    assert!(refused(&format!("<mujoco{attributes}/>")).contains("more than 200 attributes"));
    let spaces: String = (0..150).map(|k| format!("<a xmlns:b{k}='c'/>")).collect();
    assert!(refused(&format!("<mujoco>{spaces}</mujoco>")).contains("more than 100 name spaces"));
    let many = format!("<mujoco>{}</mujoco>", "<a/>".repeat(1_000_001));
    assert!(refused(&many).contains("more than 1000000 elements"));
    let large = format!("<mujoco>{}</mujoco>", " ".repeat(70_000_000));
    assert!(refused(&large).contains("is larger than 67108864 bytes"));
}

#[test]
fn entities_do_not_explode() {
    let text = "<!DOCTYPE m [<!ENTITY a 'x'><!ENTITY b '&a;&a;&a;&a;'>]><mujoco model='&b;'/>";
    assert!(parse(text).is_err());
}

#[test]
fn broad_models_are_read() {
    // Warnings of a kind are one.
    let bodies: String = (0..20_000)
        .map(|k| format!("<body name='b{k}'><joint springyield='1'/></body>\n"))
        .collect();
    let text = format!("<mujoco><worldbody>\n{bodies}</worldbody></mujoco>");
    let description = super::read(&text);
    assert_eq!((description.bodies.len(), description.warnings.len()), (20_000, 1));
}
