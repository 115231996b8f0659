/** Settings of this browser, in localStorage and the same in all tabs. */
import type { Coordinates } from "../game/notation";
import { readStored, writeStored } from "./stored";

export interface Settings {
  theme: "system" | "light" | "dark";
  /** Board and pieces. */
  board: "wood" | "green" | "contrast";
  sound: boolean;
  coordinates: Coordinates;
  name: string;
  /** Whether single letters are keys of the analysis board. */
  letterKeys: boolean;
}

const KEY = "crownhead.settings";
const defaults: Settings = {
  theme: "system",
  board: "wood",
  sound: true,
  coordinates: "numbers",
  name: "",
  letterKeys: true,
};

const load = () => readStored(KEY, defaults);

export const settings: Settings = $state(load());

/** Changes settings, for all tabs. */
export function update(change: Partial<Settings>) {
  Object.assign(settings, change);
  writeStored(KEY, settings);
  applyTheme();
}

function applyTheme() {
  const { dataset } = document.documentElement;
  if (settings.theme === "system") delete dataset.theme;
  else dataset.theme = settings.theme;
  dataset.board = settings.board;
}

addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  Object.assign(settings, load());
  applyTheme();
});
