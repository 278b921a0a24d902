//! `stiction help`: what pages say, in the terminal.

use crate::folder::Folder;
use crate::program::{refuses, succeeds};

#[test]
fn topics_are_sections_of_the_pages() {
    let folder = Folder::new("help");
    let all = succeeds(&folder.run(&["help"]));
    let (commands, topics) = all.split_once("Topics of `stiction help`:\n").unwrap();
    assert!(commands.contains("identify") && commands.contains("import"), "{all}");
    let topics: Vec<&str> =
        topics.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(topics.len() >= 15 && topics.contains(&"recordings"), "{topics:?}");
    for topic in topics {
        let text = succeeds(&folder.run(&["help", topic]));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() > 5 && lines[1].starts_with("=="), "{topic}: {text}");
        // Neither links nor fences are left.
        assert!(
            !text.contains("](") && !text.contains("```") && !text.contains("**"),
            "{topic}: {text}"
        );
    }
    // A section ends where the next begins, and code is indented.
    let controls = succeeds(&folder.run(&["help", "controls"]));
    assert!(controls.starts_with("Controls\n========\n") && !controls.contains("Experiments"));
    let recordings = succeeds(&folder.run(&["help", "recordings"]));
    assert!(recordings.contains("\n    drives = [\"box/fx\", \"box/fy\"]\n"), "{recordings}");
    // Of a command, what its own option says.
    let import = succeeds(&folder.run(&["help", "import"]));
    assert_eq!(import.trim_end(), succeeds(&folder.run(&["import", "--help"])).trim_end());
    refuses(
        &folder.run(&["help", "cats"]),
        &["cats", "is no topic; there are scene", "commands simulate"],
    );
}
