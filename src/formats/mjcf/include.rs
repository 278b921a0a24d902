//! Files included in files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::formats::reach;
use crate::formats::xml::{self, Element};
use crate::text;

/// How deep files include each other.
const MOST_LEVELS: usize = 16;
/// Files of one model.
const MOST_FILES: usize = 1000;
/// Elements of one model.
const MOST_ELEMENTS: usize = 2_000_000;
/// How deep elements of all files stand in each other.
const MOST_DEPTH: usize = 200;

/// The root with the elements of included files in the place of `include`. Paths are relative to the
/// directory of the first file.
pub(super) fn resolve(root: Element, directory: &Path) -> Result<Element, Error> {
    let mut files = Files { directory, seen: HashSet::new(), open: Vec::new(), elements: 0 };
    files.resolve(root, 1)
}

struct Files<'a> {
    directory: &'a Path,
    seen: HashSet<PathBuf>,
    /// Those that are being read, the outermost first.
    open: Vec<PathBuf>,
    elements: usize,
}

impl Files<'_> {
    fn resolve(&mut self, mut element: Element, depth: usize) -> Result<Element, Error> {
        self.elements += 1;
        if self.elements > MOST_ELEMENTS {
            let message = format!("the model has more than {MOST_ELEMENTS} elements");
            return Err(element.error("", message));
        }
        if depth > MOST_DEPTH {
            let message = format!("stands more than {MOST_DEPTH} levels deep");
            return Err(element.error("", message));
        }
        let children = std::mem::take(&mut element.children);
        for child in children {
            self.add(child, &mut element.children, depth + 1)?;
        }
        Ok(element)
    }

    /// Adds an element, or what it includes.
    fn add(
        &mut self,
        element: Element,
        siblings: &mut Vec<Element>,
        depth: usize,
    ) -> Result<(), Error> {
        if element.tag != "include" {
            siblings.push(self.resolve(element, depth)?);
            return Ok(());
        }
        let path = self.directory.join(element.required("file")?);
        reach::check(&path, self.directory).map_err(|message| element.error("file", message))?;
        let message = |error: std::io::Error| {
            element.error("file", format!("cannot read {}: {error}", path.display()))
        };
        // One name for one file, so that cycles are found.
        let file = text::canonical(&path).map_err(message)?;
        if !text::is_file(&file) {
            return Err(element.error("file", format!("{} is not a file", path.display())));
        }
        if self.open.contains(&file) {
            return Err(element.error("file", format!("{} includes itself", path.display())));
        }
        if self.open.len() >= MOST_LEVELS {
            let message = format!("files include each other more than {MOST_LEVELS} levels deep");
            return Err(element.error("file", message));
        }
        if !self.seen.insert(file.clone()) {
            let message = format!("{} is included twice", path.display());
            return Err(element.error("file", message));
        }
        if self.seen.len() > MOST_FILES {
            let message = format!("the model has more than {MOST_FILES} files");
            return Err(element.error("file", message));
        }
        let root = xml::parse(&xml::read(&path)?, &path.display().to_string())?;
        self.open.push(file);
        for child in root.children {
            self.add(child, siblings, depth)?;
        }
        self.open.pop();
        Ok(())
    }
}
