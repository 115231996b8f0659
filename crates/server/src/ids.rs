//! Game ids and seat secrets: random letters from the operating system.
//!
//! A secret is stored and compared by its SHA-256 hash only. It has 132 random bits, so a plain
//! hash is enough: unlike a password it cannot be guessed.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// 96 bits: a game cannot be found by guessing.
const ID_CHARS: usize = 16;
/// 132 bits.
pub(crate) const SECRET_CHARS: usize = 22;

/// Id of a game, which also grants the right to watch.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(String);

impl GameId {
    /// A random id.
    pub fn new() -> Result<GameId, RngUnavailable> {
        random_letters::<ID_CHARS>().map(GameId)
    }

    /// Parses an id; `None` if it has the wrong form.
    pub fn parse(text: &str) -> Option<GameId> {
        let is_valid = text.len() == ID_CHARS && text.bytes().all(|byte| LETTERS.contains(&byte));
        is_valid.then(|| GameId(text.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Secret of a seat, which grants the right to play. It implements neither `Debug` nor `Display`,
/// so that it cannot be logged by accident.
pub struct SeatSecret(String);

impl SeatSecret {
    /// A random secret.
    pub fn new() -> Result<SeatSecret, RngUnavailable> {
        random_letters::<SECRET_CHARS>().map(SeatSecret)
    }

    /// The text, for its owner only.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash, for the store.
    pub fn hash(&self) -> SecretHash {
        SecretHash::new(&self.0)
    }
}

/// Hash of a seat secret.
#[derive(Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// The hash of any text, valid as a secret or not.
    pub fn new(text: &str) -> SecretHash {
        SecretHash(Sha256::digest(text.as_bytes()).into())
    }

    /// The hash with these bytes; `None` if the length is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Option<SecretHash> {
        bytes.try_into().ok().map(SecretHash)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compares in constant time.
    pub fn ct_eq(&self, hash: &SecretHash) -> bool {
        self.0.ct_eq(&hash.0).into()
    }
}

/// The operating system provides no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("random number generator of the operating system failed: {0}")]
pub struct RngUnavailable(getrandom::Error);

fn random_letters<const N: usize>() -> Result<String, RngUnavailable> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(RngUnavailable)?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte & 63)])).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;

    #[test]
    fn secret_matches_only_its_own_hash() {
        let (a, b) = (SeatSecret::new().unwrap(), SeatSecret::new().unwrap());
        assert_eq!(a.reveal().len(), SECRET_CHARS);
        assert!(a.hash().ct_eq(&SecretHash::new(a.reveal())));
        assert!(!a.hash().ct_eq(&b.hash()));
        assert!(!a.hash().ct_eq(&SecretHash::new("")));
    }

    #[test]
    fn parse_accepts_only_ids() {
        let id = GameId::new().unwrap();
        assert_eq!(GameId::parse(id.as_str()), Some(id));
        for text in ["", "short", "../../etc/passwd", "AAAAAAAAAAAAAAA/", "AAAAAAAAAAAAAAAAA"] {
            assert_eq!(GameId::parse(text), None, "{text}");
        }
    }
}
