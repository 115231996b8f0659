import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// The build must be reproducible: the built files are committed and compared. Nothing is inlined,
// because the content security policy of the server forbids it.
export default defineConfig({
  plugins: [svelte()],
  build: {
    target: ["es2022", "chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  // For `npm run dev`, with `crownhead serve` running.
  server: {
    proxy: { "/api": { target: "http://127.0.0.1:8064", ws: true } },
  },
  test: {
    include: ["src/**/*.test.ts"],
    testTimeout: 60_000,
  },
});
