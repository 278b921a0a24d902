//! Physical parameters from recorded motion.
