//! `stiction help`: of commands what clap says, of files what the pages say.

use clap::Command;

use super::outcome::Outcome;
use super::output;
use crate::Error;

/// Print the help of a command, or what a file can hold: scene, experiment, recordings, robots and so on
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A command, or a topic; without it both are listed
    #[arg(value_name = "COMMAND|TOPIC")]
    topic: Option<String>,
}

const FORMATS: &str = include_str!("../../docs/file-formats.md");
const PROGRAM: &str = include_str!("../../docs/program.md");
const SOLVERS: &str = include_str!("../../docs/solvers.md");

/// A topic, what it is about, and the sections of pages that say it.
type Topic = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const TOPICS: &[Topic] = &[
    (
        "scene",
        "scene files: bodies, joints, shapes, contacts, motors, cameras",
        &[(FORMATS, "Scenes")],
    ),
    ("settings", "how a scene is simulated", &[(FORMATS, "Settings of `[simulation]`")]),
    ("parameters", "the names of all numbers of a scene", &[(FORMATS, "Names of parameters")]),
    (
        "materials",
        "friction and restitution of surfaces",
        &[(FORMATS, "Materials"), (FORMATS, "Many shapes")],
    ),
    ("learned", "terms that are learned", &[(FORMATS, "Learned terms")]),
    (
        "soft",
        "scenes of soft bodies, and recordings of them",
        &[
            (FORMATS, "Soft bodies"),
            (FORMATS, "Recorded markers"),
            (FORMATS, "Recorded points of a surface"),
        ],
    ),
    ("experiment", "what is to be found, and from what", &[(FORMATS, "Experiments")]),
    ("trajectory", "motions, as CSV and NPZ", &[(FORMATS, "Trajectories")]),
    (
        "recordings",
        "columns, units, frames, inputs over time, masks, Parquet, MCAP",
        &[(FORMATS, "Recordings as they are"), (FORMATS, "Parquet"), (FORMATS, "MCAP")],
    ),
    ("controls", "forces and motors over time", &[(FORMATS, "Controls")]),
    (
        "robots",
        "URDF and MJCF, and what makes them stand",
        &[(FORMATS, "URDF"), (FORMATS, "MJCF"), (PROGRAM, "import")],
    ),
    ("tasks", "what is to be optimised", &[(FORMATS, "Tasks")]),
    ("results", "what identify writes", &[(FORMATS, "Results")]),
    ("linearizations", "Jacobians, as NPZ and JSON", &[(FORMATS, "Linearizations")]),
    ("solvers", "how contact is solved", &[(SOLVERS, "How the coupled problem is solved")]),
];

/// `program`: what clap knows of it.
pub(super) fn run(program: &Command, arguments: &Arguments) -> Result<Outcome, Error> {
    let mut program = program.clone();
    let Some(topic) = &arguments.topic else {
        output::print(&format!(
            "{}\nTopics of `stiction help`:\n{}",
            program.render_long_help(),
            list()
        ));
        return Ok(Outcome::Done);
    };
    // What all commands take, each takes.
    program.build();
    if let Some(command) = program.find_subcommand_mut(topic) {
        let mut command: Command = command.clone().bin_name(format!("stiction {topic}"));
        output::print(&command.render_long_help().to_string());
        return Ok(Outcome::Done);
    }
    let Some((_, _, sections)) = TOPICS.iter().find(|(name, _, _)| name == topic) else {
        let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let topics: Vec<&str> = TOPICS.iter().map(|(name, _, _)| *name).collect();
        let message = format!(
            "is no topic; there are {}; and the commands {}",
            topics.join(", "),
            commands.join(", ")
        );
        return Err(Error::input("help", None, topic, message));
    };
    let texts = sections.iter().map(|(page, heading)| plain(section(page, heading)));
    output::print(texts.collect::<Vec<String>>().join("\n\n").trim_end());
    Ok(Outcome::Done)
}

fn list() -> String {
    let line = |(name, about, _): &Topic| format!("  {name:<15} {about}\n");
    TOPICS.iter().map(line).collect()
}

/// The section of a page below a heading, up to the next one that is as high.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let begins =
        |level: &str| page.find(&format!("\n{level} {heading}\n")).map(|at| (at + 1, level.len()));
    let Some((begin, level)) = begins("##").or_else(|| begins("###")) else { return "" };
    let rest = &page[begin..];
    // A section of sections has its own beginning alone: others are topics of their own.
    let ends = ["\n## ", "\n### "]
        .into_iter()
        .filter_map(|mark| rest[level..].find(mark).map(|at| at + level));
    &rest[..ends.min().unwrap_or(rest.len())]
}

/// The text of a page as a terminal shows it: without marks of links, fences and headings.
fn plain(text: &str) -> String {
    let (mut shown, mut fenced) = (String::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        match (
            fenced,
            line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')),
        ) {
            (true, _) => shown.push_str(&format!("    {line}\n")),
            (false, Some(heading)) => {
                let heading = unlinked(heading);
                let rule = "=".repeat(heading.chars().count());
                shown.push_str(&format!("{heading}\n{rule}\n"));
            }
            (false, None) => shown.push_str(&format!("{}\n", unlinked(line))),
        }
    }
    shown
}

/// A line without `**`, and with the words of its links alone.
fn unlinked(line: &str) -> String {
    let (mut shown, mut rest) = (String::new(), line);
    while let Some((before, link)) = rest.split_once('[') {
        let words = link.split_once("](").and_then(|(words, link)| {
            let (_, after) = link.split_once(')')?;
            (!words.contains(['[', ']'])).then_some((words, after))
        });
        shown.push_str(before);
        match words {
            Some((words, after)) => {
                shown.push_str(words);
                rest = after;
            }
            None => {
                shown.push('[');
                rest = link;
            }
        }
    }
    shown.push_str(rest);
    shown.replace("**", "")
}
