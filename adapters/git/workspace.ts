/** Looks at a sandbox as a place to work in, and runs single commands there (`sandbox/check`). */
import { randomBytes } from 'node:crypto';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import type { RemoteFacts, SandboxFacts, Workspaces } from '../../core/checkpoint/ports/workspace.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { all, cutShort, type Pair, records, requireOutput, value } from './output.ts';
import { assignments, plainScript } from './script.ts';

/** Programs that our code in a sandbox calls, beside git and bash (sandbox/README.md). */
const TOOLS = [
  'base64',
  'cat',
  'chmod',
  'cp',
  'cut',
  'env',
  'find',
  'flock',
  'grep',
  'gzip',
  'head',
  'mkdir',
  'mktemp',
  'mv',
  'rm',
  'sed',
  'sha256sum',
  'sort',
  'stat',
  'tail',
  'timeout',
  'tr',
  'wc',
  'xargs',
];

const newMark = (): string => `walkback-${randomBytes(9).toString('hex')}`;

/** Lines `MARK KEY VALUE`; the last one is `end`. */
const linesOf = (stdout: string, mark: string): Pair[] => {
  const pairs = stdout.split('\n').flatMap((line): Pair[] => {
    if (!line.startsWith(`${mark} `)) return [];
    const rest = line.slice(mark.length + 1);
    const space = rest.indexOf(' ');
    return space < 0 ? [[rest, '']] : [[rest.slice(0, space), rest.slice(space + 1).trimEnd()]];
  });
  if (pairs.at(-1)?.[0] !== 'end') throw cutShort();
  return pairs;
};

const ask = async (
  sandbox: ExecutionAdapter,
  name: Parameters<typeof plainScript>[0],
  values: Parameters<typeof assignments>[0],
  options: { cwd: string; timeoutMs: number },
): Promise<Pair[]> => {
  const mark = newMark();
  const command = `${assignments({ WB_MARK: mark, ...values })}\n${plainScript(name)}`;
  const { stdout } = await sandbox.run(command, options);
  return linesOf(stdout, mark);
};

const number = (text: string | undefined): number | null =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : null;

const rootOf = (text: string | undefined): SandboxFacts['root'] =>
  text === 'directory' || text === 'missing' ? text : 'other';

const factsOf = (pairs: readonly Pair[], needs: readonly string[], directory: string): SandboxFacts => {
  const kib = number(value(pairs, 'disk-kib'));
  const found = new Map(
    all(pairs, 'need').map((text) => {
      const [tool = '', ...at] = text.split(' ');
      return [tool, at.join(' ')];
    }),
  );
  return {
    bash: value(pairs, 'bash') ?? '',
    git: value(pairs, 'git') ?? '',
    user: value(pairs, 'user') ?? '',
    missing: all(pairs, 'missing'),
    hasGnuFind: value(pairs, 'gnu-find') === '1',
    needs: needs.map((tool) => ({ tool, at: found.get(tool) ?? null })),
    root: rootOf(value(pairs, 'root')),
    canMakeIn: value(pairs, 'can-make') === '1' ? directory : null,
    isWritable: value(pairs, 'writable') === '1',
    hasTemporary: value(pairs, 'temporary') === '1',
    freeBytes: kib === null ? null : kib * 1024,
    freeInodes: number(value(pairs, 'inodes')),
    unreadable: all(pairs, 'unreadable'),
  };
};

const remoteOf = (record: readonly Pair[]): RemoteFacts => ({
  url: value(record, 'remote') ?? '',
  exitCode: number(value(record, 'status')) ?? -1,
  said: all(record, 'said').join('\n'),
});

/**
 * Looks in the projects root, or in the nearest directory above it that exists. Not every sandbox takes paths
 * in a command as its own, so the directory is given as the one in which the command begins.
 */
const look: Workspaces['look'] = async (sandbox, { projectsRoot, needs, timeoutMs }) => {
  const values = { WB_TOOLS: [...TOOLS, 'curl'], WB_NEEDS: [...needs] };
  const parts = projectsRoot.split('/').filter((part) => part !== '');
  for (let depth = parts.length; ; depth--) {
    const cwd = `/${parts.slice(0, depth).join('/')}`;
    try {
      const answer = { WB_BELOW: parts[depth] ?? '', ...values };
      return factsOf(await ask(sandbox, 'check/preflight', answer, { cwd, timeoutMs }), needs, cwd);
    } catch (error) {
      if (depth === 0 || !isWalkbackError(error, 'ProjectsRootNotFound')) throw error;
    }
  }
};

const askRemotes: Workspaces['askRemotes'] = async (sandbox, { projectsRoot, paths, timeoutMs }) => {
  const values = { WB_PATHS: [...paths] };
  const pairs = await ask(sandbox, 'check/prompts', values, { cwd: projectsRoot, timeoutMs });
  return records(pairs, 'remote').map(remoteOf);
};

/** Bytes of a command's output that are answered, and bytes that the sandbox keeps while it runs. */
const HEAD_BYTES = 2048;
const TAIL_BYTES = 6144;
const KEPT_BYTES = 16 * 1024 * 1024;
/** Time for ending what ignores the request to end, and for the answer. */
const AFTER_MS = 20_000;

const runCommand: Workspaces['runCommand'] = async (sandbox, request) => {
  const mark = newMark();
  const { projectsRoot, command, directory, seconds } = request;
  const values = {
    WB_MARK: mark,
    WB_COMMAND: command,
    WB_DIRECTORY: directory,
    WB_SECONDS: seconds,
    WB_HEAD: HEAD_BYTES,
    WB_TAIL: TAIL_BYTES,
    WB_MOST: KEPT_BYTES,
  };
  const result = await sandbox.run(`${assignments(values)}\n${plainScript('check/command')}`, {
    cwd: projectsRoot,
    timeoutMs: seconds * 1000 + AFTER_MS,
  });
  const { pairs } = requireOutput(result, mark);
  if (value(pairs, 'no-directory') !== undefined) return { kind: 'no-directory' };
  const exitCode = number(value(pairs, 'status'));
  const milliseconds = number(value(pairs, 'milliseconds'));
  if (exitCode === null || milliseconds === null) throw cutShort();
  const tail = value(pairs, 'tail');
  return {
    kind: 'ended',
    exitCode,
    milliseconds,
    output: value(pairs, 'whole') ?? value(pairs, 'head') ?? '',
    ...(tail !== undefined && { tail }),
  };
};

export const createWorkspaces = (): Workspaces => ({ look, askRemotes, runCommand });
