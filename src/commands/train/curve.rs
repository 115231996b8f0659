//! Learning curves as SVG.

use std::fmt::Write;

use crownhead_rules::Game;
use crownhead_search::train::Epoch;

const WIDTH: f32 = 480.0;
const HEIGHT: f32 = 260.0;
const MARGIN: f32 = 50.0;

/// The losses of a training run.
#[derive(Default)]
pub(super) struct Curve(Vec<Epoch>);

impl Curve {
    pub(super) fn add(&mut self, epoch: &Epoch) {
        self.0.push(*epoch);
    }

    /// Draws the training and validation losses by epoch.
    pub(super) fn svg(&self, game: &Game) -> String {
        let losses = |epoch: &Epoch| [epoch.training_loss, epoch.validation_loss];
        let all = || self.0.iter().flat_map(losses);
        let (low, high) = (all().fold(f32::MAX, f32::min), all().fold(f32::MIN, f32::max));
        let (last, range) = (self.0.len().max(2) as f32 - 1.0, (high - low).max(1e-5));
        let x = |index: usize| MARGIN + index as f32 / last * (WIDTH - 2.0 * MARGIN);
        let y = |loss: f32| MARGIN + (high - loss) / range * (HEIGHT - 2.0 * MARGIN);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{MARGIN}\" y=\"20\">{game}: cross-entropy by epoch</text>\n"
        );
        for (line, (name, colour)) in
            [("training", "#1f77b4"), ("validation", "#d62728")].into_iter().enumerate()
        {
            let points: Vec<_> = self.0.iter().map(|epoch| losses(epoch)[line]).collect();
            let path: Vec<_> = points
                .iter()
                .enumerate()
                .map(|(index, loss)| format!("{:.1},{:.1}", x(index), y(*loss)))
                .collect();
            let path = path.join(" ");
            let (left, end) = (WIDTH - 130.0, 20 + 16 * line);
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" \
                 stroke-width=\"2\"/>\n\
                 <text x=\"{left}\" y=\"{end}\" fill=\"{colour}\">{name} {:.5}</text>",
                points.last().copied().unwrap_or_default()
            );
        }
        for loss in [low, high] {
            let _ = writeln!(svg, "<text x=\"4\" y=\"{:.1}\">{loss:.4}</text>", y(loss) + 4.0);
        }
        for index in [0, self.0.len().saturating_sub(1)] {
            let (x, y) = (x(index), HEIGHT - MARGIN + 20.0);
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\">{}</text>", index + 1);
        }
        svg.push_str("</svg>\n");
        svg
    }
}
