//! The starter kits: a complete small bot in each language, to be improved, and one for each of the
//! original assignments.

use std::io;
use std::path::Path;

/// A bot to begin with.
#[derive(Clone, Copy, Debug)]
pub struct StarterKit {
    /// The language, as it is asked for.
    pub language: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The game to try it with: the only one that a kit for an assignment plays.
    pub game: &'static str,
    /// What must be installed.
    pub needs: &'static str,
    /// The names and texts of its files; `NAME` stands for the bot's name.
    pub files: [(&'static str, &'static str); 2],
}

macro_rules! kit {
    ($language:literal, $aliases:expr, $needs:literal, $file:literal) => {
        kit!($language, $aliases, $needs, $file, "english")
    };
    ($language:literal, $aliases:expr, $needs:literal, $file:literal, $game:literal) => {
        StarterKit {
            language: $language,
            aliases: $aliases,
            game: $game,
            needs: $needs,
            files: [
                ($file, include_str!(concat!("../kits/", $language, "/", $file))),
                ("bot.toml", include_str!(concat!("../kits/", $language, "/bot.toml"))),
            ],
        }
    };
}

/// All kits.
const KITS: [StarterKit; 9] = [
    kit!("python", &["py", "python3"], "python3", "bot.py"),
    kit!("c", &[], "a C compiler (gcc)", "bot.c"),
    kit!("cpp", &["c++", "cxx"], "a C++ compiler (g++)", "bot.cpp"),
    kit!("rust", &["rs"], "rustc", "bot.rs"),
    kit!("java", &[], "a JDK of version 16 or newer", "Bot.java"),
    kit!("javascript", &["js", "node"], "Node.js", "bot.js"),
    kit!("c-function", &[], "a C compiler (gcc)", "bot.c", "chinese-checkers"),
    kit!("cpp-function", &["c++-function"], "a C++ compiler (g++)", "bot.cpp", "contest"),
    kit!("tcp-int32", &[], "python3", "bot.py", "capture-halma"),
];

impl StarterKit {
    /// The kit of a language.
    pub fn find(language: &str) -> Result<&'static StarterKit, String> {
        let name = language.trim().to_ascii_lowercase();
        let found = KITS.iter().find(|kit| kit.language == name || kit.aliases.contains(&&*name));
        found.ok_or_else(|| {
            let names: Vec<_> = KITS.iter().map(|kit| kit.language).collect();
            let name = crownhead_play::truncate(language);
            format!("there is no starter kit in {name:?}: there are {}", names.join(", "))
        })
    }

    /// Writes the kit to a new or empty folder; the bot is called like the folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        if std::fs::read_dir(folder)?.next().is_some() {
            let message = "there is something in it: a new bot needs a folder of its own";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        let name = folder.canonicalize().ok();
        let name = name.as_deref().and_then(Path::file_name).unwrap_or_default();
        let is_plain = |c: &char| c.is_alphanumeric() || "_- .".contains(*c);
        let name: String = name.to_string_lossy().chars().filter(is_plain).take(40).collect();
        let name = if name.is_empty() { "bot" } else { &name };
        for (file, text) in self.files {
            std::fs::write(folder.join(file), text.replace("NAME", name))?;
        }
        Ok(())
    }
}
