import { readFileSync, readdirSync } from "node:fs";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { minifySync, type Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Writes `sw.js`, the service worker, with the list of the files of the build. */
const serviceWorker = (): Plugin => ({
  name: "service-worker",
  apply: "build",
  enforce: "post",
  generateBundle(_, bundle) {
    // A fleet is of no use without the server.
    const built = Object.keys(bundle).filter((name) => !/\.html$|fleet-/i.test(name));
    // Icons are for the installation only.
    const kept = readdirSync("public").filter((name) => !name.endsWith(".png"));
    const files = [...built, ...kept].map((name) => `/${name}`).sort();
    const template = readFileSync("src/offline/serviceWorker.js", "utf8");
    const source = template.replace('["/* files */"]', JSON.stringify(files));
    const { code } = minifySync("sw.js", source, { mangle: { toplevel: true } });
    this.emitFile({ type: "asset", fileName: "sw.js", source: code });
  },
});

// The build must be reproducible: the built files are committed and compared. Nothing is inlined,
// because the content security policy of the server forbids it.
export default defineConfig({
  plugins: [svelte(), serviceWorker()],
  build: {
    target: ["es2022", "chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: false,
    // All of them know light-dark().
    cssTarget: ["chrome123", "firefox121", "safari18"],
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  worker: { format: "es" },
  // For `npm run dev`, with `crownhead serve` running.
  server: {
    proxy: {
      "/api": { target: "http://127.0.0.1:8064", ws: true },
      "/crownhead.wasm": "http://127.0.0.1:8064",
    },
  },
  test: {
    include: ["src/**/*.test.ts"],
    testTimeout: 60_000,
  },
});
