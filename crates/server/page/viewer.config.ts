import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import page from "./vite.config.ts";

// The viewer of reports: one classic script and one style sheet that crates/report puts into its
// pages. They are committed and compared, like the page.
export default defineConfig({
  plugins: [svelte()],
  publicDir: false,
  build: {
    ...page.build,
    outDir: "../../report/viewer",
    emptyOutDir: true,
    lib: {
      entry: "src/viewer/main.svelte.ts",
      formats: ["iife"],
      name: "crownheadViewer",
      fileName: () => "viewer.js",
      cssFileName: "viewer",
    },
  },
});
