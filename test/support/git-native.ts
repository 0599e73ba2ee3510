/**
 * Looks at the same working files with the native program, right after the scripts captured them, and compares: the tree, the
 * lists of the sidecar, the host state, failures and skips. Then it captures natively, and compares again. The native program
 * keeps a shadow and a stat table of its own, so each look but the first of a harness also proves the table.
 */
import { spawn } from 'node:child_process';
import { expect } from 'vitest';
import type * as z from 'zod';
import { readReport } from '../../adapters/git/program/answer.ts';
import { readProgramBuild } from '../../adapters/git/program/build.ts';
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import { type SandboxCommand, sandboxRequest } from '../../contract/sandbox/requests.ts';
import type { CaptureReport } from '../../core/checkpoint/ports/capture.ts';
import type { CommandResult, ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { captureNative } from './git-native-capture.ts';
import { bringTarget, comeBack, shareOutlawed, stepAside } from './git-native-shadows.ts';
import type { Snapshot } from './git-snapshot.ts';
import { runSync } from './run-sync.ts';

type Look = Extract<SandboxCommand, { kind: 'capture-working-tree' }>;
type Report = z.infer<(typeof SANDBOX_REPORTS)['capture-working-tree']>;
type Repository = Report['repositories'][number];

/** What is used of a harness. */
interface Harness {
  top: string;
  root: string;
  sandbox: ExecutionAdapter;
  sh: (script: string, directory?: string) => string;
}

const SESSION = 'native';

/** Harnesses whose last capture was one before a way back. */
const went = new WeakSet<Harness>();

/** Where the packaged program for this machine lies. */
export const nativeProgram = (): string =>
  readProgramBuild().path(process.arch === 'arm64' ? 'aarch64' : 'x86_64');

/** One call of the program. */
export const callNative = async (
  program: string,
  command: Look,
  { cwd, env, prefix = [] }: { cwd: string; env: Record<string, string>; prefix?: string[] },
): Promise<Report> => {
  const mark = 'walkback-native';
  const request = JSON.stringify(sandboxRequest.parse({ mark, timeoutMs: 240_000, command }));
  const ended = await new Promise<CommandResult>((resolve, reject) => {
    const child = spawn('/usr/bin/env', [...prefix, program], { cwd, env });
    const result: CommandResult = { exitCode: -1, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      result.stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      result.stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...result, exitCode: code ?? -1 }));
    child.stdin.end(request);
  });
  return readReport(SANDBOX_REPORTS['capture-working-tree'], ended, mark);
};

/** Where a list or tree of the scripts is in their shadow. */
const gitIn = (harness: Harness, path: string, args: string[]): string =>
  runSync('git', [`--git-dir=${harness.root}/${path}/.agent-shadow/session-s1`, ...args], {
    cwd: harness.root,
    env: { PATH: process.env['PATH'] ?? '', HOME: '/dev/null' },
  });

const EMPTY_BLOB = /^(?:e69de29b|473a0f4c)/;

/** What a capture of the scripts says of the same. */
const scripted = (harness: Harness, snapshot: Snapshot): Record<string, unknown>[] =>
  snapshot.repositories
    .filter(({ state }) => state !== 'absent')
    .map((one) => {
      const { path, tree, meta, info, stash } = one;
      if (tree === undefined || meta === undefined || info === undefined) return { path };
      const { headKind, branch, head, shallow, partial } = info;
      const parts = new Map(
        gitIn(harness, path, ['ls-tree', meta])
          .split('\n')
          .flatMap((line) => {
            const [, id = '', name = ''] = /^\d+ \w+ (\w+)\t(.*)$/.exec(line) ?? [];
            return EMPTY_BLOB.test(id) ? [] : [[name, id] as const];
          }),
      );
      return {
        path,
        tree,
        modes: parts.get('modes'),
        empty: parts.get('empty'),
        leftOut: parts.get('left-out'),
        host: { meta, headKind, branch, head, shallow, partial, stash: stash ?? [] },
      };
    });

const withPath = (repository: string, path: string): string =>
  repository === '.' ? path : path === '.' ? repository : `${repository}/${path}`;

interface Told {
  path: string;
  reason: string;
  sizeBytes?: number;
}

/** Each fact once. The scripts say of a directory that was captured and cannot be read also that it cannot be entered. */
const sorted = (told: readonly Told[]): string[] => {
  const lines = told.map(
    ({ path, reason, sizeBytes }) => `${path}: ${reason}${sizeBytes === undefined ? '' : ` ${sizeBytes}`}`,
  );
  const unread = (line: string): boolean =>
    lines.some((one) =>
      one.startsWith(line.replace(/: the directory cannot be entered$/, '/: the directory cannot be read')),
    );
  return [...new Set(lines)]
    .filter((line) => !line.endsWith(': the directory cannot be entered') || !unread(line))
    .toSorted();
};

/** What the scripts say as well. They have one word for a HEAD that cannot be read and for none. */
const hostOf = ({
  meta,
  headKind,
  branch,
  head,
  shallow,
  partial,
  stash,
}: NonNullable<Repository['host']>) => ({
  meta,
  headKind: headKind === 'none' ? 'unreadable' : headKind,
  branch,
  head,
  shallow,
  partial,
  stash,
});

const listOf = ({ path, tree, modes, empty, leftOut, host }: Repository) => ({
  path,
  tree,
  modes,
  empty,
  leftOut,
  host: host === undefined ? undefined : hostOf(host),
});

const byPath = (one: { path?: unknown }, other: { path?: unknown }): number =>
  String(one.path) < String(other.path) ? -1 : 1;

/** What a native capture says of it. */
const captureSaid = ({ repositories, failures, skipped }: CaptureReport) => ({
  repositories: repositories
    .filter(({ state }) => state !== 'absent')
    .map(({ path, tree, meta, info, stash }) => {
      if (meta === undefined || info === undefined) return { path, tree: undefined, host: undefined };
      const { headKind, branch, head, shallow, partial } = info;
      return {
        path,
        tree,
        host: { meta, headKind, branch, head, shallow, partial, stash: stash ?? [] },
      };
    })
    .toSorted(byPath),
  failures: sorted(failures),
  skipped: sorted(skipped),
});

const formats = ({ repositories }: CaptureReport) =>
  new Map(
    repositories.flatMap(({ path, state, info }) =>
      state === 'captured' ? [[path, info?.objectFormat]] : [],
    ),
  );

export interface NativeLook {
  program: string;
  /** How many states were compared. */
  states: number;
}

export interface LookOptions {
  include: string[];
  exclude: string[];
  maxFileBytes: number;
  maxDepth: number;
  env: Record<string, string>;
  prefix: string[];
}

/** Looks at what `snapshot` captured, and fails when anything is not the same. */
export const sameByNative = async (
  native: NativeLook,
  harness: Harness,
  { before, snapshot, target }: { before?: Snapshot; snapshot: Snapshot; target?: Snapshot },
  options: LookOptions,
): Promise<void> => {
  const command: Look = {
    kind: 'capture-working-tree',
    sessionId: SESSION,
    include: options.include,
    exclude: options.exclude,
    maxFileBytes: options.maxFileBytes,
    maxDepth: options.maxDepth,
    known: (before?.repositories ?? []).filter(({ state }) => state === 'captured').map(({ path }) => path),
    targets: (target?.repositories ?? []).flatMap(({ path, tree }) =>
      tree === undefined ? [] : [{ path, tree }],
    ),
  };
  const { env, prefix } = options;
  const paths = snapshot.repositories.map(({ path }) => path);
  comeBack(harness, SESSION, paths);
  if (went.delete(harness)) shareOutlawed(harness, SESSION, paths);
  if (target !== undefined) went.add(harness);
  for (const { path, tree } of command.targets) bringTarget(harness, SESSION, path, tree);
  const report = await callNative(native.program, command, { cwd: harness.root, env, prefix });
  const captured = await captureNative(harness, { before, target }, SESSION, options);
  native.states += 1;
  const said = {
    repositories: report.repositories.map(listOf).toSorted(byPath),
    failures: sorted(
      report.repositories.flatMap(({ path, failures }) =>
        failures.map((one) => ({ ...one, path: withPath(path, one.path) })),
      ),
    ),
    skipped: sorted([
      ...report.skipped,
      ...report.repositories.flatMap(({ path, skipped }) =>
        skipped.map((one) => ({ ...one, path: withPath(path, one.path) })),
      ),
    ]),
  };
  const expected = {
    repositories: scripted(harness, snapshot).toSorted(byPath),
    failures: sorted(snapshot.report.failures),
    skipped: sorted(snapshot.report.skipped),
  };
  const differences: string[] = [];
  for (const one of said.repositories) {
    const other = expected.repositories.find(({ path }) => path === one.path);
    if (other === undefined || one.tree === undefined) continue;
    const { tree } = other;
    if (typeof tree !== 'string' || one.tree === tree) continue;
    const lines = difference(harness, one.path, tree, one.tree);
    // A rule with `!` in a .gitignore takes back the pattern with which the scripts leave out a file for its size: they
    // capture it, and report that they did not.
    const isOverruled = lines.every(
      (line) =>
        line.startsWith('D\t') &&
        said.skipped.some((text) =>
          text.startsWith(`${withPath(one.path, line.slice(2))}: larger than maxFileBytes`),
        ),
    );
    if (isOverruled) {
      // The modes are a part of the host state.
      const host = Object.assign({}, other['host'], { meta: one.host?.meta });
      Object.assign(other, { tree: one.tree, modes: one.modes, host });
    } else differences.push(`${one.path}:`, ...lines);
  }
  stepAside(harness, SESSION, paths);
  expect(said, differences.join('\n')).toEqual(expected);
  expect(captureSaid(captured)).toEqual({
    ...said,
    repositories: said.repositories.map(({ path, tree, host }) => ({ path, tree, host })),
  });
  expect(formats(captured)).toEqual(formats(snapshot.report));
};

/** What the native tree has otherwise, as lines of `git diff-tree --name-status`. */
const difference = (harness: Harness, path: string, from: string, to: string): string[] => {
  const objects = `${harness.root}/${path}/.agent-shadow/session-${SESSION}/objects`;
  return runSync(
    'git',
    [
      `--git-dir=${harness.root}/${path}/.agent-shadow/session-s1`,
      'diff-tree',
      '-r',
      '-z',
      '--name-status',
      from,
      to,
    ],
    {
      cwd: harness.root,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: '/dev/null',
        GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
      },
    },
  )
    .replaceAll(/([A-Z])\0([^\0]*)\0/g, '$1\t$2\n')
    .split('\n')
    .filter((line) => line !== '');
};

/**
 * The comparison that every harness of this process makes after each capture, while a test has set one. With
 * `WALKBACK_NATIVE`, a path of the program, all harnesses make it.
 */
export const besideCaptures: { native?: NativeLook } = {};
const everywhere = process.env['WALKBACK_NATIVE'];
if (everywhere !== undefined) besideCaptures.native = { program: everywhere, states: 0 };
