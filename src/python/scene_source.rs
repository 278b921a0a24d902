//! What a scene was read from, which a pickle carries: the same is read from it where the files are not.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::Error;
use crate::formats::{KeptFiles, LoadOptions};
use crate::model::Scene as Description;
use crate::soft::SoftScene as SoftDescription;

/// Bytes of a pickle that are unpacked.
const MOST_BYTES: u64 = 1 << 32;

/// What was asked for, with the files that were read for it.
pub(super) struct Source {
    request: Request,
    files: KeptFiles,
    /// As pickles have it: an executor asks again and again.
    packed: OnceLock<Vec<u8>>,
}

/// How a scene was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    /// The file, or what stands for it.
    pub name: String,
    /// In place of the file.
    pub text: Option<String>,
    pub floating_base: bool,
    pub max_hull_vertices: Option<usize>,
    pub keyframe: Option<String>,
}

impl Request {
    /// Of a file with this name.
    pub fn of_file(path: &Path) -> Request {
        let name = path.display().to_string();
        Request { name, text: None, floating_base: false, max_hull_vertices: None, keyframe: None }
    }

    /// Of a text.
    pub fn of_text(text: &str, name: &str) -> Request {
        Request { text: Some(text.to_string()), ..Request::of_file(Path::new(name)) }
    }

    fn scene(&self, path: &Path) -> Result<Description, Error> {
        let Request { name, text, floating_base, max_hull_vertices, keyframe } = self;
        let (floating_base, max_hull_vertices) = (*floating_base, *max_hull_vertices);
        let options = LoadOptions { floating_base, max_hull_vertices, ..LoadOptions::default() };
        let mut scene = match text {
            Some(text) => Description::parse(text, name)?,
            None => Description::load_with(path, options)?,
        };
        if let Some(keyframe) = keyframe {
            scene.start_at(keyframe, name)?;
        }
        Ok(scene)
    }

    fn soft_scene(&self, path: &Path) -> Result<Option<SoftDescription>, Error> {
        match &self.text {
            Some(text) => SoftDescription::parse(text, &self.name),
            None => SoftDescription::load(path),
        }
    }
}

impl Source {
    /// Reads the scene that is asked for; `path` is that of the file.
    pub fn read_scene(request: Request, path: &Path) -> Result<(Description, Source), Error> {
        let (scene, files) = KeptFiles::keep(|| request.scene(path));
        Ok((scene?, Source { request, files, packed: OnceLock::new() }))
    }

    /// The same of soft bodies; nothing if it has none.
    pub fn read_soft_scene(
        request: Request,
        path: &Path,
    ) -> Result<(Option<SoftDescription>, Source), Error> {
        let (scene, files) = KeptFiles::keep(|| request.soft_scene(path));
        Ok((scene?, Source { request, files, packed: OnceLock::new() }))
    }

    /// The scene once more, from what was kept.
    pub fn scene(&self) -> Result<Description, Error> {
        self.files.read(|| self.request.scene(Path::new(&self.request.name)))
    }

    /// Likewise that of soft bodies.
    pub fn soft_scene(&self) -> Result<Option<SoftDescription>, Error> {
        self.files.read(|| self.request.soft_scene(Path::new(&self.request.name)))
    }

    /// The file, as it was given.
    pub fn name(&self) -> &str {
        &self.request.name
    }

    /// As pickles have it.
    pub fn packed(&self) -> &[u8] {
        self.packed.get_or_init(|| {
            let Request { name, text, floating_base, max_hull_vertices, keyframe } = &self.request;
            let mut parts = Parts::default();
            parts.put(name.as_bytes());
            parts.put_option(text.as_deref().map(str::as_bytes));
            parts.put(&[u8::from(*floating_base)]);
            let most = max_hull_vertices.map(|most| (most as u64).to_le_bytes());
            parts.put_option(most.as_ref().map(<[u8; 8]>::as_slice));
            parts.put_option(keyframe.as_deref().map(str::as_bytes));
            for (name, bytes) in self.files.entries() {
                parts.put(name.as_bytes());
                parts.put(bytes);
            }
            parts.packed()
        })
    }

    /// From [`packed`](Self::packed); nothing if that is damaged.
    pub fn of_packed(packed: &[u8]) -> Option<Source> {
        let bytes = unpacked(packed)?;
        let mut parts = PartsLeft(&bytes);
        let name = parts.take_text()?;
        let text = parts.take_optional(text_of)?;
        let floating_base = *parts.take()? == [1];
        let most = parts.take_optional(number_of)?;
        let max_hull_vertices = most.map(usize::try_from).transpose().ok()?;
        let keyframe = parts.take_optional(text_of)?;
        let mut files = Vec::new();
        while !parts.0.is_empty() {
            files.push((parts.take_text()?, parts.take()?.to_vec()));
        }
        Some(Source {
            request: Request { name, text, floating_base, max_hull_vertices, keyframe },
            files: KeptFiles::from_entries(files),
            packed: OnceLock::from(packed.to_vec()),
        })
    }
}

/// Byte strings one after the other, each behind its length.
#[derive(Default)]
pub(super) struct Parts(Vec<u8>);

impl Parts {
    pub fn put(&mut self, part: &[u8]) {
        self.0.extend((part.len() as u64).to_le_bytes());
        self.0.extend(part);
    }

    /// Nothing is other than an empty string.
    fn put_option(&mut self, part: Option<&[u8]>) {
        self.put(&[u8::from(part.is_some())]);
        self.put(part.unwrap_or_default());
    }

    pub fn put_texts(&mut self, texts: &[String]) {
        self.put(&(texts.len() as u64).to_le_bytes());
        texts.iter().for_each(|text| self.put(text.as_bytes()));
    }

    pub fn put_numbers(&mut self, numbers: &[f64]) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.put(&bytes);
    }

    /// Compressed, with a check sum, so that damage does not go unseen.
    pub fn packed(&self) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        // Cannot fail: it goes to memory.
        let written = encoder.write_all(&self.0).and_then(|()| encoder.finish());
        written.unwrap_or_default()
    }
}

/// The bytes of [`Parts`]; nothing if they are damaged.
pub(super) fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The parts that are left.
pub(super) struct PartsLeft<'a>(pub &'a [u8]);

impl<'a> PartsLeft<'a> {
    pub fn take(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (part, rest) =
            rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        self.0 = rest;
        Some(part)
    }

    fn take_optional<T>(&mut self, of: impl Fn(&[u8]) -> Option<T>) -> Option<Option<T>> {
        let is_there = *self.take()? == [1];
        let part = self.take()?;
        if is_there { of(part).map(Some) } else { Some(None) }
    }

    fn take_text(&mut self) -> Option<String> {
        text_of(self.take()?)
    }

    pub fn take_texts(&mut self) -> Option<Vec<String>> {
        let count = number_of(self.take()?)?;
        (0..count).map(|_| self.take_text()).collect()
    }

    pub fn take_numbers(&mut self) -> Option<Vec<f64>> {
        let (numbers, rest) = self.take()?.as_chunks();
        rest.is_empty().then(|| numbers.iter().map(|x| f64::from_le_bytes(*x)).collect())
    }
}

fn text_of(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

fn number_of(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_le_bytes)
}
