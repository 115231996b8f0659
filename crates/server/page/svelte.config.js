// Short class names: every element of every component carries one.
const cssHash = ({ hash, css }) => `s${hash(css).slice(0, 4)}`;

export default { compilerOptions: { css: "external", cssHash, runes: true } };
