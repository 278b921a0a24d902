//! The parts of a page: fenced blocks, links, names of files, headings.

/// A fenced block. Its fence says the language, and what else is said about it: the name of a file, or `no_run`.
#[derive(Debug)]
pub struct Block {
    /// The line of its first fence, from 1.
    pub line: usize,
    pub language: String,
    pub info: String,
    pub text: String,
    /// Whether nothing but empty lines is between it and the block before.
    pub follows: bool,
}

/// The fenced blocks of a page, and its text without them, line by line.
pub fn parse(page: &str) -> Result<(Vec<Block>, Vec<&str>), String> {
    let (mut blocks, mut prose) = (Vec::<Block>::new(), Vec::new());
    let (mut inside, mut follows) = (false, false);
    for (number, line) in (1..).zip(page.lines()) {
        let fence = line.trim_start().strip_prefix("```");
        match (fence, inside) {
            (Some(head), false) => {
                let (language, info) = head.split_once(' ').unwrap_or((head, ""));
                let [language, info] = [language, info].map(|word| word.trim().to_string());
                if language.is_empty() {
                    return Err(format!("{number}: the fence names no language"));
                }
                blocks.push(Block { line: number, language, info, text: String::new(), follows });
                inside = true;
            }
            (Some(_), true) => (inside, follows) = (false, true),
            (None, true) => {
                if let Some(block) = blocks.last_mut() {
                    block.text += line;
                    block.text += "\n";
                }
            }
            (None, false) => follows &= line.trim().is_empty(),
        }
        prose.push(if inside || fence.is_some() { "" } else { line });
    }
    match blocks.last() {
        Some(block) if inside => Err(format!("{}: the fence is not closed", block.line)),
        _ => Ok((blocks, prose)),
    }
}

/// What links lead to, `[..](target)`, with the number of the line.
pub fn links(prose: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (number, line) in (1..).zip(prose.lines()) {
        let after = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        links.extend(after.map(|(target, _)| (number, target)));
    }
    links
}

/// What stands between backticks, on one line or two, with the number of the line.
pub fn code(prose: &str) -> Vec<(usize, &str)> {
    let mut number = 1;
    let mut parts = Vec::new();
    for part in prose.split('`') {
        parts.push((number, part));
        number += part.matches('\n').count();
    }
    parts.into_iter().skip(1).step_by(2).collect()
}

/// The anchors of the headings of a page.
pub fn anchors(page: &str) -> Vec<String> {
    let Ok((_, prose)) = parse(page) else { return Vec::new() };
    let headings = prose.iter().filter_map(|line| line.strip_prefix('#'));
    let anchor = |heading: &str| -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// Keys of references in a line, such as `LeLidec21` between brackets or backticks.
pub fn keys(line: &str) -> impl Iterator<Item = &str> {
    let is_key = |word: &&str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() == letters.len() + 2
            && letters.len() > 2
            && letters.starts_with(|c: char| c.is_ascii_uppercase())
            && letters.chars().all(|c| c.is_ascii_alphabetic())
            && letters.chars().any(|c| c.is_ascii_lowercase())
    };
    line.split(['[', ']', '`', '\\']).filter(is_key)
}
