//! Compiling hot loops for more than one processor.
//!
//! The program is built for any x86-64, and the oldest of them cannot even count bits. [`Work`]
//! that runs in [`bits`] or [`vectors`] is compiled for that and for newer generations too, and the
//! processor at hand decides. Only what the compiler inlines into it profits, so `run` and what it
//! calls are marked `#[inline(always)]`; that is also why it is a trait and not a closure, which
//! cannot be marked.
//!
//! There are two of them because vector instructions do not pay in code that is not made for them:
//! the compiler then uses wide registers to copy small things about, which costs more than it
//! gains.
//!
//! This is the one place with `unsafe`; `cargo bench -p crownhead-rules` shows what it gains.
#![allow(unsafe_code)]

/// A hot loop with what it works on.
pub(crate) trait Kernel {
    /// What comes of it.
    type Output;
    /// Does it; to be marked `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// Runs `work` with the processor's instructions for single bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn with_bmi<W: Kernel>(work: W) -> W::Output {
    if level() >= BMI {
        // SAFETY: the processor has what the function asks for, as `detect` has found.
        unsafe { run_bmi(work) }
    } else {
        work.run()
    }
}

/// Runs `work` with the processor's vector instructions, and those for single bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn with_simd<W: Kernel>(work: W) -> W::Output {
    // SAFETY, for all three: the processor has what the function asks for, as `detect` has found.
    match level() {
        AVX512 => unsafe { run_avx512(work) },
        AVX2 => unsafe { run_avx2(work) },
        BMI => unsafe { run_bmi(work) },
        _ => work.run(),
    }
}

#[cfg(target_arch = "x86_64")]
const BASELINE: u8 = 1;
#[cfg(target_arch = "x86_64")]
const BMI: u8 = 2;
#[cfg(target_arch = "x86_64")]
const AVX2: u8 = 3;
#[cfg(target_arch = "x86_64")]
const AVX512: u8 = 4;

/// What the processor offers, found out once: one load instead of a test for each feature in front
/// of every loop.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn level() -> u8 {
    use std::sync::atomic::{AtomicU8, Ordering};
    static LEVEL: AtomicU8 = AtomicU8::new(0);

    #[cold]
    fn detect() -> u8 {
        let bits = is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let avx2 = bits && is_x86_feature_detected!("avx2");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vpopcntdq");
        let level = [BASELINE, BMI, AVX2, AVX512]
            [usize::from(bits) + usize::from(avx2) + usize::from(avx512)];
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
fn run_bmi<W: Kernel>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx2")]
fn run_avx2<W: Kernel>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512dq,avx512vpopcntdq")]
fn run_avx512<W: Kernel>(work: W) -> W::Output {
    work.run()
}

/// On other processors one generation is enough.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn bits<W: Kernel>(work: W) -> W::Output {
    work.run()
}

/// See [`bits`].
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn vectors<W: Kernel>(work: W) -> W::Output {
    work.run()
}
