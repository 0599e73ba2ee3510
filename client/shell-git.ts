/**
 * The git commands that only look. Git accepts unique beginnings of long options, so beginnings are refused
 * too.
 */
import { over, type Rule } from './shell-arguments.ts';

type Look = (args: readonly string[]) => boolean;

/** `--output` writes a file, `--open-files-in-pager` and `--ext-diff` run programs. */
const writes = (arg: string): boolean =>
  (arg.startsWith('--o') && !/^--(?:oneline|objects|others|ours)$/.test(arg)) || arg.startsWith('--ext');

const looks: Look = (args) => !args.some(writes);
const none: Look = (args) => args.length === 0;
const only =
  (...allowed: readonly RegExp[]): Look =>
  (args) =>
    args.every((arg) => allowed.some((one) => one.test(arg)));
const first =
  (names: RegExp, rest: Look = looks): Look =>
  ([name = '', ...more]) =>
    names.test(name) && rest(more);
const either =
  (...looking: readonly Look[]): Look =>
  (args) =>
    looking.some((look) => look(args));

/** Options for lists of branches and tags. Without `--list`, a name would create one. */
const LISTING =
  /^(?:-a|-r|-v|-vv|-q|-av|-avv|-rv|--all|--remotes|--verbose|--no-color|--color=\w+|--sort=[\w:-]+|--format=.*|--column|--no-column|--ignore-case|-i)$/;
const LISTS = /^(?:-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at|--show-current)$/;

const COMMANDS: Readonly<Record<string, Look>> = {
  status: looks,
  log: looks,
  diff: looks,
  show: looks,
  blame: looks,
  annotate: looks,
  'rev-parse': looks,
  'rev-list': looks,
  'ls-files': looks,
  'ls-tree': looks,
  'cat-file': looks,
  describe: looks,
  shortlog: looks,
  'merge-base': looks,
  'name-rev': looks,
  'for-each-ref': looks,
  'show-ref': looks,
  'show-branch': looks,
  'diff-tree': looks,
  'diff-files': looks,
  'diff-index': looks,
  'range-diff': looks,
  cherry: looks,
  whatchanged: looks,
  'check-ignore': looks,
  'check-attr': looks,
  'check-ref-format': looks,
  'count-objects': looks,
  'verify-commit': looks,
  'verify-tag': looks,
  version: looks,
  grep: (args) => looks(args) && !args.some((arg) => /^-[^-]*O/.test(arg)),
  branch: either(
    only(LISTING),
    (args) =>
      LISTS.test(args[0] ?? '') &&
      looks(args.slice(1)) &&
      !args.some((arg) => /^-[^-]*[dDmMcCfuU]|^--(?:d|m|c|e|f|u|se|t)/.test(arg) && !LISTS.test(arg)),
  ),
  tag: either(
    none,
    (args) =>
      /^(?:-l|--list|-n\d*)$/.test(args[0] ?? '') &&
      looks(args) &&
      !args.slice(1).some((arg) => /^-[^-]*[adsfmFu]|^--(?:a|d|s|f|m|e|l|cr)/.test(arg)),
  ),
  remote: either(none, only(/^(?:-v|--verbose)$/), first(/^get-url$/)),
  stash: first(/^(?:list|show)$/),
  worktree: first(/^list$/),
  reflog: either(none, first(/^show$/)),
  notes: first(/^(?:list|show)$/),
  submodule: first(/^status$/, none),
  config: first(
    /^(?:--get|--get-all|--get-regexp|--list|-l|get|list)$/,
    only(/^[^-]/, /^--(?:global|local|system|worktree|show-origin|show-scope|name-only|null|all)$/, /^-z$/),
  ),
  'symbolic-ref': either(only(/^HEAD$/, /^(?:--short|-q|--quiet)$/)),
};

/**
 * Options before the command. `-c` could set a program to run, so only settings about the display are
 * accepted.
 */
const HARMLESS_SETTING =
  /^(?:color\.[\w.]+|core\.quote[pP]ath|log\.\w+|diff\.(?:renames|renameLimit|context|algorithm))=/;

const commandAt = (args: readonly string[]): readonly string[] | undefined => {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) return args.slice(at);
    if (arg === '-C' || arg === '--git-dir' || arg === '--work-tree') at += 1;
    else if (arg === '-c') {
      at += 1;
      if (!HARMLESS_SETTING.test(args[at] ?? '')) return undefined;
    } else if (
      !/^(?:--no-pager|-P|--bare|--no-optional-locks|--literal-pathspecs|--git-dir=.*|--work-tree=.*)$/.test(
        arg,
      )
    ) {
      return arg === '--version' ? ['version'] : undefined;
    }
  }
  return undefined;
};

export const gitLooks: Rule = over((args) => {
  const [command = '', ...rest] = commandAt(args) ?? [];
  return Object.hasOwn(COMMANDS, command) && COMMANDS[command]?.(rest) === true;
});
