/**
 * Stands in a bundle for `platform`, by which the `e2b` package says in its headers where it runs: on Node.js, as it says
 * itself. The package recognises every browser there ever was, and is 31 KB.
 */
// oxlint-disable-next-line import/no-default-export -- as the package has it
export default {
  name: 'Node.js',
  version: process.versions.node,
  os: { family: process.platform },
};
