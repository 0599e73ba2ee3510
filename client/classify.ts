/**
 * Decides which calls of tools change nothing (K2). It is conservative: a call that is not known to be a read
 * counts as a write, because a needless checkpoint costs a moment and a missing one loses work. A name alone
 * does not make a read. The input must also fit the tool that is meant, because anybody may call a tool
 * `read`.
 */
import { isReadOnlyShell } from './classify-shell.ts';

type Reads = (input: Readonly<Record<string, unknown>>) => boolean;

const has =
  (...names: readonly string[]): Reads =>
  (input) =>
    names.some((name) => typeof input[name] === 'string');
const anyInput: Reads = () => true;

/** `bash -lc TEXT`, as hosts with an argument vector write it. Any other program is run without a shell. */
const vectorReads = (words: readonly unknown[]): boolean => {
  const texts = words.map((word) => (typeof word === 'string' ? word : '\0'));
  const [shell = '', flag = '', script] = texts;
  if (/^(?:\/(?:usr\/)?bin\/)?(?:bash|sh|zsh)$/.test(shell)) {
    // A login shell reads the user's own files, but so does the host's shell.
    return /^-l?c$/.test(flag) && texts.length === 3 && isReadOnlyShell(script ?? '');
  }
  return isReadOnlyShell(texts.map((text) => `'${text.replaceAll("'", `'\\''`)}'`).join(' '));
};

const shell: Reads = ({ command, cmd }) => {
  const given = command ?? cmd;
  if (typeof given === 'string') return isReadOnlyShell(given);
  return Array.isArray(given) && given.length > 0 && vectorReads(given);
};

/** Keyed by the tool's name in the host. */
const TOOLS: Readonly<Record<string, Reads>> = {
  // Claude Code and its SDK.
  Read: has('file_path'),
  NotebookRead: has('notebook_path'),
  Glob: has('pattern'),
  Grep: has('pattern'),
  LS: has('path'),
  WebFetch: has('url'),
  WebSearch: has('query'),
  ToolSearch: has('query'),
  TodoRead: anyInput,
  TodoWrite: (input) => Array.isArray(input['todos']),
  BashOutput: has('bash_id', 'shell_id'),
  TaskOutput: has('task_id'),
  AskUserQuestion: (input) => Array.isArray(input['questions']),
  ExitPlanMode: anyInput,
  ListMcpResourcesTool: anyInput,
  ReadMcpResourceTool: has('uri'),
  Bash: shell,
  // opencode.
  read: has('filePath'),
  glob: has('pattern'),
  grep: has('pattern'),
  list: has('path'),
  webfetch: has('url'),
  websearch: has('query'),
  todoread: anyInput,
  todowrite: (input) => Array.isArray(input['todos']),
  bash: shell,
  // Codex.
  shell,
  local_shell: shell,
  exec_command: shell,
  read_file: has('file_path', 'path'),
  list_dir: has('dir_path', 'path'),
  grep_files: has('pattern'),
  view_image: has('path'),
  update_plan: (input) => Array.isArray(input['plan']),
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a call of a tool of this name with this input changes nothing. Unknown names and inputs are writes. */
export const isReadOnly = (name: string, input?: unknown): boolean => {
  if (!Object.hasOwn(TOOLS, name)) return false;
  return TOOLS[name]?.(isRecord(input) ? input : {}) === true;
};
