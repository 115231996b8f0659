/** Settings of this browser, in localStorage and the same in all tabs. */
import type { Coordinates } from "../game/notation";

export interface Settings {
  theme: "system" | "light" | "dark";
  /** Board and pieces. */
  board: "wood" | "green" | "contrast";
  sound: boolean;
  coordinates: Coordinates;
  name: string;
}

const KEY = "crownhead.settings";
const defaults: Settings = {
  theme: "system",
  board: "wood",
  sound: true,
  coordinates: "numbers",
  name: "",
};

function load(): Settings {
  try {
    const stored: object = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const isValid = ([key, value]: [string, unknown]) =>
      key in defaults && typeof value === typeof defaults[key as keyof Settings];
    return { ...defaults, ...Object.fromEntries(Object.entries(stored).filter(isValid)) };
  } catch {
    return { ...defaults };
  }
}

export const settings: Settings = $state(load());

/** Changes settings, for all tabs. */
export function update(change: Partial<Settings>) {
  Object.assign(settings, change);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Without storage the settings last until the tab is closed.
  }
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
