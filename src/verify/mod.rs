//! The same program differentiated in several ways, and compared.
