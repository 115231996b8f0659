//! Built-in players as text.

use std::time::Duration;

use crownhead_play::{BuiltinSpec, ParamChanges, PlayerKind, PlayerOptions};
use proptest::prelude::*;

#[test]
fn parses_name_and_options() {
    let spec = |text: &str| text.parse::<BuiltinSpec>().unwrap();
    for (text, kind) in [
        ("random", PlayerKind::Random),
        ("minimax:2", PlayerKind::Minimax(2)),
        ("alphabeta:30", PlayerKind::AlphaBeta(30)),
        ("level:1", PlayerKind::Level(1)),
        ("level:10", PlayerKind::Level(10)),
        ("best", PlayerKind::Best),
        (" Best ", PlayerKind::Best),
    ] {
        assert_eq!(spec(text), BuiltinSpec::new(kind), "{text}");
    }
    assert_eq!(
        spec("best:threads=2,hash=128,movetime=500ms,nodes=100000,tables=off,book=off").options,
        PlayerOptions {
            threads: Some(2),
            hash: Some(128),
            movetime: Some(Duration::from_millis(500)),
            cputime: None,
            nodes: Some(100_000),
            tables: Some(false),
            book: Some(false),
            params: ParamChanges::NONE,
        }
    );
    let tuned = "best:nodes=7,rfp-margin=80,lmr-base=-20";
    assert_eq!(spec("best:lmr-base=-20,nodes=7,RFP-margin=80").to_string(), tuned);
    assert_eq!(spec("level:4:movetime=1s").options.movetime, Some(Duration::from_secs(1)));
    assert_eq!(spec("level:4:movetime=1.5s").to_string(), "level:4:movetime=1500ms");
    assert_eq!(spec("best:nodes=7,threads=2").to_string(), "best:threads=2,nodes=7");
}

#[test]
fn errors_name_the_valid_values() {
    let players =
        "built-in players: random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10, best";
    for (text, expected) in [
        ("", players),
        ("stockfish", "unknown player \"stockfish\""),
        ("stockfish", players),
        ("level", "level takes a level from 1 to 10, for example level:4, not \"\""),
        ("level:0", "from 1 to 10, for example level:4, not \"0\""),
        ("level:11", "from 1 to 10"),
        ("level:+3", "not \"+3\""),
        ("minimax", "minimax takes a depth from 1 to 30"),
        ("minimax:31", "from 1 to 30"),
        ("alphabeta:-1", "from 1 to 30"),
        ("best:9", "player options are written key=value, not \"9\""),
        ("best:", "written key=value"),
        ("best:threads=0", "option threads takes a whole number from 1 to 256, not \"0\""),
        ("best:threads=257", "from 1 to 256"),
        ("best:hash=0", "option hash takes a whole number from 1 to 65536"),
        ("best:hash=65537", "from 1 to 65536"),
        ("best:nodes=0", "option nodes takes a whole number from 1"),
        ("best:nodes=99999999999999999999", "option nodes"),
        ("best:movetime=0ms", "a time is written 100ms, 2s or 1.5s"),
        ("best:movetime=5", "a time is written 100ms, 2s or 1.5s"),
        ("best:movetime=1h", "not \"1h\""),
        ("best:cputime=0s", "a time is written 100ms, 2s or 1.5s"),
        ("best:cputime=1s,threads=2", "option cputime is for players with one thread"),
        ("best:tables=none", "option tables takes on or off, not \"none\""),
        ("best:book=mine", "option book takes on or off, not \"mine\""),
        ("level:9:book=off", "unknown option \"book\" for level:9"),
        ("best:tables=off,tables=on", "option tables is given twice"),
        ("best:threads=2,threads=2", "option threads is given twice"),
        (
            "best:speed=9",
            "unknown option \"speed\" for best; available options: threads, hash, movetime, \
             cputime, nodes, tables, book",
        ),
        ("best:params=file", "unknown option \"params\" for best"),
        ("level:4:rfp-margin=80", "unknown option \"rfp-margin\" for level:4"),
        ("best:rfp-margin=9", "option rfp-margin takes a whole number from 10 to 300, not 9"),
        ("best:rfp-margin=x", "option rfp-margin takes a whole number, not \"x\""),
        ("best:rfp-depth=1,rfp-depth=1", "option rfp-depth is given twice"),
        ("random:nodes=9", "unknown option \"nodes\" for random; available options: none"),
        (
            "minimax:2:nodes=9",
            "unknown option \"nodes\" for minimax:2; available options: movetime",
        ),
        ("level:4:nodes=9:hash=9", "unexpected \"hash=9\" after the options of level:4"),
    ] {
        let message = text.parse::<BuiltinSpec>().unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
    let message = "9".repeat(100_000).parse::<BuiltinSpec>().unwrap_err().to_string();
    assert!(message.len() < 300, "{message}");
}

fn specs() -> impl Strategy<Value = BuiltinSpec> {
    let kinds = prop_oneof![
        Just(PlayerKind::Best),
        (1u8..=10).prop_map(PlayerKind::Level),
        Just(PlayerKind::Random),
        (1u32..=30).prop_map(PlayerKind::Minimax),
        (1u32..=30).prop_map(PlayerKind::AlphaBeta),
    ];
    let time = (1u64..=86_400_000).prop_map(Duration::from_millis);
    let options = (
        proptest::option::of(1u16..=256),
        proptest::option::of(1u32..=65_536),
        proptest::option::of(time.clone()),
        proptest::option::of(time),
        proptest::option::of(1u64..),
        proptest::option::of(any::<bool>()),
        proptest::option::of(any::<bool>()),
        proptest::option::of(10i64..=300),
    );
    (kinds, options).prop_map(|(kind, options)| {
        let (threads, hash, movetime, cputime, nodes, tables, book, rfp) = options;
        let mut spec = BuiltinSpec::new(kind);
        if spec.supports_node_limit() {
            let threads = threads.filter(|_| cputime.is_none());
            let is_best = matches!(kind, PlayerKind::Best | PlayerKind::Level(10));
            let book = book.filter(|_| is_best);
            let mut params = ParamChanges::NONE;
            if let Some(rfp) = rfp.filter(|_| kind == PlayerKind::Best) {
                params.set(0, rfp).unwrap();
            }
            spec.options =
                PlayerOptions { threads, hash, movetime, cputime, nodes, tables, book, params };
        } else if kind != PlayerKind::Random {
            spec.options.movetime = movetime;
        }
        spec
    })
}

proptest! {
    #[test]
    fn formatted_spec_parses_back(spec in specs()) {
        prop_assert_eq!(spec.to_string().parse::<BuiltinSpec>(), Ok(spec));
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,60}") {
        let _ = text.parse::<BuiltinSpec>();
        let _ = format!("level:{text}").parse::<BuiltinSpec>();
        let _ = format!("best:{text}").parse::<BuiltinSpec>();
    }
}
