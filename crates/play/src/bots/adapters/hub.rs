//! Draughts engines that speak version 2 of the Hub protocol, for English checkers.
//!
//! The variant is a parameter of the engine, and each engine has its own names for what it plays: the
//! one for English checkers is looked for among those that it offers. An engine that plays only other
//! variants, as those for the board of 100 squares do, is refused before the game begins. Engines do
//! not ponder here: between turns they have nothing to do.

use std::time::{Duration, Instant};

use crownhead_rules::Game;
use crownhead_search::StopFlag;

use super::note_turn;
use crate::bots::dialogue::{Dialogue, Unsaid};
use crate::bots::process::{Process, Silence};
use crate::bots::protocol::{FAREWELL, newgame, unsaid};
use crate::bots::{Fault, FaultKind, Line, quote};
use crate::hub_text::{hub_line, hub_position, is_move};
use crate::{Clock, Seating, Session, session, write_time};

/// What engines call English checkers, in small letters and without signs; the first that is offered
/// is taken.
const ENGLISH: [&str; 9] = [
    "english",
    "american",
    "englishcheckers",
    "americancheckers",
    "englishdraughts",
    "checkers",
    "englishamerican",
    "straightcheckers",
    "acf",
];
/// And by the rules of the World Checkers/Draughts Federation; those above will do too.
const WCDF: &str = "wcdf";
/// How long an engine thinks where there is no clock.
const THOUGHT: Duration = Duration::from_secs(5);
/// Kept back of each turn: an engine that uses all it has answers too late.
const MARGIN: Duration = Duration::from_millis(20);

/// The dialogue with an engine.
#[derive(Default)]
pub(super) struct Engine {
    /// Parameters to be set, as the user wants them.
    parameters: Vec<(String, String)>,
    /// The variants it offers and the one it is set to; none if it has no such parameter.
    variants: Option<(String, Vec<String>)>,
    name: Option<String>,
    side: char,
    /// Whether it has been initialised.
    is_ready: bool,
    /// Whether it searches for a move that nobody waits for any more.
    is_searching: bool,
}

impl Engine {
    pub(super) fn new(parameters: Vec<(String, String)>) -> Engine {
        Engine { parameters, ..Engine::default() }
    }

    /// The value that the parameter `variant` must be given; none if it is right already.
    fn variant(&self, game: &Game) -> Result<Option<String>, String> {
        let Some((now, offered)) = &self.variants else { return Ok(None) };
        if self.parameters.iter().any(|(name, _)| name == "variant") {
            return Ok(None);
        }
        let plain = |name: &str| -> String {
            name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
        };
        let is_wcdf = game.to_string().contains(WCDF);
        let mut wanted = is_wcdf.then_some(WCDF).into_iter().chain(ENGLISH);
        let named = |name: &str| offered.iter().find(|offer| plain(offer) == name);
        match wanted.find_map(named) {
            Some(name) if name == now => Ok(None),
            Some(name) => Ok(Some(name.clone())),
            None => Err(format!(
                "the engine {} plays no English checkers: its variants are {} (if one of them is \
                 English checkers by another name, a bot.toml can say so: parameters = {{ variant = \
                 \"…\" }})",
                self.name.as_deref().unwrap_or("without a name"),
                offered.join(", ")
            )),
        }
    }

    /// Sets the parameters and waits until the engine has made itself ready.
    fn init(
        &mut self,
        bot: &mut Process,
        seating: &Seating<'_>,
        stop: &StopFlag,
    ) -> Result<(), Unsaid> {
        let allowance = seating.terms.startup;
        let deadline = Some(Instant::now() + allowance);
        let variant = self.variant(seating.game).map_err(Unsaid::Unfit)?;
        let variant = variant.map(|value| ("variant".to_string(), value));
        for (name, value) in variant.iter().chain(&self.parameters) {
            let line = format!("set-param name={} value={}\n", plain(name), plain(value));
            bot.send(&line, deadline, stop);
        }
        bot.send("init\n", deadline, stop);
        let heard = bot.receive(deadline, stop, |line| {
            let text = String::from_utf8_lossy(line);
            match Line::new(&text).word {
                "ready" => Some(Ok(())),
                "error" => Some(Err(text.trim().to_string())),
                _ => None,
            }
        });
        match heard {
            Ok(Ok(())) => {
                self.is_ready = true;
                Ok(())
            }
            Ok(Err(line)) => {
                let name = self.name.as_deref().unwrap_or_default();
                Err(Unsaid::Unfit(format!("the engine {name} cannot be set up: it says {line}")))
            }
            Err(Silence::Late) => Err(late("\"ready\" after init", allowance).into()),
            Err(silence) => Err(unsaid(bot, silence, Duration::ZERO)),
        }
    }

    /// Waits for the answer of a search that was given up.
    fn await_end(
        &mut self,
        bot: &mut Process,
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<(), Silence> {
        if self.is_searching {
            bot.receive(deadline, stop, |line| line.starts_with(b"done").then_some(()))?;
            self.is_searching = false;
        }
        Ok(())
    }
}

/// A name or a value as Hub writes it.
fn plain(text: &str) -> String {
    let is_plain =
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if is_plain { text.to_string() } else { quote(text) }
}

fn late(what: &str, allowance: Duration) -> Fault {
    let time = write_time(allowance);
    let what = format!(
        "the engine did not say {what} within {time} (some engines speak Hub only with an argument, as \
         in hub:./scan hub)"
    );
    Fault::new(FaultKind::Time, what)
}

/// The line that says how long the engine may think.
fn level(clock: &Clock) -> String {
    let less = |time: Duration| (time - MARGIN.min(time / 4)).as_secs_f64();
    match *clock {
        Clock::Free => format!("level move-time={}\n", THOUGHT.as_secs()),
        Clock::PerMove(time) => format!("level move-time={:.3}\n", less(time)),
        // An engine adds the increment before its move; here it was added after the last.
        Clock::Main { left, increment } => {
            let left = less(left.saturating_sub(increment));
            format!("level time={left:.3} inc={:.3}\n", increment.as_secs_f64())
        }
    }
}

impl Dialogue for Engine {
    fn greet(
        &mut self,
        bot: &mut Process,
        allowance: Duration,
        stop: &StopFlag,
    ) -> Result<(), Unsaid> {
        *self = Engine::new(std::mem::take(&mut self.parameters));
        let deadline = Some(Instant::now() + allowance);
        bot.send("hub\n", deadline, stop);
        let (mut name, mut variants) = (None, None);
        let heard = bot.receive(deadline, stop, |line| {
            let text = String::from_utf8_lossy(line);
            let line = Line::new(&text);
            match line.word {
                "wait" => return Some(()),
                "id" => {
                    let told = line.value("name").unwrap_or_default();
                    let version = line.value("version").unwrap_or_default();
                    let told = format!("{told} {version}");
                    name = Some(told.trim().chars().take(60).collect());
                }
                "param" if line.value("name") == Some("variant") => {
                    let value = line.value("value").unwrap_or_default();
                    let values = line.value("values").unwrap_or(value).split_whitespace();
                    let values: Vec<String> = values.take(100).map(String::from).collect();
                    variants = Some((value.to_string(), values));
                }
                _ => {}
            }
            None
        });
        (self.name, self.variants) = (name, variants);
        match heard {
            Ok(()) => Ok(()),
            Err(Silence::Late) => Err(late("\"wait\" after hub", allowance).into()),
            Err(silence) => Err(unsaid(bot, silence, Duration::ZERO)),
        }
    }

    fn new_game(
        &mut self,
        bot: &mut Process,
        seating: &Seating<'_>,
        stop: &StopFlag,
    ) -> Result<(), Unsaid> {
        self.side = seating.letter();
        if let Some(log) = &mut bot.log {
            log.remark(&newgame(seating));
        }
        bot.forgive();
        if !self.is_ready {
            self.init(bot, seating, stop)?;
        }
        let deadline = Some(Instant::now() + seating.terms.startup);
        if let Err(silence) = self.await_end(bot, deadline, stop) {
            return Err(unsaid(bot, silence, seating.terms.startup));
        }
        bot.send("new-game\n", deadline, stop);
        Ok(())
    }

    fn ask(
        &mut self,
        bot: &mut Process,
        game: &dyn Session,
        clock: &Clock,
        deadline: Option<Instant>,
        stop: &StopFlag,
    ) -> Result<String, Unsaid> {
        let begun = Instant::now();
        bot.forgive();
        if !self.is_ready {
            let what = "the engine never said \"ready\"";
            return Err(Fault::new(FaultKind::Time, what).into());
        }
        if let Err(silence) = self.await_end(bot, deadline, stop) {
            return Err(unsaid(bot, silence, begun.elapsed()));
        }
        note_turn(bot, self.side, game, clock);
        let no_position = || Unsaid::Unfit(format!("Hub cannot write {}", game.position()));
        // From the start, so that the engine sees repetitions.
        let start = session(game.game(), Some(&game.start())).map_err(|_| no_position())?;
        let position = hub_position(&game.start()).ok_or_else(no_position)?;
        let moves = hub_line(start.as_ref(), &game.moves()).join(" ");
        let moves = if moves.is_empty() { moves } else { format!(" moves={}", quote(&moves)) };
        let lines = [format!("pos pos={position}{moves}\n"), level(clock), "go think\n".into()];
        for line in &lines {
            bot.send(line, deadline, stop);
        }
        self.is_searching = true;
        let heard = bot.receive(deadline, stop, |line| {
            let text = String::from_utf8_lossy(line);
            let parsed = Line::new(&text);
            match parsed.word {
                "done" => {
                    Some(Ok((parsed.value("move").unwrap_or_default().to_string(), line.to_vec())))
                }
                "error" => Some(Err(line.to_vec())),
                _ => None,
            }
        });
        let (text, line) = match heard {
            Ok(Ok(done)) => done,
            Ok(Err(line)) => {
                self.is_searching = false;
                let what = "the engine reports an error instead of a move";
                return Err(Fault::new(FaultKind::NoProtocol, what).received(&line).into());
            }
            Err(silence) => {
                if silence == Silence::Late {
                    bot.send("stop\n", Some(Instant::now() + FAREWELL), stop);
                }
                return Err(unsaid(bot, silence, begun.elapsed()));
            }
        };
        self.is_searching = false;
        if text.is_empty() {
            let what = "the engine's answer has no move: it is written done move=11-15";
            return Err(Fault::new(FaultKind::NoProtocol, what).received(&line).into());
        }
        // Whatever is not written as Hub has it may still be understood.
        let legal = game.legal_moves();
        let known = legal.iter().find(|mv| is_move(&text, mv));
        Ok(known.map_or(text, |mv| mv.text.clone()))
    }

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn quit(&mut self, bot: &mut Process) {
        bot.send("quit\n", Some(Instant::now() + FAREWELL), &StopFlag::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(now: &str, offered: &[&str]) -> Engine {
        let offered = offered.iter().map(|name| name.to_string()).collect();
        Engine { variants: Some((now.into(), offered)), ..Engine::default() }
    }

    #[test]
    fn english_checkers_is_found_by_whatever_name() {
        let english: Game = "english".parse().unwrap();
        for (now, offered, wanted) in [
            ("english", &["english", "wcdf"][..], None),
            ("russian", &["russian", "American"], Some("American")),
            ("normal", &["normal", "English-Draughts"], Some("English-Draughts")),
        ] {
            let found = engine(now, offered).variant(&english).unwrap();
            assert_eq!(found.as_deref(), wanted);
        }
        let scan = engine("normal", &["normal", "killer", "bt", "frisian", "losing"]);
        let why = scan.variant(&english).unwrap_err();
        assert!(why.contains("its variants are normal, killer, bt, frisian, losing"), "{why}");
        let wcdf = "english:rules=wcdf".parse().unwrap();
        let both = engine("english", &["english", "wcdf"]);
        assert_eq!(both.variant(&wcdf).unwrap().as_deref(), Some("wcdf"));
        // Whoever knows better says so; an engine without the parameter plays what it plays.
        let told = vec![("variant".to_string(), "normal".to_string())];
        assert_eq!(Engine { parameters: told, ..scan }.variant(&english), Ok(None));
        assert_eq!(Engine::default().variant(&english), Ok(None));
    }

    #[test]
    fn an_engine_never_has_all_the_time_there_is() {
        let time = Duration::from_secs(1);
        assert_eq!(level(&Clock::PerMove(time)), "level move-time=0.980\n");
        assert_eq!(level(&Clock::PerMove(time / 100)), "level move-time=0.007\n");
        let clock = Clock::Main { left: 5 * time, increment: time };
        assert_eq!(level(&clock), "level time=3.980 inc=1.000\n");
    }
}
