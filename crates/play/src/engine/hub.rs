//! Version 2 of the Hub protocol, by which draughts programs talk with engines: English and contest
//! checkers on the 32 squares.
//!
//! Lines are read while a search runs on its own thread, so that `stop`, `ping` and `ponder-hit` are
//! heard. Pondering is a search without end; when the expected move was played, it is broken off and
//! the search for the move begins, with all that the hash table remembers.

use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crownhead_rules::Game;
use crownhead_search::StopFlag;

use super::EngineError;
use crate::bots::{Line, quote, read_bounded_line};
use crate::hub_text::{fen, hub_line, is_move};
use crate::{
    Choice, Clock, Player, PlayerError, PlayerKind, PlayerSpec, Session, knowledge_for, session,
};

/// The variants, as the parameter names them, and their games.
const VARIANTS: [(&str, &str); 4] = [
    ("english", "english"),
    ("wcdf", "english:rules=wcdf"),
    ("contest", "contest"),
    ("contest-kings", "contest:kings=true"),
];
/// A search without end ends here.
const FOR_EVER: Duration = Duration::from_secs(24 * 60 * 60);

/// What a search may use, by the last `level`.
#[derive(Clone, Copy, Debug)]
struct Level {
    clock: Clock,
    depth: Option<u32>,
    nodes: Option<u64>,
}

/// A search on its own thread.
struct Search {
    stop: StopFlag,
    is_ponder: bool,
    /// The player and its answer.
    thread: JoinHandle<(Box<dyn Player>, Result<String, EngineError>)>,
}

struct Engine<W> {
    spec: PlayerSpec,
    game: Game,
    player: Option<Box<dyn Player>>,
    session: Option<Box<dyn Session>>,
    level: Level,
    search: Option<Search>,
    output: Arc<Mutex<W>>,
}

/// Serves until `quit` or the end of the input.
pub fn serve<W: Write + Send + 'static>(
    spec: &PlayerSpec,
    mut input: impl BufRead,
    output: W,
) -> Result<(), EngineError> {
    let mut engine = Engine {
        spec: spec.clone(),
        game: Game::English(Default::default()),
        player: None,
        session: None,
        level: Level { clock: Clock::Free, depth: None, nodes: None },
        search: None,
        output: Arc::new(Mutex::new(output)),
    };
    let mut bytes = Vec::new();
    let result = loop {
        match read_bounded_line(&mut input, &mut bytes) {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error.into()),
        }
        let text = String::from_utf8_lossy(&bytes);
        let line = Line::new(&text);
        if line.word == "quit" {
            break Ok(());
        }
        if let Err(error) = engine.follow(&line) {
            break Err(error);
        }
    };
    // Whoever closed the input wants no answer.
    engine.finish()?;
    result
}

impl<W: Write + Send + 'static> Engine<W> {
    fn say(&self, text: &str) -> io::Result<()> {
        write_to(&self.output, text)
    }

    fn complain(&self, message: &str) -> io::Result<()> {
        self.say(&format!("error message={}\n", quote(message)))
    }

    fn follow(&mut self, line: &Line<'_>) -> Result<(), EngineError> {
        match line.word {
            "hub" => self.introduce()?,
            "set-param" => self.set(line)?,
            "init" => match self.make_player() {
                Ok(()) => self.say("ready\n")?,
                Err(error) => self.complain(&error.to_string())?,
            },
            "new-game" => {
                self.finish()?;
                if let Some(player) = &mut self.player {
                    player.new_game(0);
                }
            }
            "pos" => {
                self.finish()?;
                let session = set_up(&self.game, line);
                if let Err(why) = &session {
                    self.complain(why)?;
                }
                // Whoever asks for a move after all does not mean the last position.
                self.session = session.ok();
            }
            "level" => match level(line) {
                Some(level) => self.level = level,
                None => self.complain("a level has depth, nodes, move-time, time or infinite")?,
            },
            "go" => self.go(line)?,
            "stop" => match &self.search {
                // The answer to a ponder waits for this.
                Some(search) if search.is_ponder => {
                    if let Some(answer) = self.finish()? {
                        self.say(&answer)?;
                    }
                }
                Some(search) => search.stop.set(),
                None => {}
            },
            "ponder-hit" if self.search.as_ref().is_some_and(|search| search.is_ponder) => {
                self.go(&Line::new("go think"))?;
            }
            "ping" => self.say("pong\n")?,
            _ => {}
        }
        Ok(())
    }

    fn introduce(&self) -> io::Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        let variants: Vec<_> = VARIANTS.iter().map(|(name, _)| *name).collect();
        let mut text = format!("id name=Crownhead version={version} author=Crownhead\n");
        text += &format!(
            "param name=variant value=english type=enum values={}\n",
            quote(&variants.join(" "))
        );
        if self.spec.counts_nodes() {
            let options = self.spec.options;
            let threads = options.threads.unwrap_or(1);
            let hash = options.hash.unwrap_or(64);
            text += &format!("param name=threads value={threads} type=int min=1 max=256\n");
            text += &format!("param name=hash value={hash} type=int min=1 max=65536\n");
        }
        self.say(&(text + "wait\n"))
    }

    fn set(&mut self, line: &Line<'_>) -> Result<(), EngineError> {
        // The player that searches is of the old settings.
        self.finish()?;
        let value = line.value("value").unwrap_or_default();
        match line.value("name") {
            Some("variant") => {
                let known = VARIANTS.iter().find(|(name, _)| *name == value);
                match known.and_then(|(_, game)| game.parse().ok()) {
                    Some(game) => self.game = game,
                    None => return Ok(self.complain(&format!("there is no variant {value}"))?),
                }
            }
            Some(name @ ("threads" | "hash")) if self.spec.counts_nodes() => {
                // The limits are those of a player's name.
                let text = format!("best:{name}={value}");
                match text.parse::<PlayerSpec>() {
                    Ok(PlayerSpec { kind: PlayerKind::Best, options }) if name == "hash" => {
                        self.spec.options.hash = options.hash;
                    }
                    Ok(spec) => self.spec.options.threads = spec.options.threads,
                    Err(error) => return Ok(self.complain(&error.to_string())?),
                }
            }
            _ => return Ok(()),
        }
        (self.player, self.session) = (None, None);
        Ok(())
    }

    fn make_player(&mut self) -> Result<(), PlayerError> {
        if self.player.is_none() && self.search.is_none() {
            let (knowledge, _) = knowledge_for(&self.game);
            let mut player = self.spec.player(&self.game, &knowledge)?;
            player.new_game(0);
            self.player = Some(player);
        }
        Ok(())
    }

    fn go(&mut self, line: &Line<'_>) -> Result<(), EngineError> {
        self.finish()?;
        if let Err(error) = self.make_player() {
            return Ok(self.complain(&error.to_string())?);
        }
        let Some(session) = self.session.as_ref().map(|session| session.copy()) else {
            self.complain("there is no position yet: send pos first")?;
            return Ok(());
        };
        if let Some(ending) = session.ending() {
            self.complain(&format!("the game is over: {ending}"))?;
            return Ok(());
        }
        let Some(player) = self.player.take() else { return Ok(()) };
        let is_ponder = line.value("ponder").is_some();
        let endless = Level { clock: Clock::PerMove(FOR_EVER), ..self.level };
        let level = if is_ponder { endless } else { self.level };
        let stop = StopFlag::new();
        let (raised, output) = (stop.clone(), self.output.clone());
        let work = move || {
            let (player, mut answer) = search(player, session, level, &raised, &output);
            if let (Ok(text), false) = (&answer, is_ponder)
                && let Err(error) = write_to(&output, text)
            {
                answer = Err(error.into());
            }
            (player, answer)
        };
        let builder = std::thread::Builder::new().name("search".into()).stack_size(16 << 20);
        let thread = builder.spawn(work)?;
        self.search = Some(Search { stop, is_ponder, thread });
        Ok(())
    }

    /// Ends the search, and takes the player back. What it found is given if it was a ponder; else
    /// it has been said.
    fn finish(&mut self) -> Result<Option<String>, EngineError> {
        let Some(search) = self.search.take() else { return Ok(None) };
        search.stop.set();
        match search.thread.join() {
            Ok((player, answer)) => {
                self.player = Some(player);
                answer.map(|text| search.is_ponder.then_some(text))
            }
            Err(_) => Err(io::Error::other("the search broke").into()),
        }
    }
}

fn write_to(output: &Mutex<impl Write>, text: &str) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// Searches, telling what is found on the way: the answer as a line.
fn search(
    mut player: Box<dyn Player>,
    session: Box<dyn Session>,
    level: Level,
    stop: &StopFlag,
    output: &Mutex<impl Write>,
) -> (Box<dyn Player>, Result<String, EngineError>) {
    let start = Instant::now();
    let mut heard = |choice: Choice| {
        // Nobody may be listening any more; the end of the search will show.
        let _ = write_to(output, &info(session.as_ref(), &choice, start.elapsed()));
        let deep = level.depth.is_some_and(|depth| choice.depth >= depth);
        if deep || level.nodes.is_some_and(|nodes| choice.nodes >= nodes) {
            stop.set();
        }
    };
    let choice = player.choose(session.as_ref(), &level.clock, stop, &mut heard);
    let answer = choice.map_err(EngineError::from).map(|choice| {
        let moves = hub_line(session.as_ref(), &choice.line);
        let mut text = format!("done move={}", moves.first().map_or("", String::as_str));
        if let Some(reply) = moves.get(1) {
            text += &format!(" ponder={reply}");
        }
        text + "\n"
    });
    (player, answer)
}

fn info(session: &dyn Session, choice: &Choice, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let mut text = format!("info depth={}", choice.depth);
    if let Some(score) = choice.score {
        text += &format!(" score={:.2}", f64::from(score) / 100.0);
    }
    let speed = choice.nodes as f64 / seconds.max(1e-6) / 1e6;
    let line = hub_line(session, &choice.line).join(" ");
    text +=
        &format!(" nodes={} time={seconds:.3} nps={speed:.1} pv={}\n", choice.nodes, quote(&line));
    text
}

/// The game that a `pos` line tells of.
fn set_up(game: &Game, line: &Line<'_>) -> Result<Box<dyn Session>, String> {
    let text = line.value("pos").unwrap_or_default();
    let fen = fen(text).ok_or_else(|| {
        "a position is the side to move, W or B, and a letter of w b W B e for each of the 32 \
         squares"
            .to_string()
    })?;
    let mut session = session(game, Some(&fen)).map_err(|error| error.to_string())?;
    for text in line.value("moves").unwrap_or_default().split_whitespace() {
        let legal = session.legal_moves();
        let mv = legal.iter().find(|mv| is_move(text, mv));
        let mv = mv.ok_or_else(|| format!("the move {text} is not legal"))?;
        session.play(&mv.text).map_err(|error| error.to_string())?;
    }
    Ok(session)
}

/// What a `level` line allows; nothing if it says nothing.
fn level(line: &Line<'_>) -> Option<Level> {
    let seconds = |key: &str| -> Option<Duration> {
        let number: f64 = line.value(key)?.parse().ok()?;
        (number >= 0.0).then(|| Duration::from_secs_f64(number.min(FOR_EVER.as_secs_f64())))
    };
    let depth = line.value("depth").and_then(|depth| depth.parse().ok());
    let nodes = line.value("nodes").and_then(|nodes| nodes.parse().ok());
    let is_endless = line.value("infinite").is_some() || depth.is_some() || nodes.is_some();
    let clock = if let Some(time) = seconds("move-time") {
        Clock::PerMove(time)
    } else if let Some(left) = seconds("time") {
        match line.value("moves").and_then(|moves| moves.parse::<u32>().ok()) {
            // So much time for so many moves: a fair share for each.
            Some(moves) if moves > 0 => Clock::PerMove(left / moves.saturating_add(1)),
            _ => Clock::Main { left, increment: seconds("inc").unwrap_or_default() },
        }
    } else if is_endless {
        Clock::PerMove(FOR_EVER)
    } else {
        return None;
    };
    Some(Level { clock, depth, nodes })
}
