//! `crownhead completions` and `crownhead man`: shell completions and manual pages.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap_complete::Shell;

use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Completions {
    /// Shell
    shell: Shell,
}

#[derive(clap::Args)]
pub(crate) struct Man {
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn completions(args: &Completions, mut command: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "crownhead", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(())
}

pub(crate) fn man(args: &Man, command: clap::Command) -> Result<(), Failure> {
    match &args.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(command, dir))
                .with_context(|| format!("cannot write manual pages to {}", dir.display()))?;
        }
        None => {
            // As in `generate_to`, so that the page is the same.
            let mut command = command.disable_help_subcommand(true);
            command.build();
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            std::io::stdout().lock().write_all(&page)?;
        }
    }
    Ok(())
}
