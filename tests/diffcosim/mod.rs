//! Systems of points with impacts, and what networks learn of them, against answers of other programs [Zhong21].

mod archive;
mod closed_forms;
mod events;
mod fields;
mod gradients;
mod joints;
mod known_potential;
mod network;
mod pieces;
mod start;
mod steps;
mod system_files;
mod training;
