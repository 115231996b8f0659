//! What a bot is tried with before it meets others: the greeting, quick games, odd moments, the end.
//! Every finding says what to do about it.

use std::path::Path;
use std::time::{Duration, Instant};

use crownhead_play::Stop;
use crownhead_rules::{Game, Side};

use crownhead_play::{Fault, FaultKind};

use crate::player::BotPlayer;
use crate::{BotProgram, Protocol};
use crownhead_play::Random;
use crownhead_play::referee::{self, PlayedGame};
use crownhead_play::{
    End, FaultPolicy, GameSettings, GameStart, Player, PlayerError, Session, TimeControl,
    format_duration, new_session,
};

/// Something that was tried.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What was tried.
    pub check: &'static str,
    /// How it went.
    pub severity: Severity,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// How a check went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// As it should.
    Ok,
    /// It costs nothing yet.
    Warning,
    /// It would cost a turn or a game.
    Failure,
}

impl Severity {
    /// A word for output.
    pub const fn code(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Warning => "warning",
            Severity::Failure => "FAILED",
        }
    }
}

/// A situation that bots overlook.
struct Scenario {
    check: &'static str,
    position: String,
    time: TimeControl,
    /// Only the first turn matters.
    is_one_turn: bool,
}

/// The last second of a game.
const LAST_SECOND: TimeControl =
    TimeControl::PerGame { time: Duration::from_secs(1), increment: Duration::ZERO };

/// The odd moments of a game. Only Chinese checkers has positions from which every game is long.
fn moments(game: &Game, movetime: Duration) -> Vec<Scenario> {
    let few = "few pieces";
    let (many, (ending, late), pass) = match game {
        Game::English(_) => (
            "B:W:BK6,K7,K8,K9,K17,K18,K19,K20,K25,K26,K27,K28",
            (few, "B:WK1,K5,K32:BK28,K4,K29"),
            None,
        ),
        Game::Contest(_) => (
            "B:W9,12,13,18,23,30:B1,3,4,10,11,17,20,25,26,27,28",
            (few, "B:W29,30,31,32:B1,2,3,4"),
            None,
        ),
        Game::ChineseCheckers => (
            "3O4/1O3O1O/1O6/4O1#1/2#1#3/4#3/1#1#4/8 # 10",
            // Two pieces fill no camp: nobody can win before the last turn.
            ("a very long game", "#7/8/8/8/8/8/8/7O # 0"),
            Some("5OO#/6OO/5O1O/8/8/8/8/8 # 10"),
        ),
        Game::CaptureHalma => (
            "5b2/1w3b2/2w1b1bb/1b1w1w2/2w1w1w1/1w1w1b2/2b1b3/8 b 10",
            (few, "8/8/b7/8/8/7w/8/8 b 0"),
            Some("8/8/8/4w3/8/8/8/8 b 10"),
        ),
    };
    let time = TimeControl::PerMove(movetime);
    let mut moments = vec![
        Scenario { check: "many moves", position: many.into(), time, is_one_turn: true },
        Scenario { check: ending, position: late.into(), time, is_one_turn: false },
        Scenario {
            check: "the last second",
            position: game.info().start,
            time: LAST_SECOND,
            is_one_turn: false,
        },
    ];
    moments.extend(pass.map(|position| Scenario {
        check: "a forced pass",
        position: position.into(),
        time,
        is_one_turn: true,
    }));
    moments
}

/// Tries a bot. `times` are the start-up allowance and the time for a move. The logs of all games and
/// moments are written to a folder, if one is named.
pub fn check(
    program: &BotProgram,
    game: &Game,
    times: (Duration, Duration),
    seed: u64,
    log: Option<&Path>,
    stop: &Stop,
    mut found: impl FnMut(Finding),
) {
    let (startup, movetime) = times;
    if let Err(why) = program.supports(game) {
        return found(finding("start", Severity::Failure, why, ""));
    }
    let bot = match BotPlayer::new(program.clone(), stop) {
        Ok(bot) => bot,
        Err(error) => {
            let advice = match program.protocol.is_function() {
                true => "The file is compiled by itself, with headers that lie next to it.",
                false => {
                    "The command is run in the bot's folder, without a shell; a build command must \
                     end with exit code 0."
                }
            };
            return found(finding("start", Severity::Failure, error.to_string(), advice));
        }
    };
    let terms = GameSettings {
        time_control: TimeControl::PerMove(movetime),
        startup_timeout: startup,
        fault_policy: FaultPolicy::Forfeit,
        ..GameSettings::default_for(game)
    };
    let mut trial =
        CheckRun { bot, protocol: program.protocol, game, terms, seed, log, logs: 0, stop };
    trial.check_handshake(&mut found);
    for number in 0..4 {
        if !trial.is_over() {
            trial.quick_game(number, &mut found);
        }
    }
    for moment in moments(game, movetime) {
        if !trial.is_over() {
            trial.moment(&moment, &mut found);
        }
    }
    if !trial.is_over() {
        trial.check_quit(&mut found);
    }
}

fn finding(check: &'static str, grade: Severity, found: String, advice: &str) -> Finding {
    let advice = (!advice.is_empty()).then(|| advice.to_string());
    Finding { check, severity: grade, message: found, advice }
}

/// What to do about a fault.
fn advice(protocol: Protocol, fault: &Fault) -> &'static str {
    match (protocol, fault.kind) {
        (Protocol::V1, _) | (_, FaultKind::Crash | FaultKind::OutputFlood) => {}
        (Protocol::CFunction | Protocol::CppFunction, FaultKind::Timeout) => {
            return "The function is not told how much time it has: it must return in time by itself.";
        }
        (Protocol::CFunction, _) => {
            return "Return start*100+end, row and column from 1. `crownhead moves chinese-checkers \
                    --position P` lists the legal moves.";
        }
        (Protocol::CppFunction, _) => {
            return "Set row1, col1, row2 and col2 to the start and the final square, from 0; a \
                    capture must be made if there is one. `crownhead moves contest --position P` \
                    lists the legal moves.";
        }
        (Protocol::TcpInt32, FaultKind::Timeout) => {
            return "Answer each package within the time for a move; the client is not told how much \
                    that is.";
        }
        (Protocol::TcpInt32, _) => {
            return "Answer (n, id) and n pairs (row, column), from 0, as 32-bit integers: the id of \
                    the package, and the whole path from start to end. `crownhead moves \
                    capture-halma --position P` lists the legal moves.";
        }
    }
    match fault.kind {
        FaultKind::IllegalMove => {
            "Answer with one of the texts of moves=, exactly as it stands there. \
             `crownhead moves GAME --position P` lists them."
        }
        FaultKind::Timeout
            if fault.received.as_ref().is_some_and(|line| !line.starts_with("\"move ")) =>
        {
            "Answer each turn by a line that begins with the word move in small letters and a \
             blank: move TEXT. All other lines are ignored."
        }
        FaultKind::Timeout
            if fault.received.as_ref().is_some_and(|line| line.contains(" ply=")) =>
        {
            "Leave ply= away, or answer with the ply= of the turn line that is answered."
        }
        FaultKind::Timeout => {
            "Flush standard output after each line (print(…, flush=True), fflush(stdout), \
             System.out.flush()), and think less when time= is small."
        }
        FaultKind::StartFailed => {
            "Look at command and build of bot.toml, and at what must be installed."
        }
        FaultKind::Crash => {
            "Ask it the same again: `crownhead bot check … --log DIR`, then `crownhead bot \
             replay LOG --at PLY`."
        }
        FaultKind::OutputClosed => "Keep standard output open until quit.",
        FaultKind::ProtocolError => "Answer each turn line by one line: move TEXT.",
        FaultKind::LimitExceeded => {
            "Use less: smaller tables, no threads, nothing while the opponent thinks. docs/bots.md \
             has the limits."
        }
        FaultKind::OutputFlood => {
            "Write what is for you to standard error, or in short lines that begin with #."
        }
    }
}

struct CheckRun<'a> {
    bot: BotPlayer,
    protocol: Protocol,
    game: &'a Game,
    terms: GameSettings,
    seed: u64,
    /// The folder for logs, and how many are there.
    log: Option<&'a Path>,
    logs: u32,
    stop: &'a Stop,
}

impl CheckRun<'_> {
    fn seat(&mut self, check: &str, terms: &GameSettings, side: Side, seed: u64) {
        self.bot.new_game(seed);
        self.logs += 1;
        let name = format!("{:02}-{}.log", self.logs, check.replace(' ', "-"));
        let log = self.log.map(|folder| folder.join(name));
        let seating = GameStart {
            game: self.game,
            side,
            settings: terms,
            seed,
            opponent: "random",
            log: log.as_deref(),
        };
        self.bot.sit_down(&seating, self.stop);
    }

    fn fault(&self, check: &'static str, fault: &Fault) -> Finding {
        finding(
            check,
            Severity::Failure,
            format!("{}: {fault}", fault.kind.code()),
            advice(self.protocol, fault),
        )
    }

    /// Whether there is no more to learn: it was stopped, or the bot neither greets nor plays.
    fn is_over(&self) -> bool {
        let is_mute = self.bot.missed_ready() || !self.bot.is_greeted();
        let is_at_an_end = self.stop.is_stopped() || self.bot.unable().is_some();
        is_at_an_end || (is_mute && self.bot.fault().is_some())
    }

    fn check_handshake(&mut self, found: &mut impl FnMut(Finding)) {
        let start = Instant::now();
        let terms = self.terms;
        self.seat("hello", &terms, Side::First, self.seed);
        let time = start.elapsed();
        if let Some(fault) = self.bot.fault() {
            return found(self.fault("hello", fault));
        }
        if let Some(why) = self.bot.unable() {
            return found(finding("hello", Severity::Failure, why.to_string(), ""));
        }
        if self.bot.missed_ready() {
            let startup = format_duration(self.terms.startup_timeout);
            let what = format!("the bot did not say \"ready\" within {startup}");
            let advice = "Answer the lines crownhead and newgame with ready (and flush): the \
                          referee waits for it as long as it may before the first game.";
            return found(finding("hello", Severity::Warning, what, advice));
        }
        let name = match self.bot.bot_name() {
            Some(name) => format!(", calls itself {name:?}"),
            None => String::new(),
        };
        found(finding(
            "hello",
            Severity::Ok,
            format!("ready after {} ms{name}", time.as_millis()),
            "",
        ));
    }

    /// A game against `random` by the referee.
    fn game(
        &mut self,
        check: &str,
        session: &mut dyn Session,
        terms: &GameSettings,
        seed: u64,
        bot_side: Side,
    ) -> Result<Option<PlayedGame>, PlayerError> {
        self.seat(check, terms, bot_side, seed);
        let mut random = Random::new();
        random.new_game(seed);
        let players: [&mut dyn Player; 2] = match bot_side {
            Side::First => [&mut self.bot, &mut random],
            Side::Second => [&mut random, &mut self.bot],
        };
        referee::play(session, players, terms, seed, self.stop, &mut |_, _| {})
    }

    fn report(
        &self,
        check: &'static str,
        bot_side: Side,
        game: Result<Option<PlayedGame>, PlayerError>,
    ) -> Option<Finding> {
        let game = match game {
            Ok(game) => game?,
            Err(error) => return Some(finding(check, Severity::Failure, error.to_string(), "")),
        };
        let slowest = game.slowest_move[bot_side.index()];
        if let End::Forfeited(incident) = &game.end {
            let sentence = incident.describe(self.game);
            let advice = advice(self.protocol, &incident.fault);
            return Some(finding(check, Severity::Failure, sentence, advice));
        }
        let result = match game.end.winner() {
            None => "drawn",
            Some(winner) if winner == bot_side => "won",
            Some(_) => "lost",
        };
        let plies = game.moves.len();
        let name = self.game.info().sides[bot_side.index()].name;
        let text = format!(
            "{result} as {name} in {plies} plies, slowest move {:.1} ms",
            slowest.as_secs_f64() * 1e3
        );
        let is_slow =
            matches!(self.terms.time_control, TimeControl::PerMove(time) if slowest > time / 2);
        Some(match is_slow {
            true => {
                let advice = "More than half of the time was used: leave more, the contest's \
                              machine may be slower.";
                finding(check, Severity::Warning, text, advice)
            }
            false => finding(check, Severity::Ok, text, ""),
        })
    }

    fn quick_game(&mut self, number: u64, found: &mut impl FnMut(Finding)) {
        let sides = [Side::First, Side::Second];
        let side = sides[number as usize % 2];
        let Ok(mut session) = new_session(self.game, None) else { return };
        let terms = self.terms;
        let (check, seed) = ("game against random", self.seed.wrapping_add(number));
        let game = self.game(check, session.as_mut(), &terms, seed, side);
        if let Some(finding) = self.report(check, side, game) {
            found(finding);
        }
    }

    fn moment(&mut self, moment: &Scenario, found: &mut impl FnMut(Finding)) {
        // A position of the game without its options may be none of the game with them.
        let Ok(mut session) = new_session(self.game, Some(&moment.position)) else { return };
        if session.outcome().is_some() {
            return;
        }
        let terms = GameSettings { time_control: moment.time, ..self.terms };
        let side = session.side();
        if !moment.is_one_turn {
            let game = self.game(moment.check, session.as_mut(), &terms, self.seed, side);
            if let Some(finding) = self.report(moment.check, side, game) {
                found(finding);
            }
            return;
        }
        self.seat(moment.check, &terms, side, self.seed);
        let moves = session.legal_moves().len();
        let clock = terms.time_control.clock();
        let turn =
            referee::take_turn(session.as_mut(), &mut self.bot, clock, terms.grace, self.stop);
        let finding = match turn {
            Err(error) => finding(moment.check, Severity::Failure, error.to_string(), ""),
            Ok(None) => return,
            Ok(Some((used, Ok((text, _))))) => {
                let time = used.as_secs_f64() * 1e3;
                let text = format!("{text} of {moves}, after {time:.1} ms");
                finding(moment.check, Severity::Ok, text, "")
            }
            Ok(Some((_, Err(fault)))) => {
                let advice = match (moves, fault.kind) {
                    (1, FaultKind::IllegalMove) => {
                        "The only legal move is pass: answer with what stands in moves=."
                    }
                    _ => advice(self.protocol, &fault),
                };
                let incident = referee::incident(session.as_ref(), side, fault, terms.fault_policy);
                self.bot.on_fault(&incident, None);
                finding(moment.check, Severity::Failure, incident.describe(self.game), advice)
            }
        };
        found(finding);
    }

    fn check_quit(&mut self, found: &mut impl FnMut(Finding)) {
        if self.bot.fault().is_some() {
            return;
        }
        found(match self.bot.shutdown() {
            true => finding("quit", Severity::Ok, "the bot ends when it is told to".into(), ""),
            false => {
                let advice = match self.protocol {
                    Protocol::TcpInt32 => "End the program when a package begins with 0.",
                    _ => "End the program at the line quit, and when standard input ends.",
                };
                let what = "the bot did not end by itself and was killed".to_string();
                finding("quit", Severity::Warning, what, advice)
            }
        });
    }
}
