//! Random seeds.

/// Derives a seed from several numbers. Changing any of them gives an unrelated seed.
pub fn derive_seed(numbers: &[u64]) -> u64 {
    let mut rng = fastrand::Rng::with_seed(0);
    for &number in numbers {
        rng = fastrand::Rng::with_seed(rng.u64(..) ^ number);
    }
    rng.u64(..)
}
