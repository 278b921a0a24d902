//! `stiction simulate` and `stiction init`, run as programs.

mod command;
mod contradictions;
mod driven;
mod plausible;
