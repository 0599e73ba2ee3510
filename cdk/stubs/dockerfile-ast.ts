/**
 * Stands in a bundle for `dockerfile-ast`, which the `e2b` package imports for building templates from
 * Dockerfiles. Walkback never does that, and the package has 220 KB.
 */
export const DockerfileParser = {
  parse: (): never => {
    throw new Error('dockerfile-ast is not bundled');
  },
};
