//! placeholder
use super::Failure;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// x
    New,
}
pub(crate) fn run(_: Command) -> Result<(), Failure> {
    Ok(())
}
