/**
 * Stands in a bundle for `chalk`, with which the `e2b` package colours the log of a template's build.
 * Walkback builds no templates, and nobody sees a function's colours.
 */
const plain = (text: string): string => text;

// oxlint-disable-next-line import/no-default-export -- as the package has it
export default { red: plain, gray: plain, dim: plain, hex: () => plain };
