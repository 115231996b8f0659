//! Unfinished games, kept in the user's data directory after every move, so that neither a lost
//! terminal nor a lost machine loses a game. A finished game is kept no longer.

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

/// Where one unfinished game is kept.
pub struct Autosave {
    folder: PathBuf,
    path: Option<PathBuf>,
    /// The file, locked as long as the game is played here.
    lock: Option<File>,
    /// A sentence on why the game as it is now is not kept.
    error: Option<String>,
}

/// A tag of ours: milliseconds left on the clock of the first and of the second player.
const CLOCKS: &str = "Clocks";
/// The tag with the folder that programs were named in.
const FOLDER: &str = "Folder";

impl Autosave {
    /// For a new game. `None` if there is no place for data.
    pub fn new() -> Option<Autosave> {
        let folder = data_dir()?.join("unfinished");
        Some(Autosave { folder, path: None, lock: None, error: None })
    }

    /// Keeps the game as it is now; a finished game, or one in which a computer plays itself, or
    /// nothing has happened, is not kept. What fails now may succeed after the next move.
    pub fn save(&mut self, live: &LocalGame) {
        let unfinished = !live.is_over() && live.has_human() && live.session().plies() > 0;
        self.error = if unfinished {
            self.write(live).err().map(|error| format!("The game cannot be kept: {error}."))
        } else {
            self.delete().err().map(|error| format!("The game is still kept: {error}."))
        };
    }

    fn write(&mut self, live: &LocalGame) -> io::Result<()> {
        let mut record = live.record();
        if let (Some(first), Some(second)) =
            (live.time_left(Side::First), live.time_left(Side::Second))
        {
            record.set_tag(CLOCKS, format!("{} {}", first.as_millis(), second.as_millis()));
        }
        if live.setup().seats.iter().any(Seat::is_program) {
            record.set_tag(FOLDER, std::env::current_dir()?.display().to_string());
        }
        let text = format_game(&record).map_err(io::Error::other)?;
        let path = match &self.path {
            Some(path) => path.clone(),
            None => {
                std::fs::create_dir_all(&self.folder)?;
                let id = live.setup().game.info().id;
                // Two games begun in the same millisecond would be one: by one process they are not.
                let name = format!("{:015}-{}-{id}.pdn", now(), std::process::id());
                self.folder.join(name)
            }
        };
        let file = AtomicFile::create(&path)?;
        file.file().write_all(text.as_bytes())?;
        // Locked before it is in its place: nobody can take it up in between.
        let held = file.file().try_clone()?;
        let _ = held.try_lock();
        file.commit()?;
        (self.path, self.lock) = (Some(path), Some(held));
        Ok(())
    }

    /// The game is kept no longer.
    fn delete(&mut self) -> io::Result<()> {
        self.lock = None;
        match self.path.take().map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the game as it is now can be taken up again.
    pub fn is_saved(&self) -> bool {
        self.path.is_some() && self.error.is_none()
    }

    /// A sentence on what went wrong with keeping it, if something did.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis())
}

/// There is nothing to take up again: a sentence.
#[derive(Debug, thiserror::Error)]
#[error("there is no unfinished game{0} to take up again")]
pub struct NoSavedGame(String);

/// Takes up the unfinished game that was left last, of one game or of any. Whatever else lies in the
/// folder is passed over, and `passed` told why.
pub fn load_latest(
    game: Option<&Game>,
    mut passed: impl FnMut(String),
) -> Result<(LocalGame, Autosave), NoSavedGame> {
    let none =
        || NoSavedGame(game.map_or(String::new(), |game| format!(" of {}", game.info().name)));
    let folder = data_dir().ok_or_else(none)?.join("unfinished");
    let files = std::fs::read_dir(&folder).map_err(|_| none())?;
    let mut paths: Vec<_> = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|end| end == "pdn"))
        .map(|path| (path.metadata().and_then(|data| data.modified()).ok(), path))
        .collect();
    paths.sort();
    for (_, path) in paths.into_iter().rev() {
        match load(&path, game) {
            Ok(Some((live, held))) => {
                let kept = Autosave { folder, path: Some(path), lock: Some(held), error: None };
                return Ok((live, kept));
            }
            Ok(None) => {}
            Err(why) => passed(format!("{} is passed over: {why}", path.display())),
        }
    }
    Err(none())
}

/// The game in a file and the file, locked; none if it is not the game that is wanted.
fn load(path: &Path, wanted: Option<&Game>) -> Result<Option<(LocalGame, File)>, String> {
    let text = |error: io::Error| error.to_string();
    // Opening a pipe would wait for somebody to write to it.
    if !path.metadata().map_err(text)?.is_file() {
        return Err("it is no file of a game".into());
    }
    let file = File::open(path).map_err(text)?;
    let record = read_one(&file)?;
    if wanted.is_some_and(|wanted| !fits(&record.game, wanted)) {
        return Ok(None);
    }
    // Where files cannot be locked, nobody is known to have one.
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err("it is being played in another terminal".into());
    }
    let time = match record.tag("TimeControl") {
        None => TimeControl::Unlimited,
        Some(text) => match text.strip_suffix(" per move") {
            Some(time) => crownhead_play::parse_duration(time).map(TimeControl::PerMove),
            None => text.parse(),
        }
        .map_err(|error| error.to_string())?,
    };
    let left = record.tag(CLOCKS).and_then(|text| {
        let (first, second) = text.split_once(' ')?;
        Some([first.parse().ok()?, second.parse().ok()?].map(Duration::from_millis))
    });
    if let Some(folder) = record.tag(FOLDER)
        && !std::env::current_dir().is_ok_and(|here| here.display().to_string() == folder)
    {
        return Err(format!("its program was started in {folder}: take it up again there"));
    }
    let live = LocalGame::resume(&record, time, left, now() as u64)?;
    Ok(Some((live, file)))
}

/// Whether a game is the one named: one named without options is any of its kind.
fn fits(game: &Game, named: &Game) -> bool {
    let plain = named.info().id.parse::<Game>().is_ok_and(|plain| plain == *named);
    game == named || (plain && game.info().id == named.info().id)
}

fn read_one(file: &File) -> Result<GameRecord, String> {
    match Reader::new(file).next() {
        Some(Ok(record)) => Ok(record),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("there is no game in it".into()),
    }
}
