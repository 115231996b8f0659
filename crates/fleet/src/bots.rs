//! Bundles of bots in the object store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_nats::jetstream::object_store;
use crownhead_bots::PlayerSpec;
use crownhead_play::BuiltinSpec;
use crownhead_sandbox::ScratchDir;
use crownhead_tournament::Entrant;
use tokio::io::AsyncReadExt;

use crate::FleetError;
use crate::bundle::{self, MAX_BYTES};
use crate::connection::{Connection, server_error};
use crate::players::{BotMessage, PlayerMessage};
use crate::streams::BOTS;

/// Maximum number of bots that a worker keeps unpacked.
const MAX_UNPACKED: usize = 64;

/// Describes players for jobs, and stores the bundles of the bots among them.
pub(crate) async fn upload(
    connection: &Connection,
    entrants: &[&Entrant],
    secret: &[u8],
) -> Result<HashMap<String, PlayerMessage>, FleetError> {
    let mut players = HashMap::new();
    for &entrant in entrants {
        let program = entrant.player.as_ref().ok().and_then(|player| player.program());
        let message = match program {
            None => PlayerMessage::new(Some(entrant)),
            Some(program) => {
                let bundle = bundle::pack(program, secret).map_err(|error| {
                    FleetError::File(format!("cannot pack {}: {error}", entrant.name))
                })?;
                let store = connection.jetstream.get_object_store(BOTS).await;
                let store = store.map_err(server_error)?;
                if store.info(&bundle.name).await.is_err() {
                    let put = store.put(bundle.name.as_str(), &mut bundle.sealed.as_slice()).await;
                    put.map_err(server_error)?;
                }
                PlayerMessage::bot(entrant, program, &bundle)
            }
        };
        players.insert(key(entrant), message);
    }
    Ok(players)
}

/// Identifies a player of a run: names of bots in a match may be the same.
pub(crate) fn key(entrant: &Entrant) -> String {
    format!("{}\n{}", entrant.name, entrant.text)
}

/// The bots of a worker, unpacked. Each is built once.
#[derive(Default)]
pub(crate) struct Bots {
    unpacked: Mutex<HashMap<String, Arc<UnpackedBot>>>,
}

/// A bot and its files, which are removed with it.
pub(crate) struct UnpackedBot {
    spec: PlayerSpec,
    _folder: ScratchDir,
}

impl Bots {
    /// Returns a bot, downloaded if necessary. Adds to `keep` what must live as long as its
    /// players.
    pub(crate) fn find(
        &self,
        bot: &BotMessage,
        runtime: &tokio::runtime::Handle,
        connection: &Connection,
        keep: &mut Vec<Arc<UnpackedBot>>,
    ) -> Result<PlayerSpec, String> {
        // Locked during the download: other threads may need the same bot.
        let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if unpacked.len() >= MAX_UNPACKED && !unpacked.contains_key(&bot.object) {
            // Bots in use are in `keep`, too.
            unpacked.clear();
        }
        let found = match unpacked.get(&bot.object) {
            Some(found) => found.clone(),
            None => {
                let sealed = runtime.block_on(download(connection, &bot.object))?;
                let failed = |error: String| format!("bot {}: {error}", bot.object);
                // The options of a built-in player may name a file of this machine.
                if BuiltinSpec::is_builtin_name(&bot.text) {
                    return Err(failed("it is not a bot".into()));
                }
                let folder = ScratchDir::new().map_err(|error| failed(error.to_string()))?;
                bundle::unpack(sealed, &bot.object, &bot.key, folder.path()).map_err(failed)?;
                let text = match bot.text.as_str() {
                    "." => folder.path().display().to_string(),
                    text => text.to_string(),
                };
                let spec = PlayerSpec::parse_relative_to(&text, folder.path())
                    .map_err(|error| failed(error.to_string()))?;
                let found = Arc::new(UnpackedBot { spec, _folder: folder });
                unpacked.insert(bot.object.clone(), found.clone());
                found
            }
        };
        let spec = found.spec.clone();
        keep.push(found);
        Ok(spec)
    }
}

async fn download(connection: &Connection, name: &str) -> Result<Vec<u8>, String> {
    let failed = |error: &dyn std::error::Error| format!("cannot fetch bot {name}: {error}");
    let store: object_store::ObjectStore =
        connection.jetstream.get_object_store(BOTS).await.map_err(|error| failed(&error))?;
    let object = store.get(name).await.map_err(|error| failed(&error))?;
    let mut sealed = Vec::new();
    // The files, their list, and the tag of the encryption.
    let mut reader = object.take(MAX_BYTES + (16 << 20));
    reader.read_to_end(&mut sealed).await.map_err(|error| failed(&error))?;
    Ok(sealed)
}
