//! Unfinished games, kept in the user's data directory after every move, so that neither a lost
//! terminal nor a lost machine loses a game. A finished game is kept no longer.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crownhead_play::TimeControl;
use crownhead_records::{GameRecord, Reader, game_text, write_text};
use crownhead_rules::{Game, Side};

use crate::live::LiveGame;

/// The folder for what the program keeps; it need not exist. `CROWNHEAD_DATA` names it; otherwise it
/// is `crownhead` in `XDG_DATA_HOME`, or else in the user's `.local/share` (`Library/Application
/// Support` on macOS, the application data on Windows). `None` if there is none of these.
pub fn data_dir() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    if let Some(folder) = named("CROWNHEAD_DATA") {
        return Some(folder.into());
    }
    let absolute = |folder: Option<PathBuf>| folder.filter(|folder| folder.is_absolute());
    let system = absolute(named("XDG_DATA_HOME").map(PathBuf::from)).or_else(|| {
        if cfg!(windows) {
            return absolute(named("APPDATA").map(PathBuf::from));
        }
        let inside =
            if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
        absolute(std::env::home_dir()).map(|home| home.join(inside))
    });
    system.map(|folder| folder.join("crownhead"))
}

/// Where one unfinished game is kept.
pub struct Kept {
    folder: PathBuf,
    path: Option<PathBuf>,
}

/// A tag of ours: milliseconds left on the clock of the first and of the second player.
const CLOCKS: &str = "Clocks";

impl Kept {
    /// For a new game. `None` if there is no place for data.
    pub fn new() -> Option<Kept> {
        Some(Kept { folder: data_dir()?.join("unfinished"), path: None })
    }

    /// Keeps the game as it is now; a finished game, or one in which a computer plays itself, or
    /// nothing has happened, is not kept.
    pub fn update(&mut self, live: &LiveGame) -> io::Result<()> {
        if live.is_over() || !live.has_human() || live.session().moves().is_empty() {
            return self.forget();
        }
        let mut record = live.record();
        if let (Some(first), Some(second)) =
            (live.time_left(Side::First), live.time_left(Side::Second))
        {
            record.set_tag(CLOCKS, format!("{} {}", first.as_millis(), second.as_millis()));
        }
        let text = game_text(&record).map_err(io::Error::other)?;
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
        write_text(&path, &text)?;
        self.path = Some(path);
        Ok(())
    }

    /// The game is kept no longer.
    pub fn forget(&mut self) -> io::Result<()> {
        match self.path.take() {
            Some(path) => std::fs::remove_file(path),
            None => Ok(()),
        }
    }

    /// Whether there is something to take up again.
    pub fn is_kept(&self) -> bool {
        self.path.is_some()
    }
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis())
}

/// Why a kept game cannot be taken up.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is none.
    #[error("there is no unfinished game{0} to take up again")]
    None(String),
    /// It cannot be read.
    #[error("the unfinished game {} cannot be taken up: {why}", path.display())]
    Unreadable {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Takes up the last unfinished game, of one game or of any.
pub fn resume(game: Option<&Game>) -> Result<(LiveGame, Kept), ResumeError> {
    let none = || {
        ResumeError::None(game.map_or(String::new(), |game| format!(" of {}", game.info().name)))
    };
    let folder = data_dir().ok_or_else(none)?.join("unfinished");
    let files = std::fs::read_dir(&folder).map_err(|_| none())?;
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    // Names begin with the time, and times have as many digits each.
    paths.retain(|path| path.extension().is_some_and(|end| end == "pdn"));
    paths.sort();
    for path in paths.into_iter().rev() {
        let unreadable = |why: String| ResumeError::Unreadable { path: path.clone(), why };
        let record = read_one(&path).map_err(unreadable)?;
        if game.is_some_and(|game| game.info().id != record.game.info().id) {
            continue;
        }
        let time = match record.tag("TimeControl") {
            None => TimeControl::Free,
            Some(text) => match text.strip_suffix(" per move") {
                Some(time) => crownhead_play::read_time(time).map(TimeControl::PerMove),
                None => text.parse(),
            }
            .map_err(|error| unreadable(error.to_string()))?,
        };
        let left = record.tag(CLOCKS).and_then(|text| {
            let (first, second) = text.split_once(' ')?;
            Some([first.parse().ok()?, second.parse().ok()?].map(Duration::from_millis))
        });
        let live = LiveGame::resume(&record, time, left, now() as u64).map_err(unreadable)?;
        return Ok((live, Kept { folder, path: Some(path) }));
    }
    Err(none())
}

fn read_one(path: &Path) -> Result<GameRecord, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    match Reader::new(file).next() {
        Some(Ok(record)) => Ok(record),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("there is no game in it".into()),
    }
}
