//! The `compiler` element: how the file is written.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::formats::reach;
use crate::formats::xml::{Element, Remarks, Unfollowed};

/// When masses are those of the geoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InertiaFromGeom {
    Never,
    /// Of bodies without `inertial`.
    Missing,
    Always,
}

/// What it says.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    pub degrees: bool,
    /// Axes of Euler angles; capital letters turn about axes that stay.
    pub euler_sequence: [u8; 3],
    /// Whether a range is a limit without `limited`.
    pub auto_limits: bool,
    pub inertia_from_geom: InertiaFromGeom,
    /// Groups of geoms that have mass.
    pub inertia_groups: [f64; 2],
    pub balance_inertia: bool,
    pub least_mass: f64,
    pub least_inertia: f64,
    pub total_mass: Option<f64>,
    pub fit_bounds: bool,
    strip_path: bool,
    directory: PathBuf,
    mesh_directory: PathBuf,
}

const FOLLOWED: [&str; 15] = [
    "angle",
    "assetdir",
    "autolimits",
    "balanceinertia",
    "boundinertia",
    "boundmass",
    "coordinate",
    "eulerseq",
    "fitaabb",
    "inertiafromgeom",
    "inertiagrouprange",
    "meshdir",
    "settotalmass",
    "strippath",
    // Which textures are read.
    "texturedir",
];

/// Bodies may be fused, visuals discarded: the motion stays.
const INERT: [&str; 10] = [
    "discardvisual",
    "fusestatic",
    "passthrough",
    "savecanonical",
    "savecompiled",
    "saveinertial",
    "usethread",
    "conflict",
    "convexhull",
    "exactmeshinertia",
];

const UNFOLLOWED: [Unfollowed; 1] = [Unfollowed {
    name: "alignfree",
    neutral: "false",
    instead: "is not followed: frames of free bodies stay where the file puts them",
}];

impl Compiler {
    /// Of all `compiler` elements together.
    pub fn read(
        root: &Element,
        directory: &Path,
        remarks: &mut Remarks,
    ) -> Result<Compiler, Error> {
        let mut compiler = Compiler {
            degrees: true,
            euler_sequence: *b"xyz",
            auto_limits: true,
            inertia_from_geom: InertiaFromGeom::Missing,
            inertia_groups: [0.0, 5.0],
            balance_inertia: false,
            least_mass: 0.0,
            least_inertia: 0.0,
            total_mass: None,
            fit_bounds: false,
            strip_path: false,
            directory: directory.to_path_buf(),
            mesh_directory: PathBuf::new(),
        };
        let (mut assets, mut meshes) = (None, None);
        for element in root.all("compiler") {
            element.remark_on_others(&FOLLOWED, &INERT, &UNFOLLOWED, remarks);
            compiler.add(element)?;
            assets = element.get("assetdir").or(assets);
            meshes = element.get("meshdir").or(meshes);
        }
        compiler.mesh_directory = meshes.or(assets).map(PathBuf::from).unwrap_or_default();
        Ok(compiler)
    }

    fn add(&mut self, element: &Element) -> Result<(), Error> {
        fn set<V>(slot: &mut V, value: Option<V>) {
            if let Some(value) = value {
                *slot = value;
            }
        }
        set(&mut self.degrees, element.word("angle", &[("degree", true), ("radian", false)])?);
        set(&mut self.auto_limits, element.boolean("autolimits")?);
        set(&mut self.balance_inertia, element.boolean("balanceinertia")?);
        set(&mut self.fit_bounds, element.boolean("fitaabb")?);
        set(&mut self.strip_path, element.boolean("strippath")?);
        set(&mut self.least_mass, element.amount("boundmass")?);
        set(&mut self.least_inertia, element.amount("boundinertia")?);
        set(&mut self.inertia_groups, element.numbers("inertiagrouprange")?);
        if let Some(total) = element.number("settotalmass")? {
            self.total_mass = Some(total).filter(|&total| total > 0.0);
        }
        let words = [
            ("auto", InertiaFromGeom::Missing),
            ("true", InertiaFromGeom::Always),
            ("false", InertiaFromGeom::Never),
        ];
        set(&mut self.inertia_from_geom, element.word("inertiafromgeom", &words)?);
        if element.word("coordinate", &[("local", false), ("global", true)])? == Some(true) {
            let message = "global coordinates are not read; convert the file to local ones";
            return Err(element.error("coordinate", message));
        }
        if let Some(sequence) = element.get("eulerseq") {
            let letters = <[u8; 3]>::try_from(sequence.as_bytes()).ok();
            let known = letters.filter(|letters| letters.iter().all(|l| b"xyzXYZ".contains(l)));
            self.euler_sequence = known.ok_or_else(|| {
                element.error("eulerseq", "must be three letters of x, y, z, X, Y, Z")
            })?;
        }
        Ok(())
    }

    /// An angle in radians.
    pub fn angle(&self, angle: f64) -> f64 {
        if self.degrees { angle.to_radians() } else { angle }
    }

    /// Where a mesh or height field is.
    pub fn mesh_path(&self, file: &str) -> PathBuf {
        let mut file = PathBuf::from(file);
        if self.strip_path {
            // Of paths of either system.
            let name = file.to_string_lossy();
            file = PathBuf::from(name.rsplit(['/', '\\']).next().unwrap_or_default());
        }
        self.directory.join(&self.mesh_directory).join(file)
    }

    /// An error if a file is none that this model may read.
    pub fn check_reach(&self, path: &Path) -> Result<(), String> {
        reach::check(path, &self.directory)
    }

    /// Whether a range limits: `limited` as it is given, or by the presence of the range.
    pub fn limits(&self, limited: Option<bool>, has_range: bool) -> bool {
        limited.unwrap_or(self.auto_limits && has_range)
    }
}
