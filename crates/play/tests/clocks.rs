//! Time: how it is written, and that nobody is given more than there is.

#![allow(clippy::unwrap_used)] // a test that cannot go on may stop

use std::time::Duration;

use crownhead_play::{Clock, TimeControl, format_duration, parse_duration};
use proptest::prelude::*;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn times_in_seconds_and_milliseconds() {
    for (text, time) in [
        ("100ms", ms(100)),
        ("1ms", ms(1)),
        ("2s", ms(2000)),
        ("1.5s", ms(1500)),
        ("0.05s", ms(50)),
        (" 86400s ", ms(86_400_000)),
    ] {
        assert_eq!(parse_duration(text), Ok(time), "{text}");
    }
    for text in
        ["", "5", "s", "ms", "0s", "-1s", "+1s", "1.5ms", "1.0005s", ".s", "1.s", "1e3s", "86401s"]
    {
        let told = parse_duration(text).unwrap_err().to_string();
        assert!(told.contains("100ms, 2s or 1.5s"), "{text}: {told}");
    }
}

#[test]
fn time_controls() {
    for (text, time, increment) in [
        ("5+3", ms(5000), ms(3000)),
        ("5s+50ms", ms(5000), ms(50)),
        ("0.5+0.01", ms(500), ms(10)),
        ("10", ms(10_000), ms(0)),
        ("800ms+0", ms(800), ms(0)),
    ] {
        assert_eq!(text.parse(), Ok(TimeControl::PerGame { time, increment }), "{text}");
    }
    for text in ["", "+", "5+", "+3", "0+3", "5+3+1", "5-3", "5m"] {
        let told = text.parse::<TimeControl>().unwrap_err().to_string();
        assert!(told.contains("written 5+3"), "{text}: {told}");
    }
}

#[test]
fn a_move_of_ten_milliseconds_is_searched_for_half_of_them() {
    assert_eq!(Clock::PerMove(ms(10)).move_time().hard, Some(ms(5)));
    assert_eq!(Clock::PerMove(ms(100)).move_time().hard, Some(ms(95)));
    assert_eq!(Clock::Unlimited.move_time().hard, None);
}

#[test]
fn a_clock_runs_down_and_an_increment_fills_it() {
    let clock = Clock::PerGame { left: ms(1000), increment: ms(100) };
    let next = Clock::PerGame { left: ms(700), increment: ms(100) };
    assert_eq!(clock.after_move(ms(400), ms(5)), Some(next));
    assert_eq!(
        clock.after_move(ms(1005), ms(5)),
        Some(Clock::PerGame { left: ms(100), increment: ms(100) })
    );
    assert_eq!(clock.after_move(ms(1006), ms(5)), None);
    let clock = Clock::PerMove(ms(100));
    assert_eq!(clock.after_move(ms(105), ms(5)), Some(clock));
    assert_eq!(clock.after_move(ms(106), ms(5)), None);
    assert_eq!(Clock::Unlimited.after_move(ms(1_000_000), ms(0)), Some(Clock::Unlimited));
}

fn times() -> impl Strategy<Value = Duration> {
    prop_oneof![0u64..200_000, 0u64..90_000_000_000].prop_map(Duration::from_micros)
}

proptest! {
    #[test]
    fn nobody_is_given_more_than_there_is(left in times(), increment in times()) {
        for clock in [Clock::PerMove(left), Clock::PerGame { left, increment }] {
            let move_time = clock.move_time();
            let time = move_time.hard.unwrap();
            prop_assert!(time < left || left.is_zero());
            // A part of what there is stays for what the search does not see.
            prop_assert!(left - time >= ms(5).min(left / 2));
            prop_assert!(move_time.soft.is_none_or(|soft| soft <= time));
        }
    }

    #[test]
    fn a_player_who_uses_all_it_is_given_never_runs_out(left in times(), increment in times()) {
        let mut clock = Clock::PerGame { left, increment };
        for _ in 0..300 {
            let next = clock.after_move(clock.move_time().hard.unwrap(), Duration::ZERO);
            prop_assert!(next.is_some());
            clock = next.unwrap();
        }
    }

    #[test]
    fn more_time_is_never_less_thought(left in times(), more in times(), increment in times()) {
        let time = |left| Clock::PerGame { left, increment }.move_time().hard;
        prop_assert!(time(left) <= time(left + more));
    }

    #[test]
    fn every_time_is_read_back_as_it_was_written(millis in 1u64..=86_400_000) {
        prop_assert_eq!(parse_duration(&format_duration(ms(millis))), Ok(ms(millis)));
    }
}
