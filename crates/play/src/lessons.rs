//! The rules in exercises: small positions with something to do, checked by the rules themselves.
//!
//! They are texts in `lessons/`, one file for each game, with a blank line between two exercises; what
//! the game is about comes first. How an exercise is shown is the business of the front ends.

use crownhead_rules::Game;

use crate::{PlayError, Session, new_session, to_sentence};

/// Something to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exercise {
    /// A few words.
    pub title: String,
    /// The position it begins with.
    pub position: String,
    /// What to do.
    pub task: String,
    /// What has to happen.
    pub goal: Goal,
    /// Said if asked for.
    pub hint: String,
    /// Said when it is done.
    pub praise: String,
}

/// When an exercise is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Any legal move was made.
    Any,
    /// One of these was.
    Moves(Vec<String>),
    /// The rules refused a move with this reason.
    Illegal {
        /// The move to try.
        text: String,
        /// What the rules say about it.
        reason: String,
    },
}

/// What came of an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// The exercise is done, with these words.
    Done(String),
    /// It is not, for this reason.
    NotYet(String),
}

/// The exercises of a game, from the first to the last.
pub struct Course {
    game: Game,
    exercises: Vec<Exercise>,
    /// Which have been done.
    done: Vec<bool>,
    now: usize,
    session: Box<dyn Session>,
}

/// Game ids and lessons.
static LESSONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/lessons.rs"));

/// Returns the lessons of a game; `None` if there are none.
fn text_of(game: &Game) -> Option<&'static str> {
    let id = game.info().id;
    LESSONS.iter().find(|(game, _)| *game == id).map(|(_, text)| *text)
}

/// What a game is about, in paragraphs: enough to begin.
pub fn about(game: &Game) -> impl Iterator<Item = &'static str> {
    text_of(game).unwrap_or_default().lines().map_while(|line| line.strip_prefix(ABOUT))
}

/// The exercises of a game.
pub fn exercises(game: &Game) -> Result<Vec<Exercise>, String> {
    text_of(game).map_or(Ok(Vec::new()), read)
}

const ABOUT: &str = "about: ";

/// Reads exercises; what is wrong with a text is said with its line.
fn read(text: &str) -> Result<Vec<Exercise>, String> {
    let mut exercises = Vec::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    while lines.next_if(|(_, line)| line.starts_with(ABOUT)).is_some() {}
    if !matches!(lines.next(), Some((_, ""))) {
        return Err(
            "a blank line should stand between what the game is about and the exercises".into()
        );
    }
    while lines.peek().is_some() {
        let mut field = |name: &str| match lines.next() {
            None => Err(format!("the text ends where {name} should stand")),
            Some((number, line)) => match line.split_once(": ") {
                Some((word, value)) if word == name => Ok(value.trim().to_string()),
                Some((word, value)) if name == "goal" => Ok(format!("{word}: {value}")),
                _ => Err(format!("line {number}: {name} should stand here, not {line:?}")),
            },
        };
        exercises.push(Exercise {
            title: field("title")?,
            position: field("position")?,
            task: field("task")?,
            goal: read_goal(&field("goal")?)?,
            hint: field("hint")?,
            praise: field("praise")?,
        });
        match lines.next() {
            None | Some((_, "")) => {}
            Some((number, line)) => {
                return Err(format!("line {number}: a blank line should stand here, not {line:?}"));
            }
        }
    }
    Ok(exercises)
}

fn read_goal(text: &str) -> Result<Goal, String> {
    match text.split_once(": ") {
        Some(("accept", "any")) => Ok(Goal::Any),
        Some(("accept", moves)) => {
            Ok(Goal::Moves(moves.split_whitespace().map(String::from).collect()))
        }
        Some(("refused", rest)) => match rest.split_once(" -- ") {
            Some((text, reason)) => Ok(Goal::Illegal { text: text.into(), reason: reason.into() }),
            None => Err(format!("a move, -- and a reason should stand here, not {rest:?}")),
        },
        _ => Err(format!("accept or refused should stand here, not {text:?}")),
    }
}

/// The course of a game, whatever its options, begins with its first exercise.
pub fn course(game: &Game) -> Result<Course, String> {
    let id = game.info().id;
    let game: Game = id.parse().map_err(|error| format!("{error}"))?;
    let exercises = exercises(&game)?;
    let first = exercises.first().ok_or_else(|| format!("{id} has no lessons"))?;
    let session = begin(&game, first)?;
    Ok(Course { game, done: vec![false; exercises.len()], exercises, now: 0, session })
}

fn begin(game: &Game, exercise: &Exercise) -> Result<Box<dyn Session>, String> {
    new_session(game, Some(&exercise.position)).map_err(|error| error.to_string())
}

impl Course {
    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The exercise now.
    pub fn exercise(&self) -> &Exercise {
        &self.exercises[self.now]
    }

    /// Its number, from 1.
    pub fn number(&self) -> usize {
        self.now + 1
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.exercises.len()
    }

    /// How many have been done.
    pub fn done(&self) -> usize {
        self.done.iter().filter(|done| **done).count()
    }

    /// Whether each has been done, from the first to the last.
    pub fn all_done(&self) -> &[bool] {
        &self.done
    }

    /// The board.
    pub fn session(&self) -> &dyn Session {
        self.session.as_ref()
    }

    /// Whether a move is to be tried that the rules refuse.
    pub fn expects_illegal_move(&self) -> bool {
        matches!(self.exercise().goal, Goal::Illegal { .. })
    }

    /// Goes to another exercise, which begins anew; false if there is none.
    pub fn go_to(&mut self, number: usize) -> bool {
        let Some(index) = number.checked_sub(1).filter(|&index| index < self.count()) else {
            return false;
        };
        match begin(&self.game, &self.exercises[index]) {
            Ok(session) => (self.session, self.now) = (session, index),
            Err(_) => return false,
        }
        true
    }

    /// Tries a move. A move that does not do is taken back.
    pub fn attempt(&mut self, text: &str) -> Attempt {
        let exercise = &self.exercises[self.now];
        let tried = self.session.play(text);
        let moved = tried.is_ok();
        let (done, said) = match (&exercise.goal, tried) {
            (Goal::Illegal { text, .. }, Ok(())) => {
                (false, format!("That one is legal. Try {text}, and see what the rules say."))
            }
            (Goal::Illegal { text, reason }, Err(PlayError::Illegal(error))) => {
                let why = to_sentence(&error.reason);
                match error.reason == *reason {
                    true => (true, why),
                    false => (false, format!("{why} Illegal too, but try {text}.")),
                }
            }
            (_, Err(PlayError::Illegal(error))) => (false, to_sentence(&error.reason)),
            (_, Err(PlayError::GameOver(ending))) => (false, ending),
            (Goal::Any, Ok(())) => (true, String::new()),
            (Goal::Moves(moves), Ok(())) => {
                let made = self.session.moves().pop();
                let same = |text: &String| {
                    let mut other = self.session.clone_box();
                    other.undo();
                    other.play(text).is_ok() && other.moves().pop() == made
                };
                match moves.iter().any(same) {
                    true => (true, String::new()),
                    false => (false, "Legal, but not what is asked for here. Once more.".into()),
                }
            }
        };
        if !done {
            if moved {
                self.session.undo();
            }
            return Attempt::NotYet(said);
        }
        self.done[self.now] = true;
        Attempt::Done(format!("{said} {}", exercise.praise).trim().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn courses() -> impl Iterator<Item = Course> {
        Game::all().into_iter().map(|game| course(&game).unwrap())
    }

    #[test]
    fn every_game_has_8_to_12_exercises_of_all_kinds() {
        for course in courses() {
            assert!((8..=12).contains(&course.count()), "{}", course.game);
            let refusals = course
                .exercises
                .iter()
                .filter(|exercise| matches!(exercise.goal, Goal::Illegal { .. }));
            assert!((2..=6).contains(&refusals.count()), "{}", course.game);
        }
    }

    #[test]
    fn every_solution_is_accepted_and_every_refusal_is_worded_as_promised() {
        for mut course in courses() {
            for number in 1..=course.count() {
                let solutions = |course: &Course| match course.exercise().goal.clone() {
                    Goal::Any => vec![course.session().legal_moves()[0].text.clone()],
                    Goal::Moves(moves) => moves,
                    // On the screen a start and an end are chosen.
                    Goal::Illegal { text, .. } => vec![text.replace('x', "-"), text],
                };
                assert!(course.go_to(number), "{} {number}", course.game);
                for solution in solutions(&course) {
                    assert!(course.go_to(number));
                    let Attempt::Done(said) = course.attempt(&solution) else {
                        let got = course.attempt(&solution);
                        panic!("{} {number}, {solution}: {got:?}", course.game);
                    };
                    assert!(said.ends_with(&course.exercise().praise), "{said}");
                }
            }
            assert_eq!(course.done(), course.count());
        }
    }

    #[test]
    fn nothing_else_is_accepted() {
        for mut course in courses() {
            for number in 1..=course.count() {
                course.go_to(number);
                let goal = course.exercise().goal.clone();
                let legal = course.session().legal_moves();
                assert!(!legal.is_empty(), "{} {number}", course.game);
                for mv in legal {
                    let asked = match &goal {
                        Goal::Any => true,
                        Goal::Moves(moves) => moves.contains(&mv.text),
                        Goal::Illegal { .. } => false,
                    };
                    let done = matches!(course.attempt(&mv.text), Attempt::Done(_));
                    assert_eq!(done, asked, "{} {number}: {}", course.game, mv.text);
                    course.go_to(number);
                }
                let nonsense = course.attempt("?");
                assert!(matches!(nonsense, Attempt::NotYet(_)), "{nonsense:?}");
            }
        }
    }

    #[test]
    fn a_text_with_a_fault_is_refused_with_its_line() {
        let text =
            text_of(&"capture-halma".parse().unwrap()).unwrap().replacen("hint: ", "help: ", 1);
        let told = read(&text).unwrap_err();
        assert!(told.starts_with("line 10: hint should stand here, not \"help: "), "{told}");
    }
}
