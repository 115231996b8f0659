//! The id of a run and the secrets of its jobs.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The id of a run and the secret that the leases of its jobs come from. A coordinator that is
/// resumed has the same, so that results that arrived in the meantime count.
#[derive(Clone)]
pub(crate) struct RunKey {
    pub(crate) id: String,
    secret: [u8; 32],
}

impl RunKey {
    /// Returns the key of a run that is not resumed.
    pub(crate) fn random() -> RunKey {
        RunKey::new(&random_bytes(), b"")
    }

    /// Returns the key of the run that `identity` describes. `file` holds the secret of this
    /// machine, and is created if it is missing.
    pub(crate) fn derived(file: &Path, identity: &str) -> io::Result<RunKey> {
        let secret = match std::fs::read(file) {
            Ok(secret) if secret.len() == 32 => secret,
            Ok(_) => {
                let message = format!("{} is damaged: delete it", file.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(folder) = file.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                let secret = random_bytes();
                create_private(file, &secret)?;
                secret.to_vec()
            }
            Err(error) => return Err(error),
        };
        Ok(RunKey::new(&secret, identity.as_bytes()))
    }

    fn new(machine: &[u8], identity: &[u8]) -> RunKey {
        let hash = |role: &[u8]| {
            let mut hash = Sha256::new();
            hash.update(machine);
            hash.update(role);
            hash.update(identity);
            <[u8; 32]>::from(hash.finalize())
        };
        RunKey { id: hex(&hash(b"run id")[..8]), secret: hash(b"leases") }
    }

    /// Returns the lease of a job, which only workers that received the job know.
    pub(crate) fn lease(&self, games: &[i64], is_check: bool) -> String {
        let mut hash = self.hash(games);
        hash.update([u8::from(is_check)]);
        hex(&hash.finalize()[..16])
    }

    /// Returns whether a job is among the `percent` that are played twice. Workers cannot predict
    /// it.
    pub(crate) fn is_checked(&self, games: &[i64], percent: u8) -> bool {
        let mut hash = self.hash(games);
        hash.update(b"checked");
        let digest = hash.finalize();
        u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]) % 100 < percent.into()
    }

    /// Secret for the keys of bots.
    pub(crate) fn bot_secret(&self) -> &[u8] {
        &self.secret
    }

    fn hash(&self, games: &[i64]) -> Sha256 {
        let mut hash = Sha256::new();
        hash.update(self.secret);
        hash.update((games.len() as u64).to_le_bytes());
        games.iter().for_each(|game| hash.update(game.to_le_bytes()));
        hash
    }
}

fn random_bytes() -> [u8; 32] {
    let mut bytes = [0; 32];
    // Without a source of randomness there are no secrets; no supported system lacks one.
    #[allow(clippy::expect_used)]
    getrandom::fill(&mut bytes).expect("the system has a source of random numbers");
    bytes
}

/// Creates a file that only its owner can read.
pub(crate) fn create_private(file: &Path, contents: &[u8]) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(contents)
}

/// Returns random hexadecimal digits, for names and passwords.
pub(crate) fn random_hex(bytes: usize) -> String {
    hex(&random_bytes()[..bytes.min(32)])
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_depends_on_the_run_and_on_every_game() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fleet/key");
        let key = |identity| RunKey::derived(&file, identity).unwrap();
        assert_eq!(key("a").lease(&[1, 2], false), key("a").lease(&[1, 2], false));
        assert_eq!(key("a").id, key("a").id);
        let lease = key("a").lease(&[1, 2], false);
        assert_ne!(lease, key("b").lease(&[1, 2], false));
        assert_ne!(lease, key("a").lease(&[1], false));
        assert_ne!(lease, key("a").lease(&[2, 1], false));
        assert_ne!(lease, key("a").lease(&[1, 2], true));
        assert_ne!(lease, RunKey::random().lease(&[1, 2], false));
    }
}
