//! The module `stiction` of Python (PyO3, NumPy): [`Transition`](crate::transition::Transition) and
//! [`fit`](crate::identify::fit) on arrays. Its Python part, `stiction/`, wraps them for other libraries.

mod arguments;
mod calls;
mod casadi_library;
mod comm;
mod contact_dict;
mod evaluation;
mod exceptions;
mod free_memory;
mod given_experiment;
mod identification;
mod numpy_arrays;
mod pages;
mod pickles;
mod reduced;
mod scene;
mod scene_arguments;
mod scene_files;
mod scene_source;
mod soft_scene;
mod step_jacobian;
mod still_array;
mod unknown_names;

use pyo3::pymodule;

#[pymodule]
mod _stiction {
    #[pymodule_export]
    use crate::python::casadi_library::_casadi_library;
    #[pymodule_export]
    use crate::python::evaluation::_evaluate;
    use crate::python::exceptions::unknown_name_error;
    #[pymodule_export]
    use crate::python::exceptions::{Error, ImplausibleWarning, UnsolvedWarning};
    #[pymodule_export]
    use crate::python::identification::{_gave_up, Identification, identify};
    #[pymodule_export]
    use crate::python::pages::_page;
    #[pymodule_export]
    use crate::python::pickles::{
        _restored_identification, _restored_jacobian, _restored_scene, _restored_soft_scene,
    };
    #[pymodule_export]
    use crate::python::scene::Scene;
    #[pymodule_export]
    use crate::python::scene_files::{load, parse};
    #[pymodule_export]
    use crate::python::soft_scene::{SoftScene, load_soft, parse_soft};
    #[pymodule_export]
    use crate::python::step_jacobian::Jacobian;
    #[pymodule_export]
    use crate::python::unknown_names::_unknown_name;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("UnknownNameError", unknown_name_error(py)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
