/** Creates a game, stores its secrets in this browser, and opens it. */
import { createGame } from "../api/client";
import type { NewGameRequest } from "../api/types";
import { navigate } from "../router.svelte";
import { saveGame } from "../stores/myGames.svelte";

export async function startGame(request: NewGameRequest) {
  const { id, secret, you, friend } = await createGame(request);
  const kind = request.game.split(":")[0] ?? "";
  saveGame({ id, secret, you, kind, mode: request.mode, ...(friend ? { friend } : {}) });
  navigate(`/game/${id}`);
}
