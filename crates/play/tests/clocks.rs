//! Time controls and clocks: parsing, and time per move.

use std::time::Duration;

use crownhead_play::{Clock, TimeControl, format_duration, parse_duration};
use proptest::prelude::*;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn durations_parse_seconds_and_milliseconds() {
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
        let error = parse_duration(text).unwrap_err().to_string();
        assert!(error.contains("100ms, 2s or 1.5s"), "{text}: {error}");
    }
}

#[test]
fn time_controls_parse_main_time_and_increment() {
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
        let error = text.parse::<TimeControl>().unwrap_err().to_string();
        assert!(error.contains("written 5+3"), "{text}: {error}");
    }
}

#[test]
fn search_time_leaves_room_for_the_move_overhead() {
    assert_eq!(Clock::PerMove(ms(10)).move_time().hard, Some(ms(5)));
    assert_eq!(Clock::PerMove(ms(100)).move_time().hard, Some(ms(95)));
    assert_eq!(Clock::Unlimited.move_time().hard, None);
}

#[test]
fn clock_subtracts_used_time_and_adds_increment() {
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
    fn move_time_is_less_than_the_time_left(left in times(), increment in times()) {
        for clock in [Clock::PerMove(left), Clock::PerGame { left, increment }] {
            let move_time = clock.move_time();
            let time = move_time.hard.unwrap();
            prop_assert!(time < left || left.is_zero());
            // The overhead is left.
            prop_assert!(left - time >= ms(5).min(left / 2));
            prop_assert!(move_time.soft.is_none_or(|soft| soft <= time));
        }
    }

    #[test]
    fn using_the_full_move_time_never_runs_out(left in times(), increment in times()) {
        let mut clock = Clock::PerGame { left, increment };
        for _ in 0..300 {
            let next = clock.after_move(clock.move_time().hard.unwrap(), Duration::ZERO);
            prop_assert!(next.is_some());
            clock = next.unwrap();
        }
    }

    #[test]
    fn move_time_grows_with_the_time_left(left in times(), more in times(), increment in times()) {
        let time = |left| Clock::PerGame { left, increment }.move_time().hard;
        prop_assert!(time(left) <= time(left + more));
    }

    #[test]
    fn formatted_duration_parses_back(millis in 1u64..=86_400_000) {
        prop_assert_eq!(parse_duration(&format_duration(ms(millis))), Ok(ms(millis)));
    }
}
