//! `crownhead completions` and `crownhead man`: what the command line can say about itself.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap_complete::Shell;

use super::Failure;

#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell to complete for
    shell: Shell,
}

#[derive(clap::Args)]
pub(crate) struct Man {
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

pub(crate) fn completions(
    arguments: &Completions,
    mut command: clap::Command,
) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "crownhead", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(())
}

pub(crate) fn man(arguments: &Man, command: clap::Command) -> Result<(), Failure> {
    match &arguments.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(command, dir))
                .with_context(|| {
                    format!("the manual pages could not be written to {}", dir.display())
                })?;
        }
        None => {
            // As `generate_to` does it, so that the page is the same.
            let mut command = command.disable_help_subcommand(true);
            command.build();
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            std::io::stdout().lock().write_all(&page)?;
        }
    }
    Ok(())
}
