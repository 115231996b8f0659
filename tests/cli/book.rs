//! `crownhead book`.

use crate::harness::crownhead_in;

const MAKE: [&str; 8] =
    ["book", "make", "english", "new.book", "--nodes", "20", "--positions", "300"];

#[test]
fn interrupted_book_is_continued_to_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, scores_path) = (folder.path().join("new.book"), "new.book.scores");
    let scores_path = folder.path().join(scores_path);
    let finished = crownhead_in(folder.path(), &[&MAKE[..], &["--threads", "2"]].concat());
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let printed = format!("{:?} {}", finished.announcements, finished.stderr);
    assert!(printed.contains("Expanding 300 positions of english …"), "{printed}");
    assert!(printed.contains("Wrote "), "{printed}");
    let (book, scores) = (std::fs::read(&path).unwrap(), std::fs::read(&scores_path).unwrap());
    assert!(book.starts_with(b"crownhead-book 1 game=english nodes=20 positions=300\n"));
    // Within the first block, in the last one, and not at all.
    for length in [100, scores.len() - 5, scores.len()] {
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&scores_path, &scores[..length]).unwrap();
        assert_eq!(crownhead_in(folder.path(), &MAKE).code, Some(0));
        assert!(std::fs::read(&path).unwrap() == book, "cut to {length} bytes");
        assert!(std::fs::read(&scores_path).unwrap() == scores, "cut to {length} bytes");
    }
}

#[test]
fn damaged_or_foreign_scores_are_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.book.scores");
    let header = "crownhead-book-scores 1 game=english nodes=20\n";
    for (text, place) in [
        (format!("{header}\0\0\0\0____"), "new.book.scores: the block at byte 46 is damaged"),
        (header.replace("20", "21"), "new.book.scores: made with other settings: crownhead-book-"),
        ("some text\n".into(), "new.book.scores: not a file of book scores (version 1)"),
    ] {
        std::fs::write(&path, &text).unwrap();
        let finished = crownhead_in(folder.path(), &MAKE);
        assert!(finished.refused(3).contains(place), "{finished:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert!(!folder.path().join("new.book").exists());
    }
}
