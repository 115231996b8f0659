import { afterEach, expect, test, vi } from "vitest";
import { readStored, writeStored } from "./stored";

function store(text: string | null) {
  vi.stubGlobal("localStorage", { getItem: () => text });
}
afterEach(() => vi.unstubAllGlobals());

test("only fields of the expected type are read", () => {
  const defaults = { level: "level:5", minutes: 10, options: {} };
  store('{"level": 3, "minutes": 7, "options": null, "other": 1}');
  expect(readStored("key", defaults)).toEqual({ ...defaults, minutes: 7 });
  for (const text of [null, "null", "[]", "17", "{"]) {
    store(text);
    expect(readStored("key", defaults), `${text}`).toEqual(defaults);
  }
});

test("without storage the defaults apply and nothing fails", () => {
  vi.stubGlobal("localStorage", undefined);
  writeStored("key", {});
  expect(readStored("key", { level: 1 })).toEqual({ level: 1 });
});
