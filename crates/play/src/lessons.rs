//! Lessons: exercises that teach the rules, checked by the rules themselves.
//!
//! `lessons/ID.txt` has an introduction and the exercises of a game, separated by blank lines.
//! Front ends show them.

use crownhead_rules::Game;

use crate::{PlayError, Session, new_session, to_sentence};

/// One exercise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exercise {
    /// Short title.
    pub title: String,
    /// Start position.
    pub position: String,
    /// Task for the learner.
    pub task: String,
    /// When it is solved.
    pub goal: Goal,
    /// Hint, shown on request.
    pub hint: String,
    /// Message shown when it is solved.
    pub praise: String,
}

/// What solves an exercise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Any legal move.
    Any,
    /// One of these moves.
    Moves(Vec<String>),
    /// An illegal move: the learner is to see why it is illegal.
    Illegal {
        /// The move.
        text: String,
        /// Why it is illegal.
        reason: String,
    },
}

/// The result of an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// Solved, with a message.
    Solved(String),
    /// Not solved, with the reason.
    Failed(String),
}

/// The exercises of a game and the learner's progress.
pub struct Course {
    game: Game,
    exercises: Vec<Exercise>,
    /// Whether each exercise is solved.
    solved: Vec<bool>,
    current: usize,
    session: Box<dyn Session>,
}

/// Game ids and lesson texts.
static LESSONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/lessons.rs"));

/// Returns the lessons of a game; `None` if there are none.
fn lesson_text(game: &Game) -> Option<&'static str> {
    let id = game.info().id;
    LESSONS.iter().find(|(game, _)| *game == id).map(|(_, text)| *text)
}

/// Returns the introduction of a game, in paragraphs.
pub fn about(game: &Game) -> impl Iterator<Item = &'static str> {
    lesson_text(game).unwrap_or_default().lines().map_while(|line| line.strip_prefix(ABOUT_KEY))
}

/// Returns the exercises of a game.
pub fn exercises(game: &Game) -> Result<Vec<Exercise>, String> {
    lesson_text(game).map_or(Ok(Vec::new()), parse)
}

const ABOUT_KEY: &str = "about: ";

/// Parses exercises. Errors name the line.
fn parse(text: &str) -> Result<Vec<Exercise>, String> {
    let mut exercises = Vec::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    while lines.next_if(|(_, line)| line.starts_with(ABOUT_KEY)).is_some() {}
    if !matches!(lines.next(), Some((_, ""))) {
        return Err("expected a blank line after the introduction".into());
    }
    while lines.peek().is_some() {
        let mut field = |name: &str| match lines.next() {
            None => Err(format!("expected {name}, found the end of the text")),
            Some((number, line)) => match line.split_once(": ") {
                Some((key, value)) if key == name => Ok(value.trim().to_string()),
                Some((key, value)) if name == "goal" => Ok(format!("{key}: {value}")),
                _ => Err(format!("line {number}: expected {name}, found {line:?}")),
            },
        };
        exercises.push(Exercise {
            title: field("title")?,
            position: field("position")?,
            task: field("task")?,
            goal: parse_goal(&field("goal")?)?,
            hint: field("hint")?,
            praise: field("praise")?,
        });
        match lines.next() {
            None | Some((_, "")) => {}
            Some((number, line)) => {
                return Err(format!("line {number}: expected a blank line, found {line:?}"));
            }
        }
    }
    Ok(exercises)
}

fn parse_goal(text: &str) -> Result<Goal, String> {
    match text.split_once(": ") {
        Some(("accept", "any")) => Ok(Goal::Any),
        Some(("accept", moves)) => {
            Ok(Goal::Moves(moves.split_whitespace().map(String::from).collect()))
        }
        Some(("refused", rest)) => match rest.split_once(" -- ") {
            Some((text, reason)) => Ok(Goal::Illegal { text: text.into(), reason: reason.into() }),
            None => Err(format!("expected MOVE -- REASON, found {rest:?}")),
        },
        _ => Err(format!("expected accept or refused, found {text:?}")),
    }
}

/// Starts the course of a game with default options.
pub fn course(game: &Game) -> Result<Course, String> {
    let id = game.info().id;
    let game: Game = id.parse().map_err(|error| format!("{error}"))?;
    let exercises = exercises(&game)?;
    let first = exercises.first().ok_or_else(|| format!("{id} has no lessons"))?;
    let session = start(&game, first)?;
    Ok(Course { game, solved: vec![false; exercises.len()], exercises, current: 0, session })
}

fn start(game: &Game, exercise: &Exercise) -> Result<Box<dyn Session>, String> {
    new_session(game, Some(&exercise.position)).map_err(|error| error.to_string())
}

impl Course {
    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Current exercise.
    pub fn exercise(&self) -> &Exercise {
        &self.exercises[self.current]
    }

    /// Number of the current exercise, from 1.
    pub fn number(&self) -> usize {
        self.current + 1
    }

    /// Number of exercises.
    pub fn count(&self) -> usize {
        self.exercises.len()
    }

    /// Number of solved exercises.
    pub fn solved_count(&self) -> usize {
        self.solved.iter().filter(|solved| **solved).count()
    }

    /// Whether each exercise is solved.
    pub fn solved(&self) -> &[bool] {
        &self.solved
    }

    /// Current position.
    pub fn session(&self) -> &dyn Session {
        self.session.as_ref()
    }

    /// Whether the goal is an illegal move.
    pub fn expects_illegal_move(&self) -> bool {
        matches!(self.exercise().goal, Goal::Illegal { .. })
    }

    /// Starts an exercise over. Returns false if there is none with this number.
    pub fn go_to(&mut self, number: usize) -> bool {
        let Some(index) = number.checked_sub(1).filter(|&index| index < self.count()) else {
            return false;
        };
        match start(&self.game, &self.exercises[index]) {
            Ok(session) => (self.session, self.current) = (session, index),
            Err(_) => return false,
        }
        true
    }

    /// Tries a move. A move that does not solve the exercise is taken back.
    pub fn attempt(&mut self, text: &str) -> Attempt {
        let exercise = &self.exercises[self.current];
        let result = self.session.play(text);
        let is_legal = result.is_ok();
        let (is_solved, message) = match (&exercise.goal, result) {
            (Goal::Illegal { text, .. }, Ok(())) => {
                (false, format!("That move is legal. Try {text} and see why it is illegal."))
            }
            (Goal::Illegal { text, reason }, Err(PlayError::Illegal(error))) => {
                let message = to_sentence(&error.reason);
                match error.reason == *reason {
                    true => (true, message),
                    false => (false, format!("{message} Also illegal, but try {text}.")),
                }
            }
            (_, Err(PlayError::Illegal(error))) => (false, to_sentence(&error.reason)),
            (_, Err(PlayError::GameOver(outcome))) => (false, outcome),
            (Goal::Any, Ok(())) => (true, String::new()),
            (Goal::Moves(moves), Ok(())) => {
                let played = self.session.last_move_text();
                let is_played = |text: &String| {
                    let mut session = self.session.clone_box();
                    session.undo();
                    session.play(text).is_ok() && session.last_move_text() == played
                };
                match moves.iter().any(is_played) {
                    true => (true, String::new()),
                    false => (false, "Legal, but not the move asked for. Try again.".into()),
                }
            }
        };
        if !is_solved {
            if is_legal {
                self.session.undo();
            }
            return Attempt::Failed(message);
        }
        self.solved[self.current] = true;
        Attempt::Solved(format!("{message} {}", exercise.praise).trim().into())
    }
}

#[cfg(test)]
mod tests {
    use crownhead_rules::Side;

    use super::*;
    use crate::is_flipped_for;

    fn courses() -> impl Iterator<Item = Course> {
        Game::all().into_iter().map(|game| course(&game).unwrap())
    }

    #[test]
    fn every_game_has_8_to_12_exercises_of_all_kinds() {
        for course in courses() {
            assert!((8..=12).contains(&course.count()), "{}", course.game);
            let illegal = course
                .exercises
                .iter()
                .filter(|exercise| matches!(exercise.goal, Goal::Illegal { .. }));
            assert!((2..=6).contains(&illegal.count()), "{}", course.game);
        }
    }

    #[test]
    fn texts_do_not_depend_on_the_orientation_of_the_board() {
        let is_flipped = |game: &Game| [Side::First, Side::Second].map(|s| is_flipped_for(game, s));
        for course in courses().filter(|course| is_flipped(&course.game) != [false; 2]) {
            let text = lesson_text(&course.game).unwrap();
            let mut words = text.split(|c: char| !c.is_alphabetic());
            let direction = words.find(|word| ["up", "down", "top", "bottom"].contains(word));
            assert_eq!(direction, None, "{}", course.game);
        }
    }

    #[test]
    fn every_solution_is_accepted_and_every_illegal_move_has_its_reason() {
        for mut course in courses() {
            for number in 1..=course.count() {
                let solutions = |course: &Course| match course.exercise().goal.clone() {
                    Goal::Any => vec![course.session().legal_moves()[0].text.clone()],
                    Goal::Moves(moves) => moves,
                    // On the screen a learner selects start and end.
                    Goal::Illegal { text, .. } => vec![text.replace('x', "-"), text],
                };
                assert!(course.go_to(number), "{} {number}", course.game);
                for solution in solutions(&course) {
                    assert!(course.go_to(number));
                    let Attempt::Solved(message) = course.attempt(&solution) else {
                        let got = course.attempt(&solution);
                        panic!("{} {number}, {solution}: {got:?}", course.game);
                    };
                    assert!(message.ends_with(&course.exercise().praise), "{message}");
                }
            }
            assert_eq!(course.solved_count(), course.count());
        }
    }

    #[test]
    fn other_moves_are_rejected() {
        for mut course in courses() {
            for number in 1..=course.count() {
                course.go_to(number);
                let goal = course.exercise().goal.clone();
                let legal = course.session().legal_moves();
                assert!(!legal.is_empty(), "{} {number}", course.game);
                for mv in legal {
                    let is_goal = match &goal {
                        Goal::Any => true,
                        Goal::Moves(moves) => moves.contains(&mv.text),
                        Goal::Illegal { .. } => false,
                    };
                    let solved = matches!(course.attempt(&mv.text), Attempt::Solved(_));
                    assert_eq!(solved, is_goal, "{} {number}: {}", course.game, mv.text);
                    course.go_to(number);
                }
                let attempt = course.attempt("?");
                assert!(matches!(attempt, Attempt::Failed(_)), "{attempt:?}");
            }
        }
    }

    #[test]
    fn parse_error_names_the_line() {
        let text =
            lesson_text(&"capture-halma".parse().unwrap()).unwrap().replacen("hint: ", "help: ", 1);
        let error = parse(&text).unwrap_err();
        assert!(error.starts_with("line 10: expected hint, found \"help: "), "{error}");
    }
}
