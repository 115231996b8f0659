import js from "@eslint/js";
import prettier from "eslint-config-prettier";
import svelte from "eslint-plugin-svelte";
import { defineConfig } from "eslint/config";
import globals from "globals";
import ts from "typescript-eslint";

export default defineConfig([
  { ignores: ["dist/", "node_modules/"] },
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  prettier,
  svelte.configs.prettier,
  {
    rules: {
      eqeqeq: "error",
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_" },
      ],
      // Types are checked by svelte-check, which knows the globals.
      "no-undef": "off",
    },
  },
  {
    files: ["src/**/*.ts", "src/**/*.svelte"],
    languageOptions: {
      globals: globals.browser,
      parserOptions: {
        projectService: true,
        extraFileExtensions: [".svelte"],
        parser: ts.parser,
      },
    },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      // Collections that are not part of the rendered state need no reactivity.
      "svelte/prefer-svelte-reactivity": "off",
      // The router resolves paths itself; this is not SvelteKit.
      "svelte/no-navigation-without-resolve": "off",
    },
  },
  {
    files: ["tests/**/*.js", "*.js", "*.ts"],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
    rules: { "no-undef": "error" },
  },
]);
