/** The parts of a command that runs git in a directory of its own, and answers pairs. Pure. */
import { GIT_ENVIRONMENT } from './git-environment.ts';
import { shellQuote } from './script.ts';
import { scriptDeadline } from './script-deadline.ts';

export const configOf = (format: 'sha1' | 'sha256'): string =>
  [
    '[core]',
    `repositoryformatversion = ${format === 'sha1' ? 0 : 1}`,
    'bare = true',
    'commitGraph = false',
    'protectNTFS = false',
    'protectHFS = false',
    'hooksPath = /dev/null',
    '[pack]',
    'threads = 1',
    '[gc]',
    'auto = 0',
    ...(format === 'sha1' ? [] : ['[extensions]', 'objectFormat = sha256']),
    '',
  ].join('\n');

/** Starts the script in an empty environment, and ends all that it started at its deadline. */
export const guarded = (script: string, timeoutMs: number): string => {
  const { endsAfterMs, killAfterMs } = scriptDeadline(timeoutMs);
  return `exec timeout -k ${killAfterMs / 1000} ${endsAfterMs / 1000} env -i PATH="$PATH" TMPDIR="\${TMPDIR:-/tmp}" ${GIT_ENVIRONMENT.join(' ')} /bin/bash --noprofile --norc -c ${shellQuote(script)}`;
};

/** What each script begins with. `$here` is a directory of its own, and `$root` the projects root. */
export const BEGIN = (mark: string): string[] => [
  'set -o pipefail',
  'umask 077',
  `mark=${shellQuote(mark)}`,
  'root=$PWD incoming=',
  `fault() { printf '%s\\n' "$1" >&2; [ ! -s "$here/err" ] || head -c 400 "$here/err" >&2; exit 75; }`,
  'here=$(mktemp -d) || fault "no temporary directory can be made"',
  // bash runs this also when a signal ends it.
  `trap 'cd / && rm -rf -- "$here" && { [ -z "$incoming" ] || rm -rf -- "$incoming"; }' EXIT`,
  'cd -- "$here" || exit 75',
  `say() { printf '%s\\0%s\\0' "$1" "$2" >>"$here/answer" || fault "the answer could not be written"; }`,
  // What follows the pairs is the given file.
  `answer() { say end ''; printf '\\n%s\\n' "$mark" && cat "$here/answer" "$@" | base64 && printf '\\n%s\\n' "$mark" && exit 0; exit 75; }`,
  // A process that a signal ended says nothing about the repository.
  `ended() { [ "$1" -le 128 ] || fault "git was ended by a signal ($1)"; }`,
];

/** Makes a git directory that has nothing of its own, and reads the objects of a repository. */
export const makeGit = (format: 'sha1' | 'sha256'): string[] => [
  'mkdir -p git/objects/info git/objects/pack git/refs/heads && cd git || fault "the temporary directory cannot be written"',
  `printf 'ref: refs/heads/none\\n' >HEAD && printf '%s' ${shellQuote(configOf(format))} >config || fault "the temporary directory cannot be written"`,
  'export GIT_DIR=$PWD GIT_ALTERNATE_OBJECT_DIRECTORIES=',
  // Git would wait for a pipe.
  `reads() { if [ -d "$1" ] && { [ -f "$1/info/alternates" ] || [ ! -e "$1/info/alternates" ]; }; then ln -s -- "$1" "$2" && GIT_ALTERNATE_OBJECT_DIRECTORIES+=\${GIT_ALTERNATE_OBJECT_DIRECTORIES:+:}$GIT_DIR/$2; fi; }`,
];
