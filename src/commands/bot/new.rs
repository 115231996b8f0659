//! `crownhead bot new`: creates a bot from a starter kit.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use crownhead_bots::StarterKit;
use crownhead_rules::Game;

use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// python, c, cpp, rust, java or javascript; or for an original assignment: c-function,
    /// cpp-function or tcp-int32
    #[arg(value_name = "LANGUAGE")]
    language: String,
    /// Folder to create; gives the bot its name
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let kit = StarterKit::find(&args.language).map_err(Failure::Usage)?;
    let folder = args.folder.display().to_string();
    kit.write(&args.folder).with_context(|| format!("cannot create a bot in {folder}"))?;
    // A path with a slash is a folder wherever a player is named.
    let bot = match folder.contains('/') {
        true => shell_quote(&folder),
        false => shell_quote(&format!("./{folder}")),
    };
    let (file, _) = kit.files[0];
    let [default_game, ..] = Game::all();
    let game = kit.game().unwrap_or(default_game.info().id);
    let game_option = kit.game().map(|game| format!(" --game {game}")).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{folder}/{file} is a complete bot (requires {}). Next:", kit.needs)?;
    writeln!(out, "  crownhead bot check {bot} --game {game}")?;
    writeln!(out, "  crownhead match {bot} random --game {game} -n 20")?;
    writeln!(out, "  crownhead bot play {bot}{game_option}")?;
    Ok(())
}

/// Quotes a word for a POSIX shell, if necessary.
fn shell_quote(word: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if word.chars().all(is_safe) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
