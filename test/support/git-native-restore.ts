/**
 * Restores twice: the scripts restore a copy of the projects root, then the native program restores the projects root
 * itself. Neither judges: files are read by walking, and git says where the repositories stand.
 */
import { existsSync, lstatSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import { createNativeRestore, isToBeMade, notNative } from '../../adapters/git/program/restore.ts';
import type { RestoreReport, RestoreRequest } from '../../core/checkpoint/ports/restore.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { files, gitDirectory, gitState } from './fingerprint.ts';
import { runSync } from './run-sync.ts';
import { programHere } from './sandbox-program.ts';

/** What is used of a harness. */
interface Place {
  root: string;
  sandbox: ExecutionAdapter;
}

/**
 * The comparison that every harness of this process makes at each restore, while a test has set one. With
 * `WALKBACK_NATIVE_RESTORE`, all harnesses make it; where that is `alone`, the scripts do not restore as well.
 */
export const besideRestores: {
  native?: {
    compared: number;
    left: string[];
    /** The scripts restore only what the native program does not. */
    isAlone?: boolean;
  };
} = {};
const everywhere = process.env['WALKBACK_NATIVE_RESTORE'];
/** Whether all harnesses restore with the native program, and with the scripts only what it does not restore. */
export const isNativeAlone = everywhere === 'alone';
if (everywhere !== undefined) besideRestores.native = { compared: 0, left: [], isAlone: isNativeAlone };

const native = createNativeRestore(programHere());

const STATUS = ['-c', 'safe.directory=*', '-c', 'core.fsmonitor=false', 'status', '--porcelain=v2', '-z'];

const said = (directory: string, args: string[]): string => {
  try {
    return runSync('git', args, {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    });
  } catch {
    return 'git refuses';
  }
};

/** Of a git directory that has no HEAD, or is gone, there is nothing to say. */
const stateOf = (directory: string): string[] =>
  existsSync(`${gitDirectory(directory)}/HEAD`) ? gitState(directory) : ['no HEAD'];

/** All that a person would see. */
const look = (root: string, paths: readonly string[]): string[] => [
  ...files(root),
  ...paths.flatMap((path) => {
    const directory = `${root}/${path}`;
    if (!existsSync(`${directory}/.git`)) return [];
    return [...stateOf(directory), said(directory, STATUS)].map((line) => `${path}: ${line}`);
  }),
];

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** The scripts report a link that was put aside also where it is as it was captured. */
const late = ({ asides = [] }: RestoreReport): string[] =>
  asides
    .flatMap((aside) => aside.late.map((path) => ({ aside, path })))
    .filter(({ aside, path }) => !isLink(`${aside.directory}/${path}`))
    .map(({ aside, path }) => `${aside.path}: ${path}`)
    .toSorted();

/** The scripts tell twice of a ref that is no branch and moves with HEAD. */
const once = <Branch extends { name: string }>(branches: readonly Branch[]): Branch[] => [
  ...new Map(branches.map((branch) => [branch.name, branch])).values(),
];

/** To be asked while what was put aside is where the report says. */
const telling = (report: RestoreReport) => ({
  outcome: report.outcome,
  repositories: report.repositories
    .map(({ path, action, written, deleted, host, paths }) => ({
      path,
      action,
      written,
      deleted,
      host: host && { ...host, branches: once(host.branches) },
      paths: paths.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1)),
  problems: report.problems.map(({ path, kind }) => `${path}: ${kind}`).toSorted(),
  warnings: report.warnings.toSorted(),
  late: late(report),
  settled: report.settled && { ...report.settled, kept: report.settled.kept.toSorted() },
});

type Told = ReturnType<typeof telling>;

/** Where objects of an index are gone, the program may not know how many entries differ. It says so, and that is compared. */
const asFarAsKnown = (told: Told, by: Told): Told => ({
  ...told,
  repositories: told.repositories.map((one, at) =>
    one.host?.index !== undefined && by.repositories[at]?.host?.index?.entries === null
      ? { ...one, host: { ...one.host, index: { entries: null } } }
      : one,
  ),
});

/** What only the program tells: that an earlier restore of its own was ended, of which the scripts know nothing. */
const ofEndedRestore = (root: string, { sessionId }: RestoreRequest): string[] => {
  const journal = `${root}/.agent-shadow/journal-${sessionId}`;
  return existsSync(journal) ? [(JSON.parse(readFileSync(journal, 'utf8')) as { call: string }).call] : [];
};

const ENDED = /^the restore (\w+) was ended while .*; what it put aside was looked after$/;

/** The report is that of the native program, whose work stays. Requests that it does not know are left to the scripts. */
export const restoreBoth = async (
  place: Place,
  request: RestoreRequest,
  scripted: (request: RestoreRequest) => Promise<RestoreReport>,
): Promise<RestoreReport> => {
  const why = notNative(request);
  if (besideRestores.native === undefined || why !== undefined) {
    besideRestores.native?.left.push(why ?? '');
    return scripted(request);
  }
  const left = (): Promise<RestoreReport> => {
    besideRestores.native?.left.push('objects that are missing are found by the scripts');
    return scripted(request);
  };
  if (besideRestores.native.isAlone === true) {
    const report = await native(place.sandbox, request);
    return isToBeMade(request, report) ? left() : report;
  }
  const { root } = place;
  const copy = `${root}.copy`;
  const original = `${root}.original`;
  const paths = request.repositories.map(({ path }) => path);
  runSync('cp', ['-a', root, copy], { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } });
  renameSync(root, original);
  renameSync(copy, root);
  let first: ReturnType<typeof telling>;
  let expected: string[];
  try {
    first = telling(await scripted(request));
    expected = look(root, paths);
  } finally {
    renameSync(root, copy);
    renameSync(original, root);
    runSync('chmod', ['-R', 'u+rwx', copy], { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } });
    rmSync(copy, { recursive: true, force: true });
  }
  const ended = ofEndedRestore(root, request);
  const second = await native(place.sandbox, request);
  // Where the program lacks objects that the scripts find elsewhere, it refuses, and nothing was changed.
  const lacksObjects =
    second.outcome === 'refused' && second.problems.some(({ kind }) => kind === 'missing-objects');
  if (isToBeMade(request, second) || (lacksObjects && first.outcome !== 'refused')) return left();
  besideRestores.native.compared += 1;
  const isOfEnded = (warning: string): boolean => ENDED.test(warning);
  expect(second.warnings.filter(isOfEnded).map((warning) => ENDED.exec(warning)?.[1])).toEqual(ended);
  const said = telling({ ...second, warnings: second.warnings.filter((one) => !isOfEnded(one)) });
  expect(said).toEqual(asFarAsKnown(first, said));
  expect(look(root, paths)).toEqual(expected);
  return second;
};
