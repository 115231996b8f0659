//! Colours: three themes, shown with as many colours as the terminal has.

use crownhead_rules::{Colour, GameInfo};
use ratatui::style::{Color, Modifier, Style};

/// Number of colours of the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColourDepth {
    /// No colours: shapes and letters carry all information.
    None,
    /// The 16 colours of every terminal.
    Ansi16,
    /// The 256-colour palette.
    Ansi256,
    /// 24-bit colours.
    TrueColour,
}

impl ColourDepth {
    /// Returns the depth that `COLORTERM` and `TERM` announce.
    pub fn detect(colorterm: &str, term: &str) -> ColourDepth {
        if matches!(colorterm, "truecolor" | "24bit") || term.ends_with("-direct") {
            ColourDepth::TrueColour
        } else if term.contains("256") {
            ColourDepth::Ansi256
        } else {
            ColourDepth::Ansi16
        }
    }
}

/// A set of board colours.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Theme {
    /// Brown board.
    #[default]
    Wood,
    /// Grey-blue board.
    Slate,
    /// Green board.
    Felt,
}

impl Theme {
    /// All themes.
    pub const ALL: [Theme; 3] = [Theme::Wood, Theme::Slate, Theme::Felt];

    /// The stable external word.
    pub const fn code(self) -> &'static str {
        match self {
            Theme::Wood => "wood",
            Theme::Slate => "slate",
            Theme::Felt => "felt",
        }
    }

    /// Returns the theme with this code.
    pub fn from_code(code: &str) -> Option<Theme> {
        Theme::ALL.into_iter().find(|theme| theme.code() == code)
    }

    /// The next theme in the list.
    pub fn next(self) -> Theme {
        let index = Theme::ALL.iter().position(|theme| *theme == self).unwrap_or(0);
        Theme::ALL[(index + 1) % Theme::ALL.len()]
    }

    /// Squares of a tone, as RGB and as one of the 16 colours.
    const fn square(self, tone: Tone) -> (u32, Color) {
        let (rgb, colour) = match self {
            Theme::Wood => ([0xf0d9b5, 0xdfc08f, 0xb5865b, 0x966b43, 0xa8794f], Color::Yellow),
            Theme::Slate => ([0xc9d3de, 0xb4c2d0, 0x768ca4, 0x5f748b, 0x6b8199], Color::Cyan),
            Theme::Felt => ([0xe6ead0, 0xcfd8b4, 0x6c9c66, 0x5a8a55, 0x5f8f5a], Color::Green),
        };
        match tone {
            Tone::Light => (rgb[0], Color::Gray),
            Tone::Pale => (rgb[1], colour),
            Tone::Medium => (rgb[2], Color::DarkGray),
            Tone::Deep => (rgb[3], colour),
            Tone::Dark => (rgb[4], colour),
        }
    }
}

/// Tone of a square.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Light squares where pieces are not white.
    Light,
    /// The other squares in games without white pieces, where red must stand out.
    Pale,
    /// Light squares where white pieces stand on all squares.
    Medium,
    /// The other squares where white pieces stand on all squares.
    Deep,
    /// Dark squares of checkers with white pieces.
    Dark,
}

impl Tone {
    /// Returns the tone of a light or dark square of a game. Where pieces stand on all squares,
    /// both sides must stand out from both tones.
    pub fn new(game: &GameInfo, is_dark: bool) -> Tone {
        let is_on_all_squares = game.cells == !0;
        let has_white = game.sides.iter().any(|side| side.colour == Colour::White);
        match (is_dark, is_on_all_squares, has_white) {
            (false, true, true) => Tone::Medium,
            (false, ..) => Tone::Light,
            (true, _, false) => Tone::Pale,
            (true, true, true) => Tone::Deep,
            (true, false, true) => Tone::Dark,
        }
    }
}

/// A role of a colour on the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A square.
    Square(Tone),
    /// A selected cell or a destination.
    Target,
    /// A cell of the last move.
    LastMove,
    /// A piece.
    Piece(Colour),
    /// Text on a piece.
    PieceText(Colour),
    /// The crown on a king.
    Crown(Colour),
    /// Text on a square.
    Ink,
}

/// Theme and colour depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// Theme of the board.
    pub theme: Theme,
    /// Number of colours.
    pub depth: ColourDepth,
}

impl Look {
    /// No colours.
    pub const PLAIN: Look = Look { theme: Theme::Wood, depth: ColourDepth::None };

    /// Whether there are colours.
    pub fn has_colours(self) -> bool {
        self.depth != ColourDepth::None
    }

    /// Returns a colour as the terminal can show it.
    pub fn colour(self, role: Role) -> Color {
        let (rgb, ansi16) = match role {
            Role::Square(tone) => self.theme.square(tone),
            Role::Target => (0x7fb069, Color::LightGreen),
            Role::LastMove => (0xe3c567, Color::LightYellow),
            Role::Piece(Colour::Black) => (0x22211f, Color::Black),
            Role::Piece(Colour::White) => (0xfbf8f1, Color::White),
            Role::Piece(Colour::Red) => (0xc4282b, Color::Red),
            Role::Piece(Colour::Blue) => (0x2456b3, Color::Blue),
            Role::Crown(Colour::White) => (0xa8660a, Color::Red),
            Role::Crown(_) => (0xffd75f, Color::LightYellow),
            Role::PieceText(Colour::White) | Role::Ink => (0x1c1c1c, Color::Black),
            Role::PieceText(_) => (0xf5f5f5, Color::White),
        };
        match self.depth {
            ColourDepth::None => Color::Reset,
            ColourDepth::Ansi16 => ansi16,
            ColourDepth::Ansi256 => Color::Indexed(nearest_256(rgb)),
            ColourDepth::TrueColour => Color::from_u32(rgb),
        }
    }

    /// Style of important text. Without colours there is none: words and shapes carry the meaning.
    pub fn bold(self) -> Style {
        self.modifier(Modifier::BOLD)
    }

    /// Style of secondary text. Dim rather than grey, which suits dark and light terminals.
    pub fn dim(self) -> Style {
        self.modifier(Modifier::DIM)
    }

    /// Style of the selected row of a list.
    pub fn selected(self) -> Style {
        self.modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    fn modifier(self, modifier: Modifier) -> Style {
        match self.has_colours() {
            true => Style::default().add_modifier(modifier),
            false => Style::default(),
        }
    }
}

/// Returns the index of the nearest colour of the 256-colour palette: its cube or its greys.
fn nearest_256(rgb: u32) -> u8 {
    const LEVELS: [i32; 6] = [0, 95, 135, 175, 215, 255];
    let channels = [rgb >> 16, rgb >> 8, rgb].map(|value| (value & 255) as i32);
    let distance =
        |other: [i32; 3]| -> i32 { channels.iter().zip(other).map(|(a, b)| (a - b).pow(2)).sum() };
    let level = |value: i32| (0..6).min_by_key(|&index| (LEVELS[index] - value).abs()).unwrap_or(0);
    let cube = channels.map(level);
    let grey = (channels.iter().sum::<i32>() / 3 - 8).div_euclid(10).clamp(0, 23);
    if distance([8 + 10 * grey; 3]) < distance(cube.map(|index| LEVELS[index])) {
        232 + grey as u8
    } else {
        (16 + 36 * cube[0] + 6 * cube[1] + cube[2]) as u8
    }
}

#[cfg(test)]
mod tests {
    use crownhead_rules::GAMES;

    use super::*;

    #[test]
    fn depth_follows_the_environment() {
        for (colorterm, term, depth) in [
            ("truecolor", "xterm", ColourDepth::TrueColour),
            ("24bit", "screen", ColourDepth::TrueColour),
            ("", "xterm-direct", ColourDepth::TrueColour),
            ("", "xterm-256color", ColourDepth::Ansi256),
            ("", "linux", ColourDepth::Ansi16),
        ] {
            assert_eq!(ColourDepth::detect(colorterm, term), depth, "{colorterm} {term}");
        }
    }

    #[test]
    fn nearest_palette_colour_is_exact_for_cube_and_greys() {
        for (rgb, index) in [(0, 16), (0xffffff, 231), (0xff0000, 196), (0x808080, 244)] {
            assert_eq!(nearest_256(rgb), index, "{rgb:06x}");
        }
    }

    #[test]
    fn sides_and_squares_differ_in_every_theme_and_depth() {
        let depths = [ColourDepth::Ansi16, ColourDepth::Ansi256, ColourDepth::TrueColour];
        for (theme, depth) in
            Theme::ALL.into_iter().flat_map(|theme| depths.map(|depth| (theme, depth)))
        {
            let look = Look { theme, depth };
            for game in &GAMES {
                let squares = [false, true]
                    .map(|is_dark| look.colour(Role::Square(Tone::new(game, is_dark))));
                assert_ne!(squares[0], squares[1]);
                let pieces = game.sides.map(|side| look.colour(Role::Piece(side.colour)));
                assert_ne!(pieces[0], pieces[1]);
                for piece in pieces {
                    assert!(!squares.contains(&piece), "{look:?} {piece:?}");
                }
            }
        }
    }

    fn contrast(colours: [Color; 2]) -> f64 {
        let luminance = |colour| {
            let Color::Rgb(red, green, blue) = colour else { panic!("{colour}") };
            let [red, green, blue] = [red, green, blue].map(|part| {
                let value = f64::from(part) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let [a, b] = colours.map(luminance);
        f64::max(a, b) / f64::min(a, b)
    }

    #[test]
    fn pieces_have_contrast_with_the_squares_they_stand_on() {
        for (theme, game) in
            Theme::ALL.into_iter().flat_map(|theme| GAMES.iter().map(move |game| (theme, game)))
        {
            let look = Look { theme, depth: ColourDepth::TrueColour };
            let tones: &[bool] = if game.cells == !0 { &[false, true] } else { &[true] };
            for (side, &is_dark) in
                game.sides.iter().flat_map(|side| tones.iter().map(move |tone| (side, tone)))
            {
                let colours = [Role::Piece(side.colour), Role::Square(Tone::new(game, is_dark))];
                let contrast = contrast(colours.map(|role| look.colour(role)));
                assert!(contrast >= 3.0, "{theme:?} {} {}: {contrast}", game.id, side.name);
            }
        }
    }
}
