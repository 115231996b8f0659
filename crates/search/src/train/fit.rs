//! Trains a network: Adam on the cross-entropy between the predicted and the target result.

use super::data::Record;
use crate::network::{
    HIDDEN_ONE, NetworkError, OUTPUT_ONE, POINTS_PER_LOGIT, Shape, WEIGHT_LIMIT, shape_text, words,
};
use crate::{Score, StopFlag};

/// Options of the training.
#[derive(Clone, Copy, Debug)]
pub struct FitOptions {
    /// Passes over the data.
    pub epochs: usize,
    /// Share of the game's result in the target; the rest is the search's score.
    pub result_weight: f32,
    /// Learning rate of the first epoch; it falls to a hundredth of that along a cosine.
    pub learning_rate: f32,
    /// Positions per step.
    pub batch: usize,
    /// Random seed of the order of positions.
    pub seed: u64,
}

impl Default for FitOptions {
    fn default() -> FitOptions {
        FitOptions { epochs: 14, result_weight: 0.5, learning_rate: 0.003, batch: 4096, seed: 1 }
    }
}

/// Positions as inputs of a network.
#[derive(Default)]
pub struct TrainingSet {
    inputs: Vec<u16>,
    samples: Vec<Sample>,
}

#[derive(Clone, Copy)]
struct Sample {
    /// End of its inputs, which start at the end of the previous sample's.
    inputs_end: u32,
    bucket: u8,
    /// Logits that the output is added to.
    base: f32,
    /// Factor of the sum: an advantage counts less near a draw by a counter.
    scale: f32,
    /// Expected result by the search's score.
    score: f32,
    /// Result of the game; NaN if unknown.
    result: f32,
    is_validation: bool,
}

/// One game in this many is used for validation.
const VALIDATION_GAMES: u32 = 50;

/// Terms of a position's score besides the output of the network.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    /// Output bucket.
    pub(super) bucket: usize,
    /// Score that the output is added to.
    pub(super) base: Score,
    /// Factor of the sum: an advantage counts less near a draw by a counter.
    pub(super) scale: f32,
}

impl TrainingSet {
    /// Adds a position.
    pub(super) fn push(
        &mut self,
        record: &Record,
        Terms { bucket, base, scale }: Terms,
        inputs: impl FnOnce(&mut dyn FnMut(usize)),
    ) {
        inputs(&mut |input| self.inputs.push(input as u16));
        self.samples.push(Sample {
            inputs_end: self.inputs.len() as u32,
            bucket: bucket as u8,
            base: base as f32 / POINTS_PER_LOGIT,
            scale,
            score: sigmoid(f32::from(record.score) / POINTS_PER_LOGIT),
            result: record.result.map_or(f32::NAN, |result| f32::from(result) / 2.0),
            is_validation: record.game.is_multiple_of(VALIDATION_GAMES),
        });
    }

    /// Numbers of positions for training and for validation.
    pub fn len(&self) -> (usize, usize) {
        let validation = self.samples.iter().filter(|sample| sample.is_validation).count();
        (self.samples.len() - validation, validation)
    }

    fn inputs(&self, index: usize) -> &[u16] {
        let start = match index {
            0 => 0,
            _ => self.samples[index - 1].inputs_end,
        };
        &self.inputs[start as usize..self.samples[index].inputs_end as usize]
    }
}

/// A network with weights as floating-point numbers.
#[derive(Clone)]
pub struct FloatNetwork {
    /// Shape of the network.
    pub shape: Shape,
    /// Weights of the first layer by input, then the biases, then the output weights and biases by
    /// bucket.
    pub weights: Vec<f32>,
}

/// Offsets of the groups of weights.
struct Offsets {
    bias: usize,
    output: usize,
    output_bias: usize,
    total: usize,
}

fn offsets(shape: Shape) -> Offsets {
    let bias = shape.inputs * shape.hidden;
    let output = bias + shape.hidden;
    let output_bias = output + shape.buckets * shape.hidden;
    Offsets { bias, output, output_bias, total: output_bias + shape.buckets }
}

impl FloatNetwork {
    /// A network with random weights.
    pub fn random(shape: Shape, seed: u64) -> FloatNetwork {
        let mut rng = fastrand::Rng::with_seed(seed);
        let offsets = offsets(shape);
        let mut weights = vec![0.0; offsets.total];
        let spread = 0.25;
        weights[..offsets.bias].iter_mut().for_each(|w| *w = spread * (rng.f32() - 0.5));
        weights[offsets.bias..offsets.output].fill(0.3);
        let output = &mut weights[offsets.output..offsets.output_bias];
        output.iter_mut().for_each(|w| *w = 0.5 * (rng.f32() - 0.5));
        FloatNetwork { shape, weights }
    }

    /// Reads a weights file, to train the network further.
    pub fn parse(bytes: &[u8], shape: Shape) -> Result<FloatNetwork, NetworkError> {
        let words: Vec<i16> = words(bytes, shape)?.collect();
        let Offsets { output, output_bias, .. } = offsets(shape);
        let float = |word: i16, one: i32| f32::from(word) / one as f32;
        let mut weights: Vec<f32> =
            words[..output].iter().map(|word| float(*word, HIDDEN_ONE)).collect();
        weights.extend(words[output..output_bias].iter().map(|word| float(*word, OUTPUT_ONE)));
        let biases = words[output_bias..].as_chunks().0.iter();
        weights.extend(biases.map(|&[low, high]| {
            let bias = i32::from(high) << 16 | i32::from(low as u16);
            bias as f32 / (HIDDEN_ONE * OUTPUT_ONE) as f32
        }));
        Ok(FloatNetwork { shape, weights })
    }

    /// Converts the weights to integers and formats them as a weights file. `comment` says how the
    /// network was made.
    pub fn to_bytes(&self, comment: &str) -> Vec<u8> {
        let offsets = offsets(self.shape);
        let integer = |weight: &f32, one: i32| (weight * one as f32).round() as i32;
        let mut weights = Vec::new();
        for weight in &self.weights[..offsets.output] {
            weights.extend_from_slice(&(integer(weight, HIDDEN_ONE) as i16).to_le_bytes());
        }
        for weight in &self.weights[offsets.output..offsets.output_bias] {
            weights.extend_from_slice(&(integer(weight, OUTPUT_ONE) as i16).to_le_bytes());
        }
        for weight in &self.weights[offsets.output_bias..] {
            weights.extend_from_slice(&integer(weight, HIDDEN_ONE * OUTPUT_ONE).to_le_bytes());
        }
        let checksum = crc32fast::hash(&weights);
        let mut bytes =
            format!("crownhead-network 1 {} crc32={checksum:08x}\n", shape_text(self.shape));
        for line in comment.lines() {
            bytes.push_str(&format!("# {line}\n"));
        }
        bytes.push('\n');
        [bytes.into_bytes(), weights].concat()
    }

    /// Computes the hidden units before activation, and the output in logits.
    fn forward(&self, inputs: &[u16], bucket: usize, hidden: &mut [f32]) -> f32 {
        let (offsets, width) = (offsets(self.shape), self.shape.hidden);
        hidden.copy_from_slice(&self.weights[offsets.bias..offsets.output]);
        for &input in inputs {
            let row = &self.weights[usize::from(input) * width..][..width];
            hidden.iter_mut().zip(row).for_each(|(unit, weight)| *unit += weight);
        }
        let output = &self.weights[offsets.output + bucket * width..][..width];
        let sum: f32 = hidden
            .iter()
            .zip(output)
            .map(|(unit, weight)| {
                let unit = unit.clamp(0.0, 1.0);
                unit * unit * weight
            })
            .sum();
        sum + self.weights[offsets.output_bias + bucket]
    }
}

/// Progress after an epoch.
#[derive(Clone, Copy, Debug)]
pub struct Epoch {
    /// Number of the epoch, from 1.
    pub number: usize,
    /// Cross-entropy on the training positions during the epoch.
    pub training_loss: f32,
    /// Cross-entropy on the validation positions after it.
    pub validation_loss: f32,
}

/// Trains a network further. Stops early if `stop` is set.
pub fn fit(
    set: &TrainingSet,
    mut network: FloatNetwork,
    options: &FitOptions,
    stop: &StopFlag,
    on_epoch: &mut dyn FnMut(&Epoch),
) -> FloatNetwork {
    let mut rng = fastrand::Rng::with_seed(options.seed);
    let (mut order, validation): (Vec<u32>, Vec<u32>) = (0..set.samples.len() as u32)
        .partition(|&index| !set.samples[index as usize].is_validation);
    let mut adam = Adam::new(network.weights.len());
    let steps = options.epochs * order.len().div_ceil(options.batch.max(1)).max(1);
    let mut step = 0;
    let mut gradient = Gradient::new(network.shape);
    for number in 1..=options.epochs {
        rng.shuffle(&mut order);
        let mut loss = 0.0;
        for batch in order.chunks(options.batch.max(1)) {
            if stop.is_set() {
                return network;
            }
            gradient.clear();
            for &index in batch {
                loss += f64::from(gradient.add(&network, set, index as usize, options));
            }
            let progress = step as f32 / steps as f32;
            let cosine = (1.0 + (std::f32::consts::PI * progress).cos()) / 2.0;
            let rate = options.learning_rate * (0.01 + 0.99 * cosine);
            adam.step(&mut network, &gradient.values, batch.len(), rate);
            step += 1;
        }
        let validation_loss = loss_on(&network, set, &validation, options);
        let training_loss = (loss / order.len().max(1) as f64) as f32;
        on_epoch(&Epoch { number, training_loss, validation_loss });
    }
    network
}

fn loss_on(
    network: &FloatNetwork,
    set: &TrainingSet,
    indices: &[u32],
    options: &FitOptions,
) -> f32 {
    let mut hidden = vec![0.0; network.shape.hidden];
    let loss = |&index: &u32| {
        let sample = &set.samples[index as usize];
        let inputs = set.inputs(index as usize);
        let output = network.forward(inputs, sample.bucket.into(), &mut hidden);
        f64::from(cross_entropy((output + sample.base) * sample.scale, target(sample, options)))
    };
    let sum: f64 = indices.iter().map(loss).sum();
    (sum / indices.len().max(1) as f64) as f32
}

/// Target of a position: a mixture of the result and the search's score.
fn target(sample: &Sample, options: &FitOptions) -> f32 {
    if sample.result.is_nan() {
        return sample.score;
    }
    let weight = options.result_weight;
    weight * sample.result + (1.0 - weight) * sample.score
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// Cross-entropy of a predicted logit and a target from 0 to 1.
fn cross_entropy(logit: f32, target: f32) -> f32 {
    // ln(1 + e^x) without overflow.
    let softplus = logit.max(0.0) + (-logit.abs()).exp().ln_1p();
    softplus - target * logit
}

/// Sum of the gradients of a batch.
struct Gradient {
    values: Vec<f32>,
    hidden: Vec<f32>,
}

impl Gradient {
    fn new(shape: Shape) -> Gradient {
        Gradient { values: vec![0.0; offsets(shape).total], hidden: vec![0.0; shape.hidden] }
    }

    fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Adds the gradient of one position and returns its loss.
    fn add(
        &mut self,
        network: &FloatNetwork,
        set: &TrainingSet,
        index: usize,
        options: &FitOptions,
    ) -> f32 {
        let sample = &set.samples[index];
        let (inputs, bucket) = (set.inputs(index), usize::from(sample.bucket));
        let (offsets, width) = (offsets(network.shape), network.shape.hidden);
        let output = network.forward(inputs, bucket, &mut self.hidden);
        let logit = (output + sample.base) * sample.scale;
        let target = target(sample, options);
        let slope = (sigmoid(logit) - target) * sample.scale;
        let start = offsets.output + bucket * width;
        let weights = &network.weights[start..][..width];
        let gradients = &mut self.values[start..][..width];
        for ((unit, weight), gradient) in self.hidden.iter_mut().zip(weights).zip(gradients) {
            let active = unit.clamp(0.0, 1.0);
            *gradient += slope * active * active;
            // The derivative of the clipped square is 0 outside the range.
            *unit = if *unit == active { slope * weight * 2.0 * active } else { 0.0 };
        }
        self.values[offsets.output_bias + bucket] += slope;
        let bias = &mut self.values[offsets.bias..offsets.output];
        bias.iter_mut().zip(&self.hidden).for_each(|(sum, slope)| *sum += slope);
        for &input in inputs {
            let row = &mut self.values[usize::from(input) * width..][..width];
            row.iter_mut().zip(&self.hidden).for_each(|(sum, slope)| *sum += slope);
        }
        cross_entropy(logit, target)
    }
}

/// The optimiser of Kingma and Ba (2015).
struct Adam {
    mean: Vec<f32>,
    variance: Vec<f32>,
    steps: i32,
}

impl Adam {
    fn new(size: usize) -> Adam {
        Adam { mean: vec![0.0; size], variance: vec![0.0; size], steps: 0 }
    }

    fn step(&mut self, network: &mut FloatNetwork, gradient: &[f32], batch: usize, rate: f32) {
        const BETA1: f32 = 0.9;
        const BETA2: f32 = 0.999;
        self.steps += 1;
        let correction1 = 1.0 - BETA1.powi(self.steps);
        let correction2 = 1.0 - BETA2.powi(self.steps);
        let moments = self.mean.iter_mut().zip(&mut self.variance);
        for ((weight, sum), (mean, variance)) in
            network.weights.iter_mut().zip(gradient).zip(moments)
        {
            let gradient = sum / batch as f32;
            *mean = BETA1 * *mean + (1.0 - BETA1) * gradient;
            *variance = BETA2 * *variance + (1.0 - BETA2) * gradient * gradient;
            *weight -= rate * (*mean / correction1) / ((*variance / correction2).sqrt() + 1e-8);
        }
        // The integers of the quantised network have a limited range.
        let biases = offsets(network.shape).output_bias;
        for weight in &mut network.weights[..biases] {
            *weight = weight.clamp(-WEIGHT_LIMIT, WEIGHT_LIMIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Inputs, Network};

    /// 16 squares; the side with more pieces wins.
    const SHAPE: Shape = Shape { inputs: 32, hidden: 16, buckets: 2 };

    struct BoardInputs([u64; 3]);

    impl Inputs for BoardInputs {
        fn each(self, mut on_input: impl FnMut(usize)) {
            let is_set = |board: u64, square: usize| board >> square & 1 == 1;
            (0..16).filter(|square| is_set(self.0[0], *square)).for_each(&mut on_input);
            let theirs = (0..16).filter(|square| is_set(self.0[1], *square));
            theirs.for_each(|square| on_input(16 + square));
        }
    }

    fn bucket([own, other, _]: [u64; 3]) -> usize {
        usize::from((own | other).count_ones() > 6)
    }

    fn training_set() -> (TrainingSet, Vec<[u64; 3]>) {
        let mut rng = fastrand::Rng::with_seed(3);
        let (mut set, mut positions) = (TrainingSet::default(), Vec::new());
        for game in 0..4000 {
            let own = u64::from(rng.u16(..)) & u64::from(rng.u16(..));
            let boards = [own, u64::from(rng.u16(..)) & u64::from(rng.u16(..)) & !own, 0];
            let lead = boards[0].count_ones() as i32 - boards[1].count_ones() as i32;
            let record = Record {
                boards,
                score: 100 * lead as i16,
                result: Some((1 + lead.signum()) as u8),
                plies_left: 255,
                game,
            };
            let terms = Terms { bucket: bucket(boards), base: 0, scale: 1.0 };
            set.push(&record, terms, |on_input| BoardInputs(boards).each(on_input));
            positions.push(boards);
        }
        (set, positions)
    }

    #[test]
    fn network_learns_who_is_ahead_and_its_integers_agree_with_the_floats() {
        let (set, positions) = training_set();
        let options = FitOptions { epochs: 30, batch: 64, ..FitOptions::default() };
        let mut losses = Vec::new();
        let start = FloatNetwork::random(SHAPE, 1);
        let float = fit(&set, start, &options, &StopFlag::new(), &mut |epoch| {
            losses.push(epoch.validation_loss);
        });
        assert!(losses.last() < losses.first(), "{losses:?}");
        let integer = Network::<32, 16, 2>::parse(&float.to_bytes("test")).unwrap();
        let mut hidden = vec![0.0; SHAPE.hidden];
        let mut is_right = 0;
        for (index, boards) in positions.iter().enumerate() {
            let bucket = bucket(*boards);
            let logits = float.forward(set.inputs(index), bucket, &mut hidden);
            let score = integer.eval(BoardInputs(*boards), bucket);
            let difference = score as f32 - POINTS_PER_LOGIT * logits;
            assert!(difference.abs() < 4.0, "{boards:?}: {score} {logits}");
            let lead = boards[0].count_ones() as i32 - boards[1].count_ones() as i32;
            is_right += usize::from(lead == 0 || lead.signum() == score.signum());
        }
        assert!(is_right > positions.len() * 95 / 100, "{is_right}");
    }

    #[test]
    fn a_network_read_to_train_it_further_is_the_one_that_was_written() {
        let mut network = FloatNetwork::random(SHAPE, 1);
        network.weights.extend([-3.5, 700.25]);
        network.weights.drain(..2);
        let bytes = network.to_bytes("");
        assert_eq!(FloatNetwork::parse(&bytes, SHAPE).unwrap().to_bytes(""), bytes);
    }

    #[test]
    fn damaged_or_foreign_networks_are_refused() {
        let bytes = FloatNetwork::random(SHAPE, 1).to_bytes("one line\nanother");
        let parse = |bytes: &[u8]| Network::<32, 16, 2>::parse(bytes).map(drop);
        assert_eq!(parse(&bytes), Ok(()));
        assert!(Network::<32, 32, 2>::parse(&bytes).is_err());
        for length in 0..bytes.len() {
            assert!(parse(&bytes[..length]).is_err(), "{length} bytes");
        }
        let start = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap();
        for index in start..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1;
            assert!(parse(&damaged).is_err(), "byte {index}");
        }
    }
}
