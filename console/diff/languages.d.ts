declare module 'highlight.js/lib/languages/*' {
  const grammar: import('./highlight.d.ts').Grammar;
  export default grammar;
}
