//! What readers of scenes ask of the disk, kept, so that a scene can be read again where its files are not.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files that were read for something, and where they were found: enough to read it again, with the same bits, where they are
/// not.
///
/// ```
/// use stiction::formats::KeptFiles;
/// use stiction::model::Scene;
///
/// let path = "examples/slides/scene.toml";
/// let (scene, files) = KeptFiles::keep(|| Scene::load(path));
/// // Wherever these are sent to:
/// let entries: Vec<(String, Vec<u8>)> =
///     files.entries().map(|(name, bytes)| (name.to_string(), bytes.to_vec())).collect();
/// let files = KeptFiles::from_entries(entries);
/// assert_eq!(files.read(|| Scene::load(path))?, scene?);
/// // Nothing else is there then.
/// assert!(files.read(|| Scene::load("examples/learned_cam/true.toml")).is_err());
/// # Ok::<(), stiction::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptFiles(Arc<Answers>);

/// By what was asked. What is not there was not answered well.
type Answers = BTreeMap<String, Vec<u8>>;

/// Who answers the readers on this thread.
enum Desk {
    Disk,
    /// The disk, and what it says is written down.
    Noting(Answers),
    /// What was written down.
    Kept(Arc<Answers>),
}

thread_local! {
    // Readers are on one thread, and ask from deep inside of what they parse.
    static DESK: RefCell<Desk> = const { RefCell::new(Desk::Disk) };
}

/// Puts back who answered before, after a panic too.
struct Before(Option<Desk>);

impl Drop for Before {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            DESK.replace(before);
        }
    }
}

impl KeptFiles {
    /// What `f` comes to, and the files that it read on this thread.
    pub fn keep<R>(f: impl FnOnce() -> R) -> (R, KeptFiles) {
        let mut before = Before(Some(DESK.replace(Desk::Noting(Answers::new()))));
        let result = f();
        let noted = before.0.take().map(|before| DESK.replace(before));
        let answers = match noted {
            Some(Desk::Noting(answers)) => answers,
            _ => Answers::new(),
        };
        (result, KeptFiles(Arc::new(answers)))
    }

    /// What `f` comes to if these files are all that there is on this thread.
    pub fn read<R>(&self, f: impl FnOnce() -> R) -> R {
        let _before = Before(Some(DESK.replace(Desk::Kept(self.0.clone()))));
        f()
    }

    /// All of it as bytes by names, in the order of these.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// From [`entries`](Self::entries).
    pub fn from_entries(entries: impl IntoIterator<Item = (String, Vec<u8>)>) -> KeptFiles {
        KeptFiles(Arc::new(entries.into_iter().collect()))
    }
}

/// What is asked, and about what: paths, as they are named.
#[derive(Clone, Copy)]
enum Question<'a> {
    /// The bytes of a file.
    Contents(&'a Path),
    /// Whether a file is there.
    Exists(&'a Path),
    /// The one name of a file.
    Canonical(&'a Path),
    /// Whether a model in a folder may read a file.
    Reach(&'a Path, &'a Path),
    /// Where a model in a folder finds what it names.
    Place(&'a str, &'a Path),
}

impl Question<'_> {
    fn name(self) -> String {
        match self {
            Question::Contents(file) => format!("contents\n{}", file.display()),
            Question::Exists(file) => format!("exists\n{}", file.display()),
            Question::Canonical(file) => format!("canonical\n{}", file.display()),
            Question::Reach(file, folder) => {
                format!("reach\n{}\n{}", file.display(), folder.display())
            }
            Question::Place(name, folder) => format!("place\n{name}\n{}", folder.display()),
        }
    }
}

/// The answer of `disk`, or the one that was kept; `lost` where there is none.
fn ask<E>(
    question: Question,
    lost: impl FnOnce() -> E,
    disk: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    let kept = DESK.with_borrow(|desk| match desk {
        Desk::Kept(answers) => Some(answers.get(&question.name()).cloned()),
        Desk::Disk | Desk::Noting(_) => None,
    });
    if let Some(answer) = kept {
        return answer.ok_or_else(lost);
    }
    let answer = disk()?;
    DESK.with_borrow_mut(|desk| {
        if let Desk::Noting(answers) = desk
            && let Entry::Vacant(place) = answers.entry(question.name())
        {
            place.insert(answer.clone());
        }
    });
    Ok(answer)
}

/// The bytes of a file as `disk` reads them, or as they were kept.
pub(super) fn contents<E>(
    file: &Path,
    lost: impl FnOnce() -> E,
    disk: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    ask(Question::Contents(file), lost, disk)
}

/// Whether there is such a file.
pub(crate) fn is_file(file: &Path) -> bool {
    let disk = || if file.is_file() { Ok(Vec::new()) } else { Err(()) };
    ask(Question::Exists(file), || (), disk).is_ok()
}

/// The one name of a file.
pub(crate) fn canonical(file: &Path) -> std::io::Result<PathBuf> {
    let lost = || std::io::Error::from(std::io::ErrorKind::NotFound);
    let disk = || Ok(bytes_of(&std::fs::canonicalize(file)?));
    Ok(path_of(&ask(Question::Canonical(file), lost, disk)?))
}

/// Whether a model in a folder may read a file, as `disk` says it.
pub(crate) fn reach(
    file: &Path,
    folder: &Path,
    disk: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let lost = || format!("{} is not among the files that were kept", file.display());
    ask(Question::Reach(file, folder), lost, || disk().map(|()| Vec::new())).map(|_| ())
}

/// Where a model in a folder finds what it names, as `disk` says it.
pub(crate) fn place(
    name: &str,
    folder: &Path,
    disk: impl FnOnce() -> Result<Option<PathBuf>, String>,
) -> Result<Option<PathBuf>, String> {
    let lost = || format!("{name} is not among the files that were kept");
    let disk = || Ok(disk()?.map_or_else(Vec::new, |path| bytes_of(&path)));
    let found = ask(Question::Place(name, folder), lost, disk)?;
    Ok(Some(path_of(&found)).filter(|_| !found.is_empty()))
}

fn bytes_of(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
