//! Attacks by the command that builds a bot.

use crownhead_play::StopFlag;

use super::{Attacker, Verdict};
use crate::BotProgram;
use crate::build::build;

/// Runs a shell script as the build of a bot, and returns the message of its failure.
fn run(attacker: &Attacker, script: &str) -> Result<(BotProgram, Option<String>), String> {
    let manifest = format!("command = \"./bot\"\nbuild = [\"sh\", \"-c\", \"{script}\"]");
    let program = attacker.program(&manifest)?;
    let failure = build(&program, &StopFlag::new()).err();
    Ok((program, failure))
}

pub(super) fn fill_disk() -> Result<Verdict, String> {
    let attacker = Attacker::new()?;
    // More than the limit, in files that are small enough.
    let script = "for i in $(seq 40); do fallocate -l 64M $i || yes | head -c 67108864 > $i; done";
    Ok(match run(&attacker, script)?.1 {
        Some(failure) if failure.contains("was stopped: it wrote") => Verdict::Contained,
        Some(failure) => Verdict::NotContained(failure),
        None => Verdict::NotContained("it wrote 2.5 GB".into()),
    })
}

pub(super) fn fill_hidden_disk() -> Result<Verdict, String> {
    let attacker = Attacker::new()?;
    // In a directory that only its owner may enter, and nobody may list.
    let script = "mkdir -m 300 d && cd d && \
                  for i in $(seq 40); do fallocate -l 64M $i || yes | head -c 67108864 > $i; done";
    let failure = run(&attacker, script)?.1;
    Ok(match failure {
        Some(failure) if failure.contains("was stopped: it ") => Verdict::Contained,
        Some(failure) => Verdict::NotContained(failure),
        None => Verdict::NotContained("it wrote 2.5 GB".into()),
    })
}

pub(super) fn write_outside() -> Result<Verdict, String> {
    let (attacker, neighbour) = (Attacker::new()?, Attacker::new()?);
    let target = neighbour.folder.path().join("written");
    run(&attacker, &format!("echo x > '{}'", target.display()))?;
    Ok(match target.exists() {
        false => Verdict::Contained,
        true => Verdict::NotContained("it wrote outside of its folder".into()),
    })
}
