declare module 'highlight.js/lib/languages/*' {
  const grammar: (core: unknown) => object;
  // oxlint-disable-next-line import/no-default-export
  export default grammar;
}
