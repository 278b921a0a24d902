//! `stiction simulate` and `stiction init`, run as programs.

mod command;
mod driven;
mod plausible;
