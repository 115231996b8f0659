/** Objects in localStorage. */

/** Reads an object. Fields that are missing or of another type have their default. */
export function readStored<T extends object>(key: string, defaults: T): T {
  try {
    const stored: object = JSON.parse(localStorage.getItem(key) ?? "{}");
    const isValid = ([key, value]: [string, unknown]) =>
      key in defaults && value !== null && typeof value === typeof defaults[key as keyof T];
    return { ...defaults, ...Object.fromEntries(Object.entries(stored).filter(isValid)) };
  } catch {
    return { ...defaults };
  }
}

/** Stores an object. Without storage it lasts until the tab is closed. */
export function writeStored(key: string, value: object) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // See above.
  }
}
