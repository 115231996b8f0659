//! Learned evaluation: a network with one hidden layer, computed in integers.
//!
//! Inputs are sparse. The hidden layer is a sum of one row of weights per active input, clipped to
//! 0…1 and squared; the output weights are chosen by the number of pieces. A network is summed from
//! scratch at every evaluation: few inputs are active, so an incremental accumulator would not be
//! faster.
//!
//! A weights file is a text header, which says how the network was made, and the weights as
//! little-endian 16-bit integers:
//!
//! ```text
//! crownhead-network 1 inputs=128 hidden=64 buckets=4 crc32=0123abcd
//! # crownhead train fit english …
//! (empty line, then the weights)
//! ```

#[cfg(test)]
use crownhead_rules::cpu::run_all;
use crownhead_rules::cpu::{Kernel, with_simd};

use crate::Score;

/// Points of a score per logit of the expected result.
pub(crate) const POINTS_PER_LOGIT: f32 = 50.0;
/// Integer of 1.0 in the hidden layer.
pub(crate) const HIDDEN_ONE: i32 = 255;
/// Integer of 1.0 in the weights of the output layer.
pub(crate) const OUTPUT_ONE: i32 = 64;
/// Maximum absolute weight: the product of a hidden unit and an output weight fits 16 bits, as does
/// the sum of a bias and the weights of [`MAX_INPUTS`] inputs.
pub(crate) const WEIGHT_LIMIT: f32 = 127.0 / OUTPUT_ONE as f32;

/// Shape of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of hidden units.
    pub hidden: usize,
    /// Number of output buckets.
    pub buckets: usize,
}

/// A network with integer weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Network<const INPUTS: usize, const HIDDEN: usize, const BUCKETS: usize> {
    rows: [[i16; HIDDEN]; INPUTS],
    bias: [i16; HIDDEN],
    output: [[i16; HIDDEN]; BUCKETS],
    output_bias: [i32; BUCKETS],
}

/// Why a weights file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkError {
    /// The header is missing or invalid.
    #[error("not a network (version 1)")]
    Header,
    /// The network has another shape.
    #[error("the network has another shape: {0}")]
    Shape(String),
    /// The weights are incomplete or damaged.
    #[error("the weights are incomplete or damaged")]
    Weights,
}

impl<const INPUTS: usize, const HIDDEN: usize, const BUCKETS: usize>
    Network<INPUTS, HIDDEN, BUCKETS>
{
    /// Shape of the network.
    pub const SHAPE: Shape = Shape { inputs: INPUTS, hidden: HIDDEN, buckets: BUCKETS };

    /// A network that evaluates every position as zero.
    pub(crate) fn zero() -> Box<Self> {
        Box::new(Network {
            rows: [[0; HIDDEN]; INPUTS],
            bias: [0; HIDDEN],
            output: [[0; HIDDEN]; BUCKETS],
            output_bias: [0; BUCKETS],
        })
    }

    /// Reads a weights file.
    pub fn parse(bytes: &[u8]) -> Result<Box<Self>, NetworkError> {
        let mut words = words(bytes, Self::SHAPE)?;
        let mut next = || words.next().unwrap_or_default();
        let mut network = Self::zero();
        network.rows.as_flattened_mut().iter_mut().for_each(|weight| *weight = next());
        network.bias.iter_mut().for_each(|weight| *weight = next());
        network.output.as_flattened_mut().iter_mut().for_each(|weight| *weight = next());
        for bias in &mut network.output_bias {
            let (low, high) = (next(), next());
            *bias = i32::from(high) << 16 | i32::from(low as u16);
        }
        Ok(network)
    }

    /// Evaluates a position in points. `inputs` calls its argument with every active input.
    #[inline(always)]
    pub fn eval(&self, inputs: impl Inputs, bucket: usize) -> Score {
        with_simd(Eval { network: self, inputs, bucket })
    }
}

/// The active inputs of a position. Implementations are `#[inline(always)]`.
pub trait Inputs {
    /// Calls `on_input` with every active input: at most [`MAX_INPUTS`].
    fn each(self, on_input: impl FnMut(usize));
}

/// Maximum number of active inputs of a position. Their sum fits 16 bits; see [`WEIGHT_LIMIT`].
pub const MAX_INPUTS: usize = 48;

/// Hidden units that are summed at a time: they stay in one vector register.
const LANES: usize = 16;

#[derive(Clone)]
struct Eval<'a, I, const INPUTS: usize, const HIDDEN: usize, const BUCKETS: usize> {
    network: &'a Network<INPUTS, HIDDEN, BUCKETS>,
    inputs: I,
    bucket: usize,
}

impl<I: Inputs, const INPUTS: usize, const HIDDEN: usize, const BUCKETS: usize> Kernel
    for Eval<'_, I, INPUTS, HIDDEN, BUCKETS>
{
    type Output = Score;

    #[inline(always)]
    fn run(self) -> Score {
        let network = self.network;
        let (mut active, mut count) = ([0u16; MAX_INPUTS], 0);
        self.inputs.each(|input| {
            if let Some(place) = active.get_mut(count) {
                *place = input as u16;
                count += 1;
            }
        });
        let active = &active[..count];
        let output = network.output[self.bucket % BUCKETS].as_chunks::<LANES>().0;
        let bias = network.bias.as_chunks::<LANES>().0;
        let mut sum = 0i32;
        for (chunk, (bias, output)) in bias.iter().zip(output).enumerate() {
            let mut units = *bias;
            for &input in active {
                let row = &network.rows[usize::from(input)].as_chunks::<LANES>().0[chunk];
                for (unit, weight) in units.iter_mut().zip(row) {
                    *unit = unit.wrapping_add(*weight);
                }
            }
            for (unit, weight) in units.iter().zip(output) {
                let unit = (*unit).clamp(0, HIDDEN_ONE as i16);
                sum += i32::from(unit.wrapping_mul(*weight)) * i32::from(unit);
            }
        }
        let logits = sum / HIDDEN_ONE + network.output_bias[self.bucket % BUCKETS];
        // Integer division rounds toward zero, so the result is the same on every processor.
        logits * POINTS_PER_LOGIT as i32 / (HIDDEN_ONE * OUTPUT_ONE)
    }
}

/// The weights of a file in its order, as 16-bit words; the biases of the output have two.
pub(crate) fn words(
    bytes: &[u8],
    expected: Shape,
) -> Result<impl Iterator<Item = i16>, NetworkError> {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n").ok_or(NetworkError::Header)?;
    let header = std::str::from_utf8(&bytes[..end]).map_err(|_| NetworkError::Header)?;
    let line = header.lines().next().unwrap_or_default();
    let (shape, checksum) = line
        .strip_prefix("crownhead-network 1 ")
        .and_then(|rest| rest.split_once(" crc32="))
        .ok_or(NetworkError::Header)?;
    if shape != shape_text(expected) {
        return Err(NetworkError::Shape(shape.into()));
    }
    let Shape { inputs, hidden, buckets } = expected;
    let weights = &bytes[end + 2..];
    let numbers = (inputs + 1 + buckets) * hidden + 2 * buckets;
    let is_intact = format!("{:08x}", crc32fast::hash(weights)) == checksum;
    if weights.len() != 2 * numbers || !is_intact {
        return Err(NetworkError::Weights);
    }
    Ok(weights.as_chunks().0.iter().map(|bytes| i16::from_le_bytes(*bytes)))
}

/// The shape as in the header of a weights file.
pub(crate) fn shape_text(shape: Shape) -> String {
    let Shape { inputs, hidden, buckets } = shape;
    format!("inputs={inputs} hidden={hidden} buckets={buckets}")
}

#[cfg(test)]
impl<const INPUTS: usize, const HIDDEN: usize, const BUCKETS: usize>
    Network<INPUTS, HIDDEN, BUCKETS>
{
    /// Scores of all compiled versions of the kernel that this processor can run, and of a plain
    /// loop with wide integers.
    pub(crate) fn scores(&self, inputs: impl Inputs + Clone, bucket: usize) -> (Vec<Score>, Score) {
        let mut hidden = self.bias.map(i64::from);
        inputs.clone().each(|input| {
            for (unit, weight) in hidden.iter_mut().zip(self.rows[input]) {
                *unit += i64::from(weight);
            }
        });
        let square = |unit: i64| unit.clamp(0, HIDDEN_ONE.into()).pow(2);
        let products = hidden.iter().zip(self.output[bucket]);
        let sum: i64 = products.map(|(unit, weight)| square(*unit) * i64::from(weight)).sum();
        let logits = sum / i64::from(HIDDEN_ONE) + i64::from(self.output_bias[bucket]);
        let plain = logits * POINTS_PER_LOGIT as i64 / i64::from(HIDDEN_ONE * OUTPUT_ONE);
        (run_all(Eval { network: self, inputs, bucket }), plain as Score)
    }
}
