//! Pieces as discs of quadrant characters. Each character has 2x2 pixels.

use std::ops::RangeInclusive;

/// Quadrant characters by their pixels: bit 0 upper left, 1 upper right, 2 lower left, 3 lower
/// right.
const QUADRANTS: [char; 16] =
    [' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'];

/// Returns the character with these pixels.
pub(super) fn quadrant(pixels: u8) -> char {
    QUADRANTS[usize::from(pixels & 15)]
}

/// Returns the pixels of one character of a shape.
fn character(row: u16, column: u16, is_set: impl Fn(u16, u16) -> bool) -> u8 {
    let offsets = [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().enumerate();
    let bit = |(index, (down, right)): (usize, (u16, u16))| {
        u8::from(is_set(2 * row + down, 2 * column + right)) << index
    };
    offsets.map(bit).sum()
}

/// Returns the pixels of one character of a disc that fills a cell of `width` times `height`.
/// A ring is hollow.
pub(super) fn disc(width: u16, height: u16, row: u16, column: u16, is_ring: bool) -> u8 {
    // A character is twice as high as wide. Units: half the height of a character.
    let radius = f32::from(height).min(f32::from(width) / 2.0);
    let inside = |y: u16, x: u16, radius: f32| {
        let down = f32::from(y) + 0.5 - f32::from(height);
        let right = (f32::from(x) + 0.5 - f32::from(width)) / 2.0;
        radius > 0.0 && down * down + right * right <= radius * radius
    };
    character(row, column, |y, x| inside(y, x, radius) && !(is_ring && inside(y, x, radius - 0.65)))
}

/// The small and the large crown, as rows of pixels.
const CROWNS: [&[&str]; 2] =
    [&["#.##.#", "######"], &["#...##...#", "##.####.##", "##########", "##########"]];

/// Returns the rows and columns of a cell that a crown covers.
pub(super) fn crown_area(width: u16, height: u16) -> (RangeInclusive<u16>, RangeInclusive<u16>) {
    let crown = CROWNS[usize::from(height >= 4)];
    let (rows, columns) = (crown.len() as u16 / 2, crown[0].len() as u16 / 2);
    let (top, left) = ((height - rows) / 2, (width - columns) / 2);
    (top..=top + rows - 1, left..=left + columns - 1)
}

/// Returns the pixels of one character of a crown, counted from its upper left corner.
pub(super) fn crown(height: u16, row: u16, column: u16) -> u8 {
    let crown = CROWNS[usize::from(height >= 4)];
    character(row, column, |y, x| crown[usize::from(y)].as_bytes()[usize::from(x)] == b'#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(width: u16, height: u16, is_ring: bool) -> String {
        let row = |row| {
            (0..width).map(|column| quadrant(disc(width, height, row, column, is_ring))).collect()
        };
        (0..height).map(row).collect::<Vec<String>>().join("\n")
    }

    #[test]
    fn discs_are_round_at_every_size() {
        assert_eq!(shape(5, 2, false), "▗███▖\n▝███▘");
        assert_eq!(shape(5, 2, true), "▗▀▀▀▖\n▝▄▄▄▘");
        insta::assert_snapshot!(
            [(7, 3), (9, 4), (11, 5), (13, 6)]
                .map(|(width, height)| format!(
                    "{}\n{}",
                    shape(width, height, false),
                    shape(width, height, true)
                ))
                .join("\n")
        );
    }
}
