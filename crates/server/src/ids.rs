//! Ids of games and secrets of seats: letters drawn from the system's source of chance.
//!
//! A secret is kept and compared as its hash only. It has 132 bits, so the plain hash will do:
//! there is no guessing it as one guesses a password.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// 96 bits: nobody finds a game by trying.
const ID_CHARS: usize = 16;
const SECRET_CHARS: usize = 22;

/// The id of a game, which is also the right to look on.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(String);

impl GameId {
    /// A new one.
    pub fn new() -> Result<GameId, RngUnavailable> {
        letters::<ID_CHARS>().map(GameId)
    }

    /// Reads one; none if the text cannot be one.
    pub fn parse(text: &str) -> Option<GameId> {
        is_letters(text, ID_CHARS).then(|| GameId(text.into()))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The right to play a seat. It has no `Debug`, so that it gets into no log.
pub struct SeatSecret(String);

impl SeatSecret {
    /// A new one.
    pub fn new() -> Result<SeatSecret, RngUnavailable> {
        letters::<SECRET_CHARS>().map(SeatSecret)
    }

    /// Its text, for its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub fn hash(&self) -> SecretHash {
        SecretHash::new(&self.0)
    }
}

/// What is kept of a secret.
#[derive(Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// The hash of a text, whatever it is.
    pub fn new(text: &str) -> SecretHash {
        SecretHash(Sha256::digest(text.as_bytes()).into())
    }

    /// As it was kept; none if it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<SecretHash> {
        bytes.try_into().ok().map(SecretHash)
    }

    /// To be kept.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compares in a time that does not depend on where the two differ.
    pub fn ct_eq(&self, other: &SecretHash) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// The system gives no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("the system gives no random numbers: {0}")]
pub struct RngUnavailable(getrandom::Error);

fn letters<const N: usize>() -> Result<String, RngUnavailable> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(RngUnavailable)?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte & 63)])).collect())
}

fn is_letters(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| LETTERS.contains(&byte))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_its_own_and_nobody_elses() {
        let (one, other) = (SeatSecret::new().unwrap(), SeatSecret::new().unwrap());
        assert_eq!(one.reveal().len(), SECRET_CHARS);
        assert!(one.hash().ct_eq(&SecretHash::new(one.reveal())));
        assert!(!one.hash().ct_eq(&other.hash()));
        assert!(!one.hash().ct_eq(&SecretHash::new("")));
    }

    #[test]
    fn only_ids_are_read_as_ids() {
        let id = GameId::new().unwrap();
        assert_eq!(GameId::parse(id.as_str()), Some(id));
        for text in ["", "short", "../../etc/passwd", "AAAAAAAAAAAAAAA/", "AAAAAAAAAAAAAAAAA"] {
            assert_eq!(GameId::parse(text), None, "{text}");
        }
    }
}
