//! The tournament of a course, end to end: eight bots in eight languages play Capture Halma by the
//! rules of the assignment. `docs/tournaments.md` shows the same tournament.

use std::fs;

use serde_json::json;

use crate::cli::crownhead_in;
use crate::harness::TestTournament;

/// A bot that plays the first legal move, and occasionally an illegal one.
const SHELL: &str = r#"while read -r word rest; do
    case $word in
        crownhead | newgame) echo ready ;;
        turn)
            moves=${rest##*moves=}; moves=${moves%% *}
            ply=${rest##*ply=}; ply=${ply%% *}
            if [ $((ply % 50)) -ge 48 ]; then echo "move 11-99"; else echo "move ${moves%%,*}"; fi ;;
        quit) exit ;;
    esac
done
"#;
/// A bot that plays the longest move: most hops or captures.
const PERL: &str = r#"$| = 1;
while (<STDIN>) {
    print "ready\n" if /^(crownhead|newgame)/;
    exit if /^quit/;
    next unless /^turn .*moves=(\S+)/;
    my @moves = sort { length($b) <=> length($a) || $a cmp $b } split /,/, $1;
    print "move $moves[0]\n";
}
"#;

#[test]
fn eight_bots_in_eight_languages_play_the_course_tournament() {
    let tournament = TestTournament::new(
        "name = \"Course tournament\"\ngame = \"capture-halma\"\nsubmissions = \"bots\"\n\
         movetime = \"5s\"\npolicy = \"skip\"\nconcurrency = 2\n",
    );
    fs::create_dir(tournament.path().join("bots")).unwrap();
    for language in ["python", "c", "cpp", "rust", "java", "javascript"] {
        let folder = format!("bots/{language}");
        let new = crownhead_in(tournament.path(), &["bot", "new", language, &folder]);
        assert_eq!(new.code, Some(0), "{new:?}");
    }
    tournament.write("bots/perl/bot.toml", "command = \"perl bot.pl\"\nlanguage = \"perl\"");
    tournament.write("bots/perl/bot.pl", PERL);
    tournament.write("bots/shell/bot.toml", "command = \"sh bot.sh\"\nlanguage = \"sh\"");
    tournament.write("bots/shell/bot.sh", SHELL);
    let run = tournament.crownhead("run", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.starts_with("Course tournament: capture-halma, round-robin, 56 games\n"));
    let rows = tournament.standings();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 8);
    let points: u64 = rows.iter().map(|row| row["points"].as_u64().unwrap()).sum();
    assert_eq!(points, 112, "two points per game");
    assert!(rows.iter().all(|row| row["games"] == 14 && row["forfeits"] == json!({})), "{rows:?}");
    for row in rows {
        let colours = ["first", "second"].map(|side| {
            row[side].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>()
        });
        assert_eq!(colours, [7, 7], "each colour once against everybody");
        // An illegal move only costs the turn.
        assert_eq!(row["faults"].as_u64().unwrap() > 0, row["player"] == "shell", "{row}");
    }
    let mut games = tournament.games().into_values();
    let game = games.find(|game| game["faults"] != json!([0, 0])).unwrap();
    let object = tournament.crownhead("games", &[&game["game"].to_string(), "--json"]).json();
    let game = &object["games"][0];
    assert_eq!(game["incidents"][0]["code"], "illegal-move");
    let ply = game["incidents"][0]["ply"].as_u64().unwrap() as usize;
    assert_eq!(game["moves"][ply], "pass", "the turn was skipped");
    assert!(game["plies"].as_u64().unwrap() <= 400);
}
