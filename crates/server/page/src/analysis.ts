/** What most visitors do not need, in one file: the analysis board, the puzzles and the engine. */
export { default } from "./routes/Analyse.svelte";
export { pageEngine } from "./lib/engine/engines";
export { default as Puzzles } from "./routes/Puzzles.svelte";
