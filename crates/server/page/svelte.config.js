export default { compilerOptions: { css: "external", runes: true } };
