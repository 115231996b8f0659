/** How this browser likes it: kept in its storage, the same in all tabs. */

export interface Settings {
  theme: "system" | "light" | "dark";
  sound: boolean;
  /** What is written on the board. */
  coordinates: "numbers" | "cells" | "none";
  name: string;
}

const KEY = "crownhead.settings";
const usual: Settings = { theme: "system", sound: true, coordinates: "numbers", name: "" };

function read(): Settings {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const fits = ([key, value]: [string, unknown]) =>
      key in usual && typeof value === typeof usual[key as keyof Settings];
    return { ...usual, ...Object.fromEntries(Object.entries(kept).filter(fits)) };
  } catch {
    return { ...usual };
  }
}

export const settings: Settings = $state(read());

/** Changes some of it, for all tabs. */
export function set(change: Partial<Settings>) {
  Object.assign(settings, change);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // A browser that keeps nothing can still be played in.
  }
  show();
}

function show() {
  const { dataset } = document.documentElement;
  if (settings.theme === "system") delete dataset.theme;
  else dataset.theme = settings.theme;
}

addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  Object.assign(settings, read());
  show();
});
