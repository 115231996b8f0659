//! Run-time CPU dispatch for hot loops.
//!
//! The program is built for any x86-64 processor, the oldest of which have no popcount instruction.
//! A [`Kernel`] run by [`with_bmi`] or [`with_simd`] is compiled for newer instruction sets as
//! well, and the best supported version runs. Only code inlined into it profits, so `run` and its
//! callees are `#[inline(always)]`. A closure cannot be, which is why a kernel is a trait.
//!
//! [`with_bmi`] exists because vector instructions slow down code that is not written for them: the
//! compiler uses wide registers to copy small structs.
//!
//! The only module of this crate with `unsafe`; `cargo bench -p crownhead-rules` measures its gain.
#![allow(unsafe_code)]

/// A hot loop and its data.
pub trait Kernel {
    /// Result of the loop.
    type Output;
    /// Runs the loop. Implementations are `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// Runs `kernel` with the bit-manipulation instructions of the processor.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn with_bmi<K: Kernel>(kernel: K) -> K::Output {
    if level() >= BMI {
        // SAFETY: `level` has detected the features that the function requires.
        unsafe { run_bmi(kernel) }
    } else {
        kernel.run()
    }
}

/// Runs `kernel` with the bit-manipulation and vector instructions of the processor.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn with_simd<K: Kernel>(kernel: K) -> K::Output {
    match level() {
        // SAFETY: `level` has detected the features that the function requires.
        AVX512 => unsafe { run_avx512(kernel) },
        // SAFETY: as above.
        AVX2 => unsafe { run_avx2(kernel) },
        // SAFETY: as above.
        BMI => unsafe { run_bmi(kernel) },
        _ => kernel.run(),
    }
}

/// Runs every version of `kernel` that the processor supports, the plain one first. Tests compare
/// them.
#[cfg(target_arch = "x86_64")]
pub fn run_all<K: Kernel + Clone>(kernel: K) -> Vec<K::Output> {
    let mut results = vec![kernel.clone().run()];
    if level() >= BMI {
        // SAFETY: `level` has detected the features that the function requires.
        results.push(unsafe { run_bmi(kernel.clone()) });
    }
    if level() >= AVX2 {
        // SAFETY: as above.
        results.push(unsafe { run_avx2(kernel.clone()) });
    }
    if level() >= AVX512 {
        // SAFETY: as above.
        results.push(unsafe { run_avx512(kernel) });
    }
    results
}

#[cfg(target_arch = "x86_64")]
const BASELINE: u8 = 1;
#[cfg(target_arch = "x86_64")]
const BMI: u8 = 2;
#[cfg(target_arch = "x86_64")]
const AVX2: u8 = 3;
#[cfg(target_arch = "x86_64")]
const AVX512: u8 = 4;

/// Returns the best supported level. Detected once, so that a loop costs one load instead of a test
/// per feature.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn level() -> u8 {
    use std::sync::atomic::{AtomicU8, Ordering};
    static LEVEL: AtomicU8 = AtomicU8::new(0);

    #[cold]
    fn detect() -> u8 {
        let bmi = is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let avx2 = bmi && is_x86_feature_detected!("avx2");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vpopcntdq");
        let level = [BASELINE, BMI, AVX2, AVX512]
            [usize::from(bmi) + usize::from(avx2) + usize::from(avx512)];
        LEVEL.store(level, Ordering::Relaxed);
        level
    }

    match LEVEL.load(Ordering::Relaxed) {
        0 => detect(),
        level => level,
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn run_bmi<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx2")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512dq,avx512vpopcntdq")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// Other processors: one version is enough.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn with_bmi<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// See [`with_bmi`].
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn with_simd<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// See [`with_bmi`].
#[cfg(not(target_arch = "x86_64"))]
pub fn run_all<K: Kernel + Clone>(kernel: K) -> Vec<K::Output> {
    vec![kernel.run()]
}
