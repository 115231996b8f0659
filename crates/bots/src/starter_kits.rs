//! Starter kits for `bot new`: a small complete bot in each language, and one for each of the
//! original assignments.

use std::io;
use std::path::Path;

use crownhead_play::truncate;
use crownhead_rules::did_you_mean;

use crate::protocol::game_of_protocol;

/// A bot to start from.
#[derive(Clone, Copy, Debug)]
pub struct StarterKit {
    /// Name of the kit: its language, or the protocol of an assignment.
    pub language: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// What must be installed.
    pub needs: &'static str,
    /// File names and contents; `NAME` stands for the bot's name.
    pub files: [(&'static str, &'static str); 2],
}

macro_rules! kit {
    ($language:literal, $aliases:expr, $needs:literal, $file:literal) => {
        StarterKit {
            language: $language,
            aliases: $aliases,
            needs: $needs,
            files: [
                ($file, include_str!(concat!("../kits/", $language, "/", $file))),
                ("bot.toml", include_str!(concat!("../kits/", $language, "/bot.toml"))),
            ],
        }
    };
}

/// All starter kits.
const KITS: [StarterKit; 9] = [
    kit!("python", &["py", "python3"], "python3", "bot.py"),
    kit!("c", &[], "a C compiler (gcc)", "bot.c"),
    kit!("cpp", &["c++", "cxx"], "a C++ compiler (g++)", "bot.cpp"),
    kit!("rust", &["rs"], "rustc", "bot.rs"),
    kit!("java", &[], "a JDK, version 16 or newer", "Bot.java"),
    kit!("javascript", &["js", "node"], "Node.js", "bot.js"),
    kit!("c-function", &[], "a C compiler (gcc)", "bot.c"),
    kit!("cpp-function", &["c++-function"], "a C++ compiler (g++)", "bot.cpp"),
    kit!("tcp-int32", &[], "python3", "bot.py"),
];

impl StarterKit {
    /// Returns the id of the only game that it plays; `None` if it plays all.
    pub fn game(&self) -> Option<&'static str> {
        game_of_protocol(self.language)
    }

    /// Finds the kit of a language, by name or alias.
    pub fn find(language: &str) -> Result<&'static StarterKit, String> {
        let name = language.trim().to_ascii_lowercase();
        let kit = KITS.iter().find(|kit| kit.language == name || kit.aliases.contains(&&*name));
        kit.ok_or_else(|| {
            let names = KITS.map(|kit| kit.language);
            let (hint, language) = (did_you_mean(&name, names), truncate(language));
            format!("no starter kit for {language:?}{hint}; available: {}", names.join(", "))
        })
    }

    /// Writes the kit to a new or empty folder, which gives the bot its name.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        if std::fs::read_dir(folder)?.next().is_some() {
            let message = "the folder is not empty: a new bot needs a folder of its own";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        let path = folder.canonicalize().ok();
        let name = path.as_deref().and_then(Path::file_name).unwrap_or_default();
        // The name goes into string literals of several languages.
        let is_safe = |c: &char| c.is_alphanumeric() || "_- .".contains(*c);
        let name: String = name.to_string_lossy().chars().filter(is_safe).take(40).collect();
        let name = if name.is_empty() { "bot" } else { &name };
        for (file, text) in self.files {
            std::fs::write(folder.join(file), text.replace("NAME", name))?;
        }
        Ok(())
    }
}
