/** What most visitors do not need, in a file of its own: the analysis board and the engine. */
export { default } from "./routes/Analyse.svelte";
export { pageEngine } from "./lib/engine/engines";
