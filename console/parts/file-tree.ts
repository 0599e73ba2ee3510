/** The changed files of a message as a tree, each with a link to its diff. The tree itself is pure data. */
import { html } from 'hono/html';
import { plural } from '../../core/shared/plural.ts';
import type { ShownFile } from '../diff/markup.ts';
import { counts } from './counts.ts';
import { type Markup, NOTHING, shown } from './markup.ts';

/** A directory, or a file with its diffs: the file may have changed in several calls. */
interface TreeNode {
  name: string;
  files: ShownFile[];
  children: TreeNode[];
}

const childOf = (node: TreeNode, name: string): TreeNode => {
  const known = node.children.find((one) => one.name === name && one.files.length === 0);
  if (known !== undefined) return known;
  const made = { name, files: [], children: [] };
  node.children.push(made);
  return made;
};

/** A directory with nothing but another directory is shown with it: `src/pages`. */
const joined = ({ name, files, children }: TreeNode): TreeNode => {
  const below = children.map(joined);
  const [only] = below;
  return files.length === 0 && below.length === 1 && only !== undefined && only.files.length === 0
    ? { ...only, name: `${name}/${only.name}` }
    : { name, files, children: below };
};

/** Files in the order in which they were first changed. */
const treeOf = (files: readonly ShownFile[]): TreeNode[] => {
  const root: TreeNode = { name: '', files: [], children: [] };
  const byPath = new Map<string, TreeNode>();
  for (const file of files) {
    const known = byPath.get(file.path);
    if (known !== undefined) {
      known.files.push(file);
      continue;
    }
    const names = file.path.split('/');
    const last = names.pop() ?? '';
    const leaf = { name: last, files: [file], children: [] };
    byPath.set(file.path, leaf);
    let at = root;
    for (const name of names) at = childOf(at, name);
    at.children.push(leaf);
  }
  return root.children.map(joined);
};

const MOST_FILES = 300;

const leafPart = ({ name, files }: TreeNode): Markup => {
  const [first] = files;
  if (first === undefined) return NOTHING;
  const sum = {
    added: files.reduce((all, { added }) => all + added, 0),
    deleted: files.reduce((all, { deleted }) => all + deleted, 0),
  };
  return html`<li class="leaf"><a href="#${first.anchor}">${shown(name)}</a> ${first.isDeleted ? html`<span class="hint">deleted</span>` : counts(sum)}</li>`;
};

const nodePart = (node: TreeNode): Markup =>
  node.files.length > 0
    ? leafPart(node)
    : html`<li><span class="folder">${shown(node.name)}</span><ul>${node.children.map(nodePart)}</ul></li>`;

/** Nothing where no file has a diff on this page. */
export const fileTreePart = (files: readonly ShownFile[]): Markup => {
  if (files.length === 0) return NOTHING;
  const paths = new Set(files.map(({ path }) => path));
  const first = [...paths].slice(0, MOST_FILES);
  const kept = new Set(first);
  return html`<div class="files" role="group" aria-label="Changed files"><details open><summary>${plural(paths.size, 'changed file')} <span class="hint" data-viewed-count></span></summary>
    <ul>${treeOf(files.filter(({ path }) => kept.has(path))).map(nodePart)}</ul>${paths.size > MOST_FILES ? html`<p class="cut">Cut here: ${plural(paths.size - MOST_FILES, 'more file')}.</p>` : NOTHING}</details></div>`;
};
