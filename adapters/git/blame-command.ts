/**
 * The command that asks git who wrote the lines of a file. Captures of one repository have the parents that the shadow
 * gave them, and the same capture may stand at several places of a timeline. So the command makes the history of
 * the timeline as commits of its own, in a git directory of this call that reads the objects of the shadow, and
 * git blames in that. Pure.
 */
import { gzipSync } from 'node:zlib';
import type { BlameNode, BlameRequest, FindFileRequest } from '../../core/checkpoint/ports/blame.ts';
import type { BundleSource } from '../../core/checkpoint/ports/restore.ts';
import { BEGIN, configOf, guarded, makeGit } from './guarded-command.ts';
import { nameWord, shellQuote } from './script.ts';

/** Later than the repository's own commits, so that git goes through these first. */
const FIRST_SECOND = 4_000_000_000;

/** git's own heuristic for binary files looks at so much. */
const LOOKED_AT = 8_000;

/** A longer history goes ahead as a file. */
const MOST_INLINE = 64 * 1024;

const HISTORY = 'history';

/** The line before which a commit of the repository's own history becomes a parent, where it can be read. */
const OWN = '%own';

const commitText = ({ tree, parents, commit }: BlameNode, at: number, nonce: string): string => {
  const [first, ...more] = parents;
  const person = `${at} <${nonce}> ${FIRST_SECOND + at} +0000`;
  return [
    // Else the commit before would be the parent.
    'reset refs/heads/b',
    'commit refs/heads/b',
    `mark :${at + 1}`,
    `author ${person}`,
    `committer ${person}`,
    'data 0',
    ...(first === undefined ? [] : [`from :${first + 1}`]),
    ...(commit === undefined ? [] : [`${OWN} ${commit}`]),
    ...more.map((parent) => `merge :${parent + 1}`),
    ...(tree === null ? ['deleteall'] : [`M 040000 ${tree} ""`]),
    '',
    '',
  ].join('\n');
};

/** What `git fast-import` reads. The author of each commit is its place, at an address that only this call knows. */
export const historyOf = (nodes: readonly BlameNode[], nonce: string): string =>
  nodes.map((node, at) => commitText(node, at, nonce)).join('');

/** The ids that the command looks for, in this order. */
export const soughtIds = ({ nodes, bases }: Pick<BlameRequest, 'nodes' | 'bases'>) => {
  const distinct = (ids: readonly (string | null | undefined)[]): string[] => [
    ...new Set(ids.filter((id) => typeof id === 'string')),
  ];
  const own = nodes.map(({ commit }) => commit);
  return { trees: distinct(nodes.map(({ tree }) => tree)), own: distinct(own), bases: distinct(bases) };
};

const prefixOf = (path: string): string => (path === '.' ? '' : `${path}/`);

const bring = (bundles: readonly BundleSource[]): string[] =>
  bundles.length === 0
    ? []
    : [
        'cd -- "$incoming" || fault "what was brought into the sandbox is not there"',
        // Addresses are secret, and arguments of a process are visible to everybody.
        `if [ -f sources ]; then
n=0
while IFS= read -r line; do
  case $line in '# list') n=$((n + 1)) ;; *) printf '%s\\n' "$line" >>"$here/list.$n" ;; esac
done <sources
for list in "$here"/list.*; do curl --disable -K - <"$list" >/dev/null 2>>"$here/err" || fault "a bundle could not be fetched into the sandbox"; done
fi`,
        ...bundles.map(
          ({ sha256 }) =>
            `printf '%s  %s\\n' ${sha256} ${sha256}.bundle | sha256sum --status -c - || fault "a bundle arrived damaged"
{ while IFS= read -r line && [ -n "$line" ]; do :; done; git index-pack --stdin --fix-thin; } <${sha256}.bundle >/dev/null 2>"$here/err" || { ended $?; fault "a bundle cannot be read"; }`,
        ),
        'cd -- "$GIT_DIR" || exit 75',
      ];

/** `$file` is a name in bytes. */
const LOOK = [
  'git ls-tree -z --long refs/heads/b -- "$file" >"$here/entry" 2>"$here/err" || { ended $?; say failed "$(head -c 400 "$here/err")"; answer; }',
  "IFS=$' \\t' read -r -d '' mode type id size name <\"$here/entry\"",
];

const READ_TYPE = `case $mode in
'') git log -1 --diff-filter=D --no-renames --format='%H%x00%ae%x00%an%x00%aI%x00%s' refs/heads/b -- "$file" >"$here/removed" 2>"$here/err" || ended $?
  say entry absent; answer "$here/removed" ;;
040000) say entry directory; answer ;;
120000) say entry link; answer ;;
160000) say entry submodule; answer ;;
esac`;

const readText = (maxFileBytes: number): string[] => [
  `if [ "$size" -gt ${maxFileBytes} ]; then say entry too-large; say size "$size"; answer; fi`,
  'git cat-file blob "$id" >"$here/blob" 2>"$here/err" || { ended $?; say failed "$(head -c 400 "$here/err")"; answer; }',
  `head -c ${LOOKED_AT} "$here/blob" >"$here/beginning"`,
  `if [ "$(wc -c <"$here/beginning")" != "$(tr -d '\\000' <"$here/beginning" | wc -c)" ]; then say entry binary; answer; fi`,
  'total=$(wc -l <"$here/blob") || fault "the file cannot be read"',
  // The last line may have no end.
  '[ ! -s "$here/blob" ] || [ "$(tail -c 1 "$here/blob" | wc -l)" = 1 ] || total=$((total + 1))',
  'say entry lines; say total "$((total))"',
];

const history = (isWithout: boolean): string =>
  isWithout
    ? `sed '/^${OWN} /d' "$here/history" >"$here/stream"`
    : `sed -f "$here/own" "$here/history" >"$here/stream"`;

const IMPORT = 'git fast-import --quiet --force <"$here/stream" >/dev/null 2>"$here/err"';

const BLAME = 'git blame --porcelain -L "$from,$to" refs/heads/b -- "$file" >"$here/lines" 2>"$here/err"';

export interface BuiltBlame {
  command: string;
  /** Files of the directory of what is brought in. */
  files: { name: string; data: Uint8Array }[];
}

/** Runs in the projects root. `incoming`: where its files are, relative to that. */
export const blameCommand = (
  request: BlameRequest,
  { mark, nonce, incoming }: { mark: string; nonce: string; incoming: string },
): BuiltBlame => {
  const { path, sessionId, nodes, bundles, from, to, mostLines, maxFileBytes, shallow } = request;
  const { trees, own, bases } = soughtIds(request);
  const packed = gzipSync(`${[...trees, ...own, ...bases].join('\n')}\n\n${historyOf(nodes, nonce)}`, {
    level: 9,
  });
  const text = packed.toString('base64');
  const isFile = text.length > MOST_INLINE;
  const prefix = prefixOf(path);
  const script = [
    ...BEGIN(mark),
    `incoming=${isFile || bundles.length > 0 ? `$root/${shellQuote(incoming)}` : ''}`,
    ...makeGit(request.objectFormat),
    `repository=$root/${nameWord(`${prefix}.`)}`,
    `shadow=$repository/.agent-shadow/session-${sessionId}`,
    'reads "$shadow/objects" shadow && reads "$repository/.git/objects" host || fault "the temporary directory cannot be written"',
    `if [ -f "$shadow/shallow" ]; then grep -E '^[0-9a-f]{40,64}$' "$shadow/shallow" >shallow || rm -f shallow; fi`,
    ...bring(bundles),
    isFile
      ? `gzip -dc <"$incoming/${HISTORY}" >"$here/given"`
      : `base64 -d <<'E' | gzip -dc >"$here/given"\n${text}\nE`,
    `sed '/^$/,$d' "$here/given" >"$here/ids" && sed '1,/^$/d' "$here/given" >"$here/history" || fault "the history did not arrive"`,
    `git cat-file --batch-check='%(objectname) %(objecttype)' <"$here/ids" >"$here/found" 2>"$here/err" || { ended $?; fault "git cannot look for the captures"; }`,
    // All is read: where grep ends early, head is ended by a signal, and the pipe has failed.
    `lacking=$(head -n ${trees.length} "$here/found" | grep -cv ' tree$')`,
    'if [ "$lacking" != 0 ]; then say entry missing; answer "$here/found"; fi',
    ...(shallow ? ['[ -s shallow ] || : >"$here/found"'] : []),
    `sed -n 's/^\\(.*\\) commit$/s\\/^${OWN} \\1$\\/from \\1\\//p' "$here/found" >"$here/own" && printf '/^${OWN} /d\\n' >>"$here/own"`,
    `own=$(sed -n 's/^\\(.*\\) commit$/\\1/p' "$here/found" | tr '\\n' ' ')`,
    `${history(false)} && ${IMPORT} || { ended $?; own=; ${history(true)} && ${IMPORT} || { ended $?; say failed "$(head -c 400 "$here/err")"; answer; }; }`,
    `file=${nameWord(request.file)}`,
    ...LOOK,
    READ_TYPE,
    ...readText(maxFileBytes),
    `from=${from} to=${to ?? '$total'}`,
    `[ $to -le $total ] || to=$total; [ $((to - from)) -lt ${mostLines} ] || to=$((from + ${mostLines - 1}))`,
    'if [ $from -gt $total ]; then answer; fi',
    `${BLAME} || { ended $?; ${history(true)} && ${IMPORT} && ${BLAME} && own=; } || { ended $?; say failed "$(head -c 400 "$here/err")"; answer; }`,
    'say own "$own"',
    'answer "$here/lines"',
  ].join('\n');
  return {
    command: guarded(script, request.timeoutMs),
    files: isFile ? [{ name: HISTORY, data: packed }] : [],
  };
};

/** look REPOSITORY TREE PLACE FORMAT: says what the path is in this tree. */
const lookIn = (sessionId: string): string => `look() {
  (
    cd -- "$root/$1" && export GIT_DIR=$here/git/$3 GIT_ALTERNATE_OBJECT_DIRECTORIES="$here/git/$3/shadow:$here/git/$3/host" || exit 0
    cp -R "$here/empty.$4" "$GIT_DIR" && ln -s -- "$PWD/.agent-shadow/session-${sessionId}/objects" "$GIT_DIR/shadow" && ln -s -- "$PWD/.git/objects" "$GIT_DIR/host" && cd -- "$GIT_DIR" || exit 75
    git ls-tree -z "$2" -- "$file" 2>/dev/null
  ) >"$here/entry" || { [ $? != 75 ] || fault "the temporary directory cannot be written"; }
  mode=
  IFS=' ' read -r -d '' mode rest <"$here/entry"
  say entry "\${mode:--}"
}`;

/** Says for each tree, in their order, what the path is in it. */
export const findFileCommand = (
  { trees, file, sessionId, timeoutMs }: FindFileRequest,
  mark: string,
): string =>
  guarded(
    [
      ...BEGIN(mark),
      ...(['sha1', 'sha256'] as const).map(
        (format) =>
          `mkdir -p empty.${format}/objects empty.${format}/refs git && printf 'ref: refs/heads/none\\n' >empty.${format}/HEAD && printf '%s' ${shellQuote(configOf(format))} >empty.${format}/config || fault "the temporary directory cannot be written"`,
      ),
      `file=${nameWord(file)}`,
      lookIn(sessionId),
      ...trees.map(
        ({ path, tree }, at) =>
          `look ${nameWord(`${prefixOf(path)}.`)} ${tree} ${at} ${tree.length === 40 ? 'sha1' : 'sha256'}`,
      ),
      'answer',
    ].join('\n'),
    timeoutMs,
  );
