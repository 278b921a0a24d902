//! Each way can fail, and the comparison says so.
