//! Saves unfinished games in the user's data directory after every move, so that neither a closed
//! terminal nor a crash loses a game. Finished games are deleted.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crownhead_files::AtomicFile;
use crownhead_files::data_dir;
use crownhead_play::TimeControl;
use crownhead_records::{GameRecord, Reader, format_game};
use crownhead_rules::{Game, Side};

use crate::local_game::{LocalGame, Seat};

/// The file of one unfinished game.
pub struct Autosave {
    folder: PathBuf,
    /// `None` until the game is saved for the first time.
    path: Option<PathBuf>,
    /// The file, locked while the game is played here.
    lock: Option<File>,
    /// Why the current state is not saved, in a sentence.
    error: Option<String>,
}

/// Tag with the milliseconds left on both clocks.
const CLOCKS_TAG: &str = "Clocks";
/// Tag with the working directory that the commands of bots refer to.
const FOLDER_TAG: &str = "Folder";

impl Autosave {
    /// Prepares to save a new game; `None` if there is no data directory.
    pub fn new() -> Option<Autosave> {
        let folder = data_dir()?.join("unfinished");
        Some(Autosave { folder, path: None, lock: None, error: None })
    }

    /// Saves the game. A game that is over, has no moves yet or is played by two computers is
    /// deleted instead. An error does not prevent the next attempt.
    pub fn save(&mut self, game: &LocalGame) {
        let is_unfinished = !game.is_over() && game.has_human() && game.session().plies() > 0;
        self.error = if is_unfinished {
            self.write(game).err().map(|error| format!("The game cannot be saved: {error}."))
        } else {
            let deleted = self.delete();
            deleted.err().map(|error| format!("The saved game cannot be deleted: {error}."))
        };
    }

    fn write(&mut self, game: &LocalGame) -> io::Result<()> {
        let mut record = game.record();
        if let (Some(first), Some(second)) =
            (game.time_left(Side::First), game.time_left(Side::Second))
        {
            record.set_tag(CLOCKS_TAG, format!("{} {}", first.as_millis(), second.as_millis()));
        }
        if game.setup().seats.iter().any(Seat::is_program) {
            record.set_tag(FOLDER_TAG, std::env::current_dir()?.display().to_string());
        }
        let text = format_game(&record).map_err(io::Error::other)?;
        let path = match &self.path {
            Some(path) => path.clone(),
            None => {
                std::fs::create_dir_all(&self.folder)?;
                let id = game.setup().game.info().id;
                // One process never starts two games within a millisecond.
                let name = format!("{:015}-{}-{id}.pdn", now_millis(), std::process::id());
                self.folder.join(name)
            }
        };
        let file = AtomicFile::create(&path)?;
        (&file).write_all(text.as_bytes())?;
        // Locked before it is renamed into place, so that no other process can load it in between.
        let lock = file.file().try_clone()?;
        let _ = lock.try_lock();
        file.commit()?;
        (self.path, self.lock) = (Some(path), Some(lock));
        Ok(())
    }

    /// Deletes the saved game.
    fn delete(&mut self) -> io::Result<()> {
        self.lock = None;
        match self.path.take().map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the current state of the game is saved.
    pub fn is_saved(&self) -> bool {
        self.path.is_some() && self.error.is_none()
    }

    /// Why saving failed, in a sentence.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Message for a user who leaves the game; `None` if there is nothing to save.
    pub fn quit_message(&self) -> Option<&str> {
        let saved = "Game saved. Resume it with: crownhead play --resume";
        self.error().or(self.is_saved().then_some(saved))
    }
}

fn now_millis() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis())
}

/// There is no unfinished game.
#[derive(Debug, thiserror::Error)]
#[error("there is no unfinished game{0} to resume")]
pub struct NoSavedGame(String);

/// Loads the game saved last, of the given game or of any. `on_skip` is called with a message for
/// every file that cannot be loaded.
pub fn load_latest(
    game: Option<&Game>,
    mut on_skip: impl FnMut(String),
) -> Result<(LocalGame, Autosave), NoSavedGame> {
    let none =
        || NoSavedGame(game.map_or(String::new(), |game| format!(" of {}", game.info().name)));
    let folder = data_dir().ok_or_else(none)?.join("unfinished");
    let files = std::fs::read_dir(&folder).map_err(|_| none())?;
    let mut paths: Vec<_> = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pdn"))
        .map(|path| (path.metadata().and_then(|data| data.modified()).ok(), path))
        .collect();
    paths.sort();
    for (_, path) in paths.into_iter().rev() {
        match load(&path, game) {
            Ok(Some((game, lock))) => {
                let autosave = Autosave { folder, path: Some(path), lock: Some(lock), error: None };
                return Ok((game, autosave));
            }
            Ok(None) => {}
            Err(reason) => on_skip(format!("skipped {}: {reason}", path.display())),
        }
    }
    Err(none())
}

/// Loads a saved game and locks its file; `None` if it is of another game than `filter`.
fn load(path: &Path, filter: Option<&Game>) -> Result<Option<(LocalGame, File)>, String> {
    let text = |error: io::Error| error.to_string();
    // Opening a pipe would block.
    if !path.metadata().map_err(text)?.is_file() {
        return Err("not a regular file".into());
    }
    let file = File::open(path).map_err(text)?;
    let record = read_record(&file)?;
    if filter.is_some_and(|filter| !matches(&record.game, filter)) {
        return Ok(None);
    }
    // On a file system without locks, assume that nobody else has the game open.
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err("the game is open in another terminal".into());
    }
    let time_control = match record.tag("TimeControl") {
        None => TimeControl::Unlimited,
        Some(text) => TimeControl::parse_tag(text).map_err(|error| error.to_string())?,
    };
    let time_left = record.tag(CLOCKS_TAG).and_then(|text| {
        let (first, second) = text.split_once(' ')?;
        Some([first.parse().ok()?, second.parse().ok()?].map(Duration::from_millis))
    });
    if let Some(folder) = record.tag(FOLDER_TAG)
        && !std::env::current_dir().is_ok_and(|current| current.display().to_string() == folder)
    {
        return Err(format!("its bot was started in {folder}: resume it there"));
    }
    let game = LocalGame::resume(&record, time_control, time_left, now_millis() as u64)?;
    Ok(Some((game, file)))
}

/// Returns whether a game is the one asked for. A game without options stands for all its variants.
fn matches(game: &Game, filter: &Game) -> bool {
    let has_default_options =
        filter.info().id.parse::<Game>().is_ok_and(|default| default == *filter);
    game == filter || (has_default_options && game.info().id == filter.info().id)
}

fn read_record(file: &File) -> Result<GameRecord, String> {
    match Reader::new(file).next() {
        Some(Ok(record)) => Ok(record),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("the file has no game".into()),
    }
}
