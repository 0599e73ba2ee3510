/**
 * Composes twice: the scripts compose in a copy of the projects root, then the native program in the projects root itself.
 * Both say the same, and the bundles of the native one bring its tree to where those before them are.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { OUTPUT_BYTES } from '../../adapters/git/capture-command.ts';
import { createNativeCompose } from '../../adapters/git/program/compose.ts';
import type { UploadTarget } from '../../core/checkpoint/ports/capture.ts';
import type { ComposeReport, ComposeRequest } from '../../core/checkpoint/ports/compose.ts';
import type { BundleSource } from '../../core/checkpoint/ports/restore.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { files } from './fingerprint.ts';
import { nextProgram } from './next-program.ts';
import { runSync } from './run-sync.ts';

/** What is used of a harness. */
interface Place {
  root: string;
  sandbox: ExecutionAdapter;
}

/**
 * The comparison that every harness of this process makes at each composition, while a test counts it. With
 * `WALKBACK_NATIVE_COMPOSE`, all harnesses make it; where that is `alone`, the scripts do not compose.
 */
export const besideComposes: { native?: Map<string, number>; isAlone?: boolean } = {};
const everywhere = process.env['WALKBACK_NATIVE_COMPOSE'];
if (everywhere !== undefined) {
  besideComposes.native = new Map();
  besideComposes.isAlone = everywhere === 'alone';
}

const native = createNativeCompose(nextProgram(), OUTPUT_BYTES);
const PLAIN = { PATH: process.env['PATH'] ?? '', HOME: '/dev/null' };

type Compose = (
  sandbox: ExecutionAdapter,
  request: ComposeRequest,
  upload: UploadTarget,
) => Promise<ComposeReport>;

/** An error of the program is an outcome like any other. */
const outcomeOf = async (work: () => Promise<ComposeReport>): Promise<ComposeReport | Error> => {
  try {
    return await work();
  } catch (error) {
    if (isWalkbackError(error)) return error;
    throw error;
  }
};

const sorted = <One>(all: readonly One[]): One[] =>
  all.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

/** A list of files at the end of a message has the order in which a directory lists them. */
const inOrder = (message: string): string =>
  message.replace(
    /(holds: )(.*)$/s,
    (_, before: string, names: string) => before + names.split(' ').toSorted().join(' '),
  );

/** What a bundle begins with: the commits that it builds on, and its refs. Its own commit is of its second. */
const headOf = (bytes: Uint8Array | undefined, commit: string): string => {
  const buffer = Buffer.from(bytes ?? []);
  return buffer.subarray(0, buffer.indexOf('\n\n')).toString('latin1').replaceAll(commit, 'COMMIT');
};

/** All that a caller would see. The commit holds the time. */
const telling = (report: ComposeReport) => ({
  repositories: sorted(
    report.repositories.map((one) => ({ ...one, ...(one.changed && { commit: 'of its second' }) })),
  ),
  failures: report.failures.map(({ path }) => path).toSorted(),
  bundles: sorted(
    report.bundles.map(({ repositoryPath, kind, base, chain, bytes, commit }) => ({
      repositoryPath,
      kind,
      base,
      chain,
      head: headOf(bytes, commit),
    })),
  ),
  changes: report.changes?.map((one) => ({ ...one, patch: Buffer.from(one.patch).toString('latin1') })),
  conflicts: sorted(report.conflicts.map((one) => ({ ...one, message: inOrder(one.message) }))),
  unknownPaths: report.unknownPaths.toSorted(),
  missing: report.missing.toSorted(),
  unsupported: report.unsupported.toSorted(),
  hostKept: report.hostKept.toSorted(),
  hostTaken: report.hostTaken.toSorted(),
  warnings: report.warnings.toSorted(),
});

/** What came of a composition, to be counted. */
const metIn = (report: ComposeReport): Set<string> =>
  new Set([
    'compared',
    ...report.repositories.flatMap((one) => (one.chain === undefined ? [] : [one.chain])),
    ...report.conflicts.map(({ kind }) => `${kind} conflict`),
    ...(report.failures.length > 0 ? ['failed'] : []),
    ...(report.missing.length > 0 ? ['missing'] : []),
    ...(report.hostTaken.length > 0 ? ['host taken'] : []),
    ...(report.hostKept.length > 0 ? ['host kept'] : []),
    ...(report.warnings.length > 0 ? ['unseen'] : []),
    ...(report.unknownPaths.length > 0 ? ['unknown path'] : []),
  ]);

/** Counts, for a person. */
export const countedComposes = (): string =>
  `git-native-merge: ${[...(besideComposes.native ?? [])].map(([what, times]) => `${what} ${times}`).join(', ')}\n`;

/** What a composition leaves beside its objects: the note of what lies in no repository, and what was captured. */
const left = (root: string, request: ComposeRequest): string[] => {
  const read = (file: string): string => (existsSync(file) ? readFileSync(file, 'latin1') : 'not there');
  const { sessionId, toolExecutionId } = request;
  return [
    read(`${root}/.agent-shadow/taken-${sessionId}/${toolExecutionId}`),
    ...request.repositories.map((one) =>
      read(`${root}/${one.known.path}/.agent-shadow/session-${sessionId}/sought`),
    ),
    ...files(root),
  ];
};

const gitIn = (directory: string, args: string[]): string | undefined => {
  try {
    return runSync('git', [`--git-dir=${directory}`, ...args], { cwd: '/', env: PLAIN });
  } catch {
    return undefined;
  }
};

/** Text of the commits that were made, without their second, where the shadow has them. */
const commitsIn = (root: string, { sessionId }: ComposeRequest, report: ComposeReport): string[] =>
  report.repositories.flatMap((one) => {
    if (one.state !== 'captured') return [];
    const text = gitIn(`${root}/${one.path}/.agent-shadow/session-${sessionId}`, [
      'cat-file',
      'commit',
      one.commit,
    ]);
    return text === undefined ? [] : [`${one.path}: ${text.replaceAll(/> \d+ \+0000/g, '> TIME')}`];
  });

/** Brings the bundles into a repository that has those before them. The bundles of a partial clone lack what the clone lacks. */
const bringOut = (
  top: string,
  request: ComposeRequest,
  report: ComposeReport,
  chains: ReadonlyMap<string, readonly BundleSource[]>,
): void => {
  for (const [at, one] of report.repositories.entries()) {
    const asked = request.repositories.find(({ known }) => known.path === one.path);
    if (one.state !== 'captured' || !one.changed || asked?.partial === true) continue;
    // What such a chain stands on is in the store already.
    if (one.chain === 'rebase' && request.knownBases.length > 0) continue;
    const store = join(top, `composed-${at}.git`);
    mkdirSync(store, { recursive: true });
    const git = (...args: string[]): string => runSync('git', args, { cwd: store, env: PLAIN });
    git('init', '-q', '--bare', `--object-format=${asked?.objectFormat ?? 'sha1'}`, store);
    // Uploaded ones are not in the report.
    if (report.bundles.some(({ bytes }) => bytes === undefined)) continue;
    const before = one.chain === 'rebase' ? [] : (chains.get(one.path) ?? []);
    const own = report.bundles
      .filter(({ repositoryPath }) => repositoryPath === one.path)
      .toSorted((first, second) => (first.kind < second.kind ? -1 : 1));
    for (const { bytes, commit } of [...before, ...own]) {
      const bundle = Buffer.from(bytes ?? []);
      writeFileSync(`${store}/in.pack`, bundle.subarray(bundle.indexOf('\n\n') + 2));
      const unpack = 'exec git index-pack --stdin --fix-thin <in.pack';
      runSync('/bin/sh', ['-c', unpack], { cwd: store, env: PLAIN });
      git('update-ref', `refs/walkback/${commit}`, commit);
    }
    const boundary = gitIn(store, ['cat-file', 'blob', `${one.meta}:shallow`]);
    if (boundary !== undefined) writeFileSync(`${store}/shallow`, boundary);
    expect(git('rev-parse', `${one.commit}^{tree}`).trim(), one.path).toBe(one.tree);
    expect(git('rev-parse', `${one.commit}^@`), one.path).toContain(one.meta);
    git('rev-list', '--objects', '--quiet', one.commit);
    rmSync(store, { recursive: true });
  }
};

/** The report is that of the native program, whose work stays. */
export const composeBoth = async (
  place: Place,
  request: ComposeRequest,
  upload: UploadTarget,
  { scripted, chains }: { scripted: Compose; chains: ReadonlyMap<string, readonly BundleSource[]> },
): Promise<ComposeReport> => {
  const count = besideComposes.native;
  if (count === undefined) return scripted(place.sandbox, request, upload);
  if (besideComposes.isAlone === true) return native(place.sandbox, request, upload);
  const { root } = place;
  const [copy, original] = [`${root}.copy`, `${root}.original`];
  runSync('cp', ['-a', root, copy], { cwd: '/', env: PLAIN });
  renameSync(root, original);
  renameSync(copy, root);
  let first: ComposeReport | Error;
  let expected: { left: string[]; commits: string[] };
  try {
    first = await outcomeOf(() => scripted(place.sandbox, request, upload));
    expected = {
      left: left(root, request),
      commits: first instanceof Error ? [] : commitsIn(root, request, first),
    };
  } finally {
    renameSync(root, copy);
    renameSync(original, root);
    runSync('chmod', ['-R', 'u+rwx', copy], { cwd: '/', env: PLAIN });
    rmSync(copy, { recursive: true, force: true });
  }
  const second = await outcomeOf(() => native(place.sandbox, request, upload));
  if (first instanceof Error || second instanceof Error) {
    const named = (outcome: ComposeReport | Error): string =>
      isWalkbackError(outcome) ? outcome.name : JSON.stringify(outcome);
    expect(named(second)).toBe(named(first));
    throw second;
  }
  for (const what of metIn(second)) count.set(what, (count.get(what) ?? 0) + 1);
  expect(telling(second)).toEqual(telling(first));
  expect(left(root, request)).toEqual(expected.left);
  expect(commitsIn(root, request, second)).toEqual(expected.commits);
  bringOut(`${root}.stores`, request, second, chains);
  rmSync(`${root}.stores`, { recursive: true, force: true });
  return second;
};
