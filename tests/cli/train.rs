//! `crownhead train`.

use crate::harness::crownhead_in;

const GENERATE: [&str; 8] =
    ["train", "generate", "english", "data.bin", "--nodes", "20", "--games", "150"];

#[test]
fn interrupted_generation_continues_to_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.bin");
    let finished = crownhead_in(folder.path(), &[&GENERATE[..], &["--threads", "2"]].concat());
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let complete = std::fs::read(&path).unwrap();
    let announced = &finished.announcements;
    assert_eq!(announced[0], "Playing 150 games of english …");
    assert!(announced.last().unwrap().starts_with("Played 150 games, "), "{announced:?}");
    assert!(complete.starts_with(b"crownhead-training-data 1 game=english nodes=20 "));
    // In the first block, in the last one, and not at all.
    for length in [complete.len() / 3, complete.len() - 5, complete.len()] {
        std::fs::write(&path, &complete[..length]).unwrap();
        assert_eq!(crownhead_in(folder.path(), &GENERATE).code, Some(0));
        assert!(std::fs::read(&path).unwrap() == complete, "cut to {length} bytes");
    }
}

#[test]
fn data_with_other_settings_and_foreign_files_are_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.bin");
    for text in ["crownhead-training-data 1 game=english nodes=9\n", "some text\n", "x"] {
        std::fs::write(&path, text).unwrap();
        let finished = crownhead_in(folder.path(), &GENERATE);
        assert!(finished.refused(3).contains("data.bin"), "{finished:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn fit_is_repeatable_and_says_how_the_network_was_made() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(crownhead_in(folder.path(), &GENERATE).code, Some(0));
    let fit = |output: &str| {
        let arguments = ["train", "fit", "english", "data.bin", "--epochs", "2", "-o", output];
        let finished = crownhead_in(folder.path(), &arguments);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        std::fs::read(folder.path().join(output)).unwrap()
    };
    let network = fit("one");
    assert!(network == fit("two"), "the same command made another network");
    let header = String::from_utf8_lossy(&network[..400.min(network.len())]).into_owned();
    assert!(header.contains("\n# crownhead train fit english --epochs 2 "), "{header}");
    assert!(header.contains("\n# data: game=english nodes=20 "), "{header}");
}

#[test]
fn data_of_another_game_and_impossible_shapes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let header = "crownhead-training-data 1 game=contest:kings=true nodes=9\n";
    std::fs::write(folder.path().join("data.bin"), header).unwrap();
    let fit = ["train", "fit", "english", "data.bin", "-o", "network"];
    let finished = crownhead_in(folder.path(), &fit);
    assert!(finished.refused(3).contains("data of another game"), "{finished:?}");
    for option in ["--hidden=0", "--hidden=99999", "--epochs=0"] {
        let finished = crownhead_in(folder.path(), &[&fit[..], &[option]].concat());
        assert_eq!(finished.code, Some(2), "{option}");
    }
}
