//! Which file of a crate names what of which other one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// The code of a file without comments, strings and unit tests.
pub fn code(text: &str) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("#[cfg(test)]\nmod tests") {
            rest.len()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == '"' {
            string(rest)
        } else if c == 'r' && !code.ends_with(is_part_of_name) && is_raw_string(rest) {
            let end = format!("\"{}", "#".repeat(rest[1..].find('"').unwrap_or(0)));
            let start = 1 + end.len();
            rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len())
        } else if c == '\'' {
            character(rest)
        } else {
            code.push(c);
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    code
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_raw_string(text: &str) -> bool {
    text[1..].trim_start_matches('#').starts_with('"')
}

/// The length of the string at the start of `text`.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (k, c) in text.char_indices().skip(1) {
        if c == '"' && !escaped {
            return k + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// The length of the character at the start of `text`, or of the quote of a lifetime.
fn character(text: &str) -> usize {
    let mut inner = text[1..].chars();
    match (inner.next(), inner.next()) {
        (Some('\\'), Some(c)) => {
            let start = 2 + c.len_utf8();
            text[start..].find('\'').map_or(1, |end| start + end + 1)
        }
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 1,
    }
}

/// Names, `::` and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), code);
    while let Some(c) = rest.chars().next() {
        let length = if is_part_of_name(c) {
            rest.find(|c| !is_part_of_name(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            c.len_utf8()
        };
        if !c.is_whitespace() {
            tokens.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    tokens
}

/// A path as written, what it is called here, and whether it is only passed on.
#[derive(Debug, PartialEq)]
struct Used {
    path: Vec<String>,
    name: String,
    public: bool,
}

/// All paths of `use` declarations.
fn used(tokens: &[&str]) -> Vec<Used> {
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| **token == "use") {
        let public = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
        tree(&tokens[at + 1..], &[], public, &mut found);
    }
    found
}

/// Reads the tree of names at the start of `tokens`; how many tokens it has.
fn tree(tokens: &[&str], before: &[String], public: bool, found: &mut Vec<Used>) -> usize {
    let mut path = before.to_vec();
    let mut at = 0;
    let mut name = None;
    while let Some(&token) = tokens.get(at) {
        match token {
            "::" => {}
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|&token| token != "}") {
                    at += tree(&tokens[at..], &path, public, found);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            "as" => {
                name = tokens.get(at + 1).map(|name| name.to_string());
                at += 1;
            }
            "self" if !path.is_empty() => {}
            token if token == "*" || token.starts_with(is_part_of_name) => {
                path.push(token.to_string());
            }
            _ => break,
        }
        at += 1;
    }
    if let Some(last) = path.last() {
        let name = name.unwrap_or_else(|| last.clone());
        found.push(Used { path, name, public });
    }
    at
}

/// All paths of two names or more outside of `use` declarations. What a macro names by `$crate` is named where the
/// macro is used.
fn paths(tokens: &[&str]) -> Vec<Vec<String>> {
    let (mut found, mut path) = (Vec::new(), Vec::<String>::new());
    let (mut in_use, mut joined, mut last) = (false, false, "");
    for &token in tokens {
        let of_macro = std::mem::replace(&mut last, token) == "$";
        in_use = (in_use || token == "use") && token != ";";
        if token == "::" {
            joined = true;
            continue;
        }
        let is_name = token.starts_with(is_part_of_name);
        if !(joined && is_name) {
            found.push(std::mem::take(&mut path));
        }
        if is_name && !in_use {
            path.push(if of_macro { "$crate".to_string() } else { token.to_string() });
        }
        joined = false;
    }
    found.retain(|path| path.len() > 1);
    found
}

/// A file as a module of the crate.
struct File {
    path: PathBuf,
    module: Vec<String>,
    used: Vec<Used>,
    paths: Vec<Vec<String>>,
}

/// The files of a crate.
pub struct Crate {
    files: Vec<File>,
    by_module: HashMap<Vec<String>, usize>,
}

/// What files name of each other: from, to, the names.
pub type Imports = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

impl Crate {
    /// From the paths below `src` and the text of its files, `lib.rs` among them.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a Path, &'a str)>) -> Crate {
        let read = |(path, text): (&Path, &str)| {
            let code = code(text);
            let tokens = tokens(&code);
            let (path, module) = (path.to_path_buf(), module(path));
            File { path, module, used: used(&tokens), paths: paths(&tokens) }
        };
        let files: Vec<File> = files.into_iter().map(read).collect();
        let places = files.iter().enumerate().map(|(k, file)| (file.module.clone(), k));
        let by_module = places.collect();
        Crate { files, by_module }
    }

    /// Every name that a file takes from another one. What a `mod.rs` passes on is not its own; a
    /// module that is imported counts when something is taken from it.
    pub fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (from, file) in
            self.files.iter().enumerate().filter(|(_, file)| !file.module.is_empty())
        {
            let passes_on = file.path.ends_with("mod.rs");
            let own = file.used.iter().filter(|used| !(used.public && passes_on));
            let paths = own.map(|used| &used.path).chain(&file.paths);
            for path in paths {
                let Some(to) = self.find(from, path, 0) else { continue };
                if to != from && !self.files[to].module.is_empty() {
                    let to = imports
                        .entry(file.path.clone())
                        .or_default()
                        .entry(self.files[to].path.clone())
                        .or_default();
                    to.insert(path.join("::"));
                }
            }
        }
        imports
    }

    /// The file that defines what `path` means in the file `from`; none of another crate, none of a module.
    fn find(&self, from: usize, path: &[String], depth: usize) -> Option<usize> {
        let mut module = self.files[from].module.clone();
        let mut here = from;
        for (k, name) in path.iter().enumerate() {
            let is_last = k + 1 == path.len();
            match name.as_str() {
                "crate" if k == 0 => module.clear(),
                "self" if k == 0 => {}
                "super" => {
                    module.pop()?;
                }
                _ => {
                    module.push(name.clone());
                    let child = self.by_module.get(&module).copied();
                    let used = self.files[here].used.iter().find(|used| used.name == *name);
                    // `use x::Y` says nothing about x where x is the crate's own folder.
                    let used = used.filter(|used| depth < 16 && !(k == 0 && used.path == path));
                    match (child, used) {
                        (Some(child), None) => here = child,
                        (Some(child), Some(_)) if !is_last => here = child,
                        (_, Some(used)) => {
                            let full: Vec<String> =
                                used.path.iter().chain(&path[k + 1..]).cloned().collect();
                            return self.find(here, &full, depth + 1);
                        }
                        (None, None) if k == 0 => return None,
                        (None, None) => return Some(here),
                    }
                    continue;
                }
            }
            here = *self.by_module.get(&module)?;
        }
        None
    }
}

/// `a/b.rs` and `a/b/mod.rs` are the module a::b, `lib.rs` is the root.
fn module(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        path.with_extension("").iter().map(|name| name.to_str().unwrap().to_string()).collect();
    if names.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        names.pop();
    }
    names
}

/// The sets of more than one node that reach each other.
pub fn circles<'a, N: Ord + Clone>(edges: &'a BTreeMap<N, BTreeSet<N>>) -> Vec<BTreeSet<N>> {
    let reached = |start: &'a N| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
        while let Some(node) = next.pop() {
            for to in edges.get(node).into_iter().flatten() {
                if seen.insert(to) {
                    next.push(to);
                }
            }
        }
        seen
    };
    let all: BTreeMap<&N, BTreeSet<&N>> = edges.keys().map(|node| (node, reached(node))).collect();
    let mut circles = BTreeSet::new();
    for (node, reached) in &all {
        let both = |other: &&&N| all.get(**other).is_some_and(|back| back.contains(node));
        let circle: BTreeSet<N> = reached.iter().filter(both).map(|n| (*n).clone()).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}
