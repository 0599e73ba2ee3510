/**
 * Stands in a bundle for `platform`, with which the `e2b` package says in its headers where it runs. On
 * Node.js, Node itself says that. The package recognises every browser that ever existed, and has 31 KB.
 */
// oxlint-disable-next-line import/no-default-export -- as the package has it
export default {
  name: 'Node.js',
  version: process.versions.node,
  os: { family: process.platform },
};
