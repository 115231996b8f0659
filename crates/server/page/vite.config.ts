import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The same sources must give the same bytes: the built files are committed and compared.
// Nothing is inlined, because the content security policy of the server refuses it.
export default defineConfig({
  plugins: [svelte({ compilerOptions: { css: "external", runes: true } })],
  build: {
    target: ["es2022", "chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
  // `npm run dev` beside a running `crownhead serve`.
  server: {
    proxy: { "/api": { target: "http://127.0.0.1:8064", ws: true } },
  },
});
