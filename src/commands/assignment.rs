//! `crownhead assignment`: the programs that the original assignments describe.

use std::io::{BufRead, Write};
use std::time::Duration;

use crownhead_bots::{PlayerSpec, Protocol};
use crownhead_play::referee::play_game;
use crownhead_play::{
    DEFAULT_PLAYER, End, GameSettings, GameSetup, GameStart, Knowledge, Opening, PlayError,
    PlayerError, Session, StopFlag, TimeControl, board_text, derive_seed, new_session,
    parse_duration,
};
use crownhead_rules::{AssignmentTexts, Game, GameInfo, MoveErrorKind, Side};
use crownhead_terminal::plain::input::{InputLine, read_line};
use crownhead_terminal::text::{move_text, side_text};

use super::play::random_seed;
use crate::failure::Failure;
use crate::isolation_args::IsolationArgs;
use crate::knowledge::load_knowledge;
use crate::output::eprint_message;
use crate::signals::stop_on_interrupt;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crownhead assignment chinese-checkers
  crownhead assignment contest A.cpp B.cpp --seed 1

chinese-checkers is a dialogue, also through a pipe: 1 or 2 for the mode, then a move per line.
contest plays the functions move_black and move_red of two files against each other. It prints Draw,
Invalid Move or the winner, then the board: 0 empty, 1 black, 2 red, 3 and 4 their kings.")]
pub(crate) struct Args {
    /// Game of the assignment: chinese-checkers or contest
    game: Game,
    /// The two source files, for contest
    #[arg(value_name = "FILE", num_args = 0..=2)]
    files: Vec<String>,
    /// Computer player in human v.s. computer mode
    #[arg(long, value_name = "PLAYER", default_value = DEFAULT_PLAYER)]
    computer: String,
    /// Random seed of the colours and of the computer [default: different every time]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Time per move of a function
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "5s")]
    movetime: Duration,
    #[command(flatten)]
    isolation: IsolationArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let info = args.game.info();
    let is_of_assignment = |protocol: &Protocol| {
        protocol.is_function() && info.bot_protocols.contains(&protocol.name())
    };
    let protocol = Protocol::ALL.into_iter().find(is_of_assignment);
    match (info.assignment_texts, protocol, args.files.as_slice()) {
        (Some(texts), _, []) => dialogue(args, &texts),
        (None, Some(protocol), [first, second]) => play_functions(args, protocol, [first, second]),
        (None, Some(_), _) => Err(Failure::Usage(format!(
            "the assignment needs two source files: crownhead assignment {} A.cpp B.cpp",
            info.id
        ))),
        (Some(_), ..) => Err(Failure::Usage(format!(
            "the assignment has no source files; to play against a function: crownhead play {} \
             --second c-function:FILE",
            info.id
        ))),
        (None, None, _) => Err(Failure::Usage(format!(
            "no program for the assignment of {}; use crownhead play {}",
            info.name, info.id
        ))),
    }
}

/// Plays two move functions against each other, as the skeleton of the assignment does.
fn play_functions(args: &Args, protocol: Protocol, files: [&String; 2]) -> Result<(), Failure> {
    let parse = |file: &String| {
        let spec = format!("{}:{file}", protocol.name()).parse::<PlayerSpec>();
        spec.map_err(|error| Failure::BadInput(error.to_string()))
    };
    let mut players = [parse(files[0])?, parse(files[1])?];
    args.isolation.apply(players.iter_mut().filter_map(PlayerSpec::program_mut))?;
    let seed = args.seed.unwrap_or_else(random_seed);
    let seeds = [1, 2].map(|number| derive_seed(&[seed, number]));
    let mut names = files.map(String::as_str);
    if derive_seed(&[seed]) % 2 == 1 {
        players.swap(0, 1);
        names.swap(0, 1);
    }
    let sides = args.game.info().sides;
    for (side, name) in sides.iter().zip(names) {
        eprint_message(format_args!("{}: {name}", side.name));
    }
    let stop = stop_on_interrupt();
    let settings = GameSettings {
        time_control: TimeControl::PerMove(args.movetime),
        ..GameSettings::default_for(&args.game)
    };
    let (knowledge, opening) = (Knowledge::default(), Opening::default());
    let setup = GameSetup {
        game: &args.game,
        settings: &settings,
        knowledge: &knowledge,
        opening: &opening,
        names,
        seeds,
        referee_seed: seed,
        logs: [None, None],
    };
    let start = |spec: &PlayerSpec| {
        spec.build(&stop)?;
        spec.player(&args.game, &knowledge)
    };
    let bot_failure = |error: PlayerError| match error {
        PlayerError::Stopped => Failure::Interrupted,
        error => Failure::Bot(Some(error.to_string())),
    };
    let mut first = start(&players[0]).map_err(bot_failure)?;
    let mut second = start(&players[1]).map_err(bot_failure)?;
    let played = play_game(&setup, [first.as_mut(), second.as_mut()], &stop, &mut |_| {});
    let Some(played) = played.map_err(bot_failure)? else { return Err(Failure::Interrupted) };
    let mut session = opening.session(&args.game).map_err(Failure::BadInput)?;
    for text in &played.moves {
        session.replay(text)?;
    }
    let result = match (&played.end, played.end.winner()) {
        (End::Forfeited(_), _) => "Invalid Move".into(),
        (_, Some(side)) => format!("{} wins", sides[side.index()].name),
        (_, None) => "Draw".into(),
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{result}")?;
    for row in session.board().chunks(8) {
        for &letter in row {
            write!(out, "{} ", cell_number(args.game.info(), letter))?;
        }
        writeln!(out)?;
    }
    match played.end {
        End::Forfeited(incident) => Err(Failure::Bot(Some(incident.describe(&args.game)))),
        _ => Ok(()),
    }
}

/// Returns the number of a cell in the array of the assignment: 0 empty, then the men of both
/// sides, then their kings.
fn cell_number(info: &GameInfo, letter: char) -> usize {
    let letters = info.pieces.iter().flat_map(|piece| piece.letters);
    letters.into_iter().position(|other| other == letter).map_or(0, |index| index + 1)
}

/// Plays in plain text: a person against a person or a computer.
fn dialogue(args: &Args, texts: &AssignmentTexts) -> Result<(), Failure> {
    let game = &args.game;
    let computer: PlayerSpec =
        args.computer.parse().map_err(|error| Failure::Usage(format!("--computer: {error}")))?;
    computer.supports(game).map_err(Failure::Usage)?;
    let (mut input, mut out) = (std::io::stdin().lock(), std::io::stdout().lock());
    writeln!(out, "Enter 1 --> \"human v.s. human\" mode")?;
    writeln!(out, "Enter 2 --> \"human v.s. computer\" mode")?;
    let has_computer = loop {
        out.flush()?;
        match read_line(&mut input)? {
            InputLine::End | InputLine::Interrupted => return Ok(()),
            InputLine::Text(text) if text == "1" => break false,
            InputLine::Text(text) if text == "2" => break true,
            _ => writeln!(out, "{}", texts.prompt(MoveErrorKind::Format))?,
        }
    };
    let stop = StopFlag::new();
    let settings =
        GameSettings { time_control: TimeControl::Unlimited, ..GameSettings::default_for(game) };
    let seed = args.seed.unwrap_or_else(random_seed);
    let mut player = match has_computer {
        false => None,
        true => {
            let mut computer = computer.clone();
            args.isolation.apply(computer.program_mut())?;
            let mut player = computer
                .player(game, &load_knowledge(game).0)
                .map_err(|error| Failure::Bot(Some(error.to_string())))?;
            player.start_game(&GameStart::new(game, Side::Second, &settings, seed), &stop);
            Some(player)
        }
    };
    let mut session = new_session(game, None)?;
    while session.outcome().is_none() {
        let side = session.side();
        write!(out, "\n{}", board_text(&session.board()))?;
        let forced_pass = session.legal_moves().into_iter().find(|mv| mv.path.is_empty());
        if let Some(pass) = forced_pass {
            writeln!(out, "{} cannot move and passes", side_text(game, side))?;
            session.play(&pass.text)?;
            continue;
        }
        match player.as_mut().filter(|_| side == Side::Second) {
            Some(player) => {
                let clock = settings.time_control.clock();
                let choice = player
                    .choose(session.as_ref(), &clock, &stop, &mut |_| {})
                    .map_err(|error| Failure::Bot(Some(error.to_string())))?;
                session
                    .play(&choice.text)
                    .map_err(|error| Failure::Bot(Some(error.to_string())))?;
                if let Some(played) = session.last_move() {
                    writeln!(out, "{} plays {}", side_text(game, side), move_text(&played))?;
                }
            }
            None => {
                write!(out, "{} to move: ", side_text(game, side))?;
                if !human_turn(session.as_mut(), texts, &mut input, &mut out)? {
                    return Ok(());
                }
            }
        }
    }
    write!(out, "\n{}", board_text(&session.board()))?;
    let winner = session.outcome().and_then(|outcome| outcome.winner);
    writeln!(out, "{}", texts.result(winner))?;
    Ok(())
}

/// Reads lines until one is a legal move, and plays it. Returns false at the end of the input.
fn human_turn(
    session: &mut dyn Session,
    texts: &AssignmentTexts,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    loop {
        out.flush()?;
        let kind = match read_line(input)? {
            InputLine::End | InputLine::Interrupted => {
                writeln!(out)?;
                return Ok(false);
            }
            InputLine::Invalid(_) => MoveErrorKind::Format,
            InputLine::Text(text) => match session.play(&text) {
                Ok(()) => return Ok(true),
                Err(PlayError::Illegal(error)) => error.kind,
                Err(error) => return Err(error.into()),
            },
        };
        writeln!(out, "{}", texts.prompt(kind))?;
    }
}
