//! `crownhead` alone on a terminal: the home screen, and what is chosen there.

use std::fs::File;
use std::path::PathBuf;

use crownhead_play::StopFlag;
use crownhead_play::lessons::course;
use crownhead_records::GameFile;
use crownhead_rules::Game;
use crownhead_terminal::autosave::Autosave;
use crownhead_terminal::local_game::{LocalGame, Setup};
use crownhead_terminal::screen::{
    self, EditorScreen, HomeChoice, HomeScreen, LessonScreen, ViewScreen,
};

use super::play::{play, random_seed};
use super::serve;
use crate::failure::Failure;
use crate::output::{look, save_theme};
use crate::signals::stop_on_signals;

/// Shows the home screen until the user quits.
pub(crate) fn run() -> Result<(), Failure> {
    let stop = stop_on_signals();
    let mut home = HomeScreen::new(look(), random_seed());
    loop {
        home.set_look(look());
        screen::run(&mut home, &stop)?;
        if stop.is_set() {
            return Err(Failure::Interrupted);
        }
        save_theme(home.look());
        let Some(choice) = home.take_choice() else { return Ok(()) };
        match choice {
            HomeChoice::Serve => return serve::run(&serve::Args::for_menu()),
            HomeChoice::Play(setup) => start(*setup)?,
            HomeChoice::Learn(game) => {
                let course = course(&game).map_err(anyhow::Error::msg)?;
                screen::run(&mut LessonScreen::new(course, home.look()), &stop)?;
            }
            HomeChoice::Analyse(game) => edit(&game, &home, &stop)?,
            HomeChoice::Open(path) => {
                let path = expand_home(path);
                let opened = File::open(&path).map_err(|error| error.to_string());
                let viewer =
                    opened.and_then(|file| ViewScreen::new(GameFile::new(file), home.look()));
                match viewer {
                    Ok(mut viewer) => screen::run(&mut viewer, &stop)?,
                    Err(reason) => home.set_message(format!("{}: {reason}", path.display())),
                }
            }
        }
        if stop.is_set() {
            return Err(Failure::Interrupted);
        }
    }
}

/// Replaces `~` at the start of a path by the home directory, as a shell does.
fn expand_home(path: PathBuf) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

fn start(setup: Setup) -> Result<(), Failure> {
    let game = LocalGame::new(setup).map_err(|error| Failure::BadInput(error.to_string()))?;
    play(game, Autosave::new(), false, None)
}

/// Sets up positions, and plays from them.
fn edit(game: &Game, home: &HomeScreen, stop: &StopFlag) -> Result<(), Failure> {
    let mut editor = EditorScreen::new(game.clone(), home.look(), random_seed());
    loop {
        screen::run(&mut editor, stop)?;
        match editor.take_setup() {
            Some(setup) if !stop.is_set() => start(setup)?,
            _ => {
                save_theme(editor.look());
                return Ok(());
            }
        }
    }
}
