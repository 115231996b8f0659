// Checks types.ts against the golden files: missing, unknown and mistyped fields are type errors.
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";
import { goldenNames, goldenText } from "./golden";

/** Type of each golden file. Files that are not listed are messages of the server. */
const TYPES: Record<string, string> = {
  catalog: "Catalog",
  rules: "GameRules",
  position: "PositionView",
  "position-over": "PositionView",
  "position-request": "PositionRequest",
  "legal-move-with-other-paths": "LegalMove",
  error: "ErrorResponse",
  "new-game-request": "NewGameRequest",
  created: "CreatedGame",
  summaries: "GameSummaries",
  "client-messages": "ClientMessage[]",
  fleet: "FleetStatus",
};

/** Type errors of a file with these lines. */
function typeErrors(lines: string[]): string[] {
  const file = fileURLToPath(new URL("golden-check.ts", import.meta.url));
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    // The types need no more, and checking the whole library is slow.
    lib: ["lib.es5.d.ts"],
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  const text = ['import type * as api from "./types";', ...lines].join("\n");
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, target) =>
    name === file ? ts.createSourceFile(name, text, target) : getSourceFile(name, target);
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map((error) => ts.flattenDiagnosticMessageText(error.messageText, "\n"));
}

const check = (name: string, type: string, json: string) =>
  `export const ${name.replaceAll("-", "_")}: api.${type} = ${json};`;

test("golden files match the types", () => {
  const lines = goldenNames().map((name) =>
    check(name, TYPES[name] ?? "ServerMessage", goldenText(name)),
  );
  expect(lines.length).toBeGreaterThan(20);
  expect(typeErrors(lines)).toEqual([]);
});

test("every message of the server has a golden file", () => {
  const messages = goldenNames().filter((name) => !(name in TYPES));
  const record = Object.fromEntries(messages.map((name) => [name, true]));
  const type = 'Record<api.ServerMessage["type"], true>';
  const line = `export const all: ${type} = ${JSON.stringify(record)};`;
  expect(typeErrors([line])).toEqual([]);
});

test("every message of the client has a golden file", () => {
  const types = [...goldenText("client-messages").matchAll(/"type": "([a-z-]+)"/g)];
  const record = Object.fromEntries(types.map(([, name]) => [name, true]));
  const type = 'Record<api.ClientMessage["type"], true>';
  const line = `export const all: ${type} = ${JSON.stringify(record)};`;
  expect(typeErrors([line])).toEqual([]);
});

test("missing and unknown fields are found", () => {
  const errors = typeErrors([
    check("a", "ServerMessage", '{"type": "pong"}'),
    check("b", "ServerMessage", '{"type": "pong", "id": 1, "what": "draw"}'),
    check("c", "Seat", '{"side": "b", "kind": "robot", "name": null, "online": true}'),
  ]);
  expect(errors).toHaveLength(3);
});
