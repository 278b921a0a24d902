//! The `stiction` program: see [`stiction::cli`].

fn main() -> std::process::ExitCode {
    stiction::cli::main()
}
