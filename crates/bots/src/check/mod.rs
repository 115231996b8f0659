//! `bot check`: tests a bot before it plays others, in quick games and in situations that bots tend
//! to get wrong. Every finding comes with advice.

pub mod advice;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crownhead_play::referee::{self, PlayedGame, Turn};
use crownhead_play::{
    End, Event, Fault, FaultKind, FaultPolicy, GameConfig, GameInPlay, GameSettings, GameStart,
    Knowledge, Player, PlayerError, Random, Session, StopFlag, TimeControl, format_duration,
    new_session,
};
use crownhead_rules::{ExamplePosition, Game, Side};

use crate::player::BotPlayer;
use crate::{BotProgram, Protocol};

/// Number of quick games against `random`.
const QUICK_GAMES: u64 = 4;

/// Options of [`check`].
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// How long the bot may take to get ready.
    pub startup_timeout: Duration,
    /// Time per move.
    pub move_time: Duration,
    /// Random seed of the opponent.
    pub seed: u64,
    /// Folder for the logs of all games.
    pub log: Option<PathBuf>,
}

/// Result of one check.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// Severity of the result.
    pub severity: Severity,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// Severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// As expected.
    Ok,
    /// Harmless so far.
    Warning,
    /// Would cost a turn or a game.
    Failure,
}

impl Severity {
    /// The stable external word.
    pub const fn code(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Warning => "warning",
            Severity::Failure => "failure",
        }
    }
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Finding {
        Finding { check, severity: Severity::Ok, message: message.into(), advice: None }
    }

    fn warning(check: &'static str, message: impl Into<String>, advice: &str) -> Finding {
        let (message, advice) = (message.into(), Some(advice.to_string()));
        Finding { check, severity: Severity::Warning, message, advice }
    }

    fn failure(check: &'static str, message: impl Into<String>, advice: Option<&str>) -> Finding {
        let (message, advice) = (message.into(), advice.map(str::to_string));
        Finding { check, severity: Severity::Failure, message, advice }
    }
}

/// A situation to try a bot in.
struct Scenario {
    name: &'static str,
    position: String,
    time_control: TimeControl,
    /// Whether only the first turn is played.
    one_turn: bool,
}

/// A clock with one second left.
const LAST_SECOND: TimeControl =
    TimeControl::PerGame { time: Duration::from_secs(1), increment: Duration::ZERO };

/// Returns the scenarios of a game.
fn scenarios(game: &Game, move_time: Duration) -> Vec<Scenario> {
    let scenario = |example: &ExamplePosition| Scenario {
        name: example.name,
        position: example.position.into(),
        time_control: TimeControl::PerMove(move_time),
        one_turn: example.one_turn,
    };
    let mut scenarios: Vec<_> = game.info().examples.iter().map(scenario).collect();
    scenarios.push(Scenario {
        name: "the last second",
        position: game.start_position(),
        time_control: LAST_SECOND,
        one_turn: false,
    });
    scenarios
}

/// Checks a bot. Findings are reported as soon as they are known.
pub fn check(
    program: &BotProgram,
    game: &Game,
    options: &CheckOptions,
    stop: &StopFlag,
    mut on_finding: impl FnMut(Finding),
) {
    if let Err(message) = program.supports(game) {
        return on_finding(Finding::failure("start", message, None));
    }
    let bot = match BotPlayer::new(program.clone(), stop) {
        Ok(bot) => bot,
        Err(error) => {
            let advice = match program.protocol.is_function() {
                true => "The file must compile on its own, with the headers in its folder.",
                false => {
                    "The command runs in the bot's folder, without a shell; a build command must \
                     exit with code 0."
                }
            };
            return on_finding(Finding::failure("start", error.to_string(), Some(advice)));
        }
    };
    let settings = GameSettings {
        time_control: TimeControl::PerMove(options.move_time),
        startup_timeout: options.startup_timeout,
        fault_policy: FaultPolicy::Forfeit,
        ..GameSettings::default_for(game)
    };
    let mut run = CheckRun {
        bot,
        protocol: program.protocol,
        game,
        settings,
        seed: options.seed,
        log: options.log.as_deref(),
        log_count: 0,
        stop,
    };
    on_finding(run.check_handshake());
    for number in 0..QUICK_GAMES {
        if !run.is_over() {
            run.quick_game(number).into_iter().for_each(&mut on_finding);
        }
    }
    for scenario in scenarios(game, options.move_time) {
        if !run.is_over() {
            run.play_scenario(&scenario).into_iter().for_each(&mut on_finding);
        }
    }
    if !run.is_over() {
        run.check_quit().into_iter().for_each(&mut on_finding);
    }
}

/// The check of one bot.
struct CheckRun<'a> {
    bot: BotPlayer,
    protocol: Protocol,
    game: &'a Game,
    settings: GameSettings,
    seed: u64,
    /// Folder for logs.
    log: Option<&'a Path>,
    log_count: u32,
    stop: &'a StopFlag,
}

impl CheckRun<'_> {
    /// Announces a game to the bot.
    fn begin_game(&mut self, check: &str, settings: &GameSettings, side: Side, seed: u64) {
        self.log_count += 1;
        let name = format!("{:02}-{}.log", self.log_count, check.replace(' ', "-"));
        let log = self.log.map(|folder| folder.join(name));
        let start = GameStart {
            game: self.game,
            side,
            settings,
            seed,
            opponent: "random",
            log: log.as_deref(),
        };
        self.bot.start_game(&start, self.stop);
    }

    fn advice(&self, fault: &Fault) -> Option<&'static str> {
        Some(advice::for_fault(self.protocol, fault))
    }

    /// Returns whether further checks are pointless: the user interrupted, the bot is unavailable,
    /// or it neither gets ready nor plays.
    fn is_over(&self) -> bool {
        let is_unresponsive = self.bot.missed_ready() || !self.bot.handshake_done();
        self.stop.is_set()
            || self.bot.unavailable().is_some()
            || (is_unresponsive && self.bot.fault().is_some())
    }

    fn check_handshake(&mut self) -> Finding {
        const CHECK: &str = "handshake";
        let start = Instant::now();
        let settings = self.settings;
        self.begin_game(CHECK, &settings, Side::First, self.seed);
        let elapsed = start.elapsed();
        if let Some(fault) = self.bot.fault() {
            let message = format!("{}: {fault}", fault.kind.code());
            return Finding::failure(CHECK, message, self.advice(fault));
        }
        if let Some(message) = self.bot.unavailable() {
            return Finding::failure(CHECK, message, None);
        }
        if self.bot.missed_ready() {
            let timeout = format_duration(self.settings.startup_timeout);
            let advice = "Answer the lines crownhead and newgame with ready, and flush. Without it \
                          the first game starts only after the startup timeout.";
            let message = format!("the bot did not send \"ready\" within {timeout}");
            return Finding::warning(CHECK, message, advice);
        }
        let name = self.bot.bot_name().map(|name| format!(", name {name:?}")).unwrap_or_default();
        Finding::ok(CHECK, format!("ready after {} ms{name}", elapsed.as_millis()))
    }

    /// Plays a game against `random`.
    fn play(
        &mut self,
        check: &'static str,
        session: Box<dyn Session>,
        settings: &GameSettings,
        seed: u64,
        bot_side: Side,
    ) -> Option<Finding> {
        self.begin_game(check, settings, bot_side, seed);
        let mut random = Random::new();
        random.start_game(&GameStart::new(self.game, bot_side.other(), settings, seed), self.stop);
        let players: [&mut dyn Player; 2] = match bot_side {
            Side::First => [&mut self.bot, &mut random],
            Side::Second => [&mut random, &mut self.bot],
        };
        let knowledge = Knowledge::default();
        let played =
            referee::play(session, players, settings, &knowledge, seed, self.stop, &mut |_| {});
        self.game_finding(check, settings, bot_side, played)
    }

    /// Converts the result of a game to a finding; `None` if the game was interrupted.
    fn game_finding(
        &self,
        check: &'static str,
        settings: &GameSettings,
        bot_side: Side,
        played: Result<Option<PlayedGame>, PlayerError>,
    ) -> Option<Finding> {
        let game = match played {
            Ok(game) => game?,
            Err(error) => return Some(Finding::failure(check, error.to_string(), None)),
        };
        if let End::Forfeited(incident) = &game.end {
            let advice = self.advice(&incident.fault);
            return Some(Finding::failure(check, incident.describe(self.game), advice));
        }
        let result = match game.end.winner() {
            None => "drawn",
            Some(winner) if winner == bot_side => "won",
            Some(_) => "lost",
        };
        let slowest = game.slowest_move[bot_side.index()];
        let message = format!(
            "{result} as {} in {} plies, slowest move {:.1} ms",
            self.game.info().sides[bot_side.index()].name,
            game.moves.len(),
            slowest.as_secs_f64() * 1e3
        );
        Some(match settings.time_control {
            TimeControl::PerMove(time) if slowest > time / 2 => {
                let advice = "A move took more than half of the time. Keep a reserve: the \
                              tournament's machine may be slower.";
                Finding::warning(check, message, advice)
            }
            _ => Finding::ok(check, message),
        })
    }

    fn quick_game(&mut self, number: u64) -> Option<Finding> {
        let side = if number.is_multiple_of(2) { Side::First } else { Side::Second };
        let session = new_session(self.game, None).ok()?;
        let (settings, seed) = (self.settings, self.seed.wrapping_add(number));
        self.play("game against random", session, &settings, seed, side)
    }

    fn play_scenario(&mut self, scenario: &Scenario) -> Option<Finding> {
        // Options of the game may make the position invalid or end the game there.
        let session = new_session(self.game, Some(&scenario.position)).ok()?;
        if session.outcome().is_some() {
            return None;
        }
        let settings = GameSettings { time_control: scenario.time_control, ..self.settings };
        let side = session.side();
        match scenario.one_turn {
            true => self.play_turn(scenario.name, session, &settings),
            false => self.play(scenario.name, session, &settings, self.seed, side),
        }
    }

    /// Plays one turn.
    fn play_turn(
        &mut self,
        check: &'static str,
        session: Box<dyn Session>,
        settings: &GameSettings,
    ) -> Option<Finding> {
        let side = session.side();
        self.begin_game(check, settings, side, self.seed);
        let move_count = session.legal_moves().len();
        let game = GameInPlay::new(session, GameConfig::refereed(settings), Duration::ZERO);
        let policy = settings.fault_policy;
        let incident = match referee::play_turn(&game, &mut self.bot, policy, self.seed, self.stop)
        {
            Err(error) => return Some(Finding::failure(check, error.to_string(), None)),
            Ok(Some(Turn { event: Event::Move { text, .. }, time, .. })) => {
                let ms = time.as_secs_f64() * 1e3;
                let message = format!("{text}, one of {move_count} legal moves, after {ms:.1} ms");
                return Some(Finding::ok(check, message));
            }
            Ok(Some(Turn {
                event: Event::Fault { incident, .. } | Event::End(End::Forfeited(incident)),
                ..
            })) => incident,
            Ok(_) => return None,
        };
        let advice = match (move_count, incident.fault.kind) {
            (1, FaultKind::IllegalMove) => {
                Some("There is only one legal move, pass: answer with the text in moves=.")
            }
            _ => self.advice(&incident.fault),
        };
        self.bot.on_fault(&incident, None);
        Some(Finding::failure(check, incident.describe(self.game), advice))
    }

    fn check_quit(&mut self) -> Option<Finding> {
        const CHECK: &str = "quit";
        if self.bot.fault().is_some() {
            return None;
        }
        if self.bot.shutdown() {
            return Some(Finding::ok(CHECK, "the bot exits when asked to"));
        }
        let advice = match self.protocol {
            Protocol::TcpInt32 => "Exit when a packet starts with 0.",
            _ => "Exit on the line quit, and at the end of standard input.",
        };
        let message = "the bot did not exit on its own and was killed";
        Some(Finding::warning(CHECK, message, advice))
    }
}
