/**
 * One external command fails while late writes are captured, or while the sandbox is told that they are stored. They are
 * captured whole, or the call says that it failed; and the same call made again has all of them.
 */
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { type CommandFault, commandFaults, everyFault, faultName } from './command-faults.ts';
import type { Snapshot } from './git-harness.ts';
import { withRepositories } from './git-repositories.ts';
import { runSync } from './run-sync.ts';
import { sampled, WHOLE } from './sampling.ts';

const PLACE = { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } };
const FILES = ['app/f.txt', 'gone/g', 'gone/link'];

const treesOf = ({ repositories }: Snapshot) => repositories.map(({ path, tree }) => [path, tree]);

export const lateFaults = async (every: number, offset: number): Promise<void> => {
  using faults = commandFaults();
  await using harness = await withRepositories(['app'], { env: faults.env });
  const first = await harness.capture();
  harness.sh(
    'echo two > app/f.txt; mkdir gone; cd gone; git init -q -b main .; echo g > g; ln -s g link; git add .; git commit -qm g',
  );
  const undo = await harness.capture(first);
  const { report } = await harness.rollback(first, { from: undo });
  expect(report.outcome).toBe('applied');
  // As if they had been written meanwhile: the files are where a restore would have kept them.
  const aside = `${harness.root}/.agent-shadow/aside-s1`;
  for (const [number, path, name] of [
    [0, 'app', 'f.txt'],
    [1, 'gone', 'g'],
  ] as const) {
    runSync(
      '/bin/sh',
      [
        '-c',
        `mkdir -p "$1/files" && echo sha1 >"$1/format" && printf '${path}\\0' >"$1/path" && printf '${name}\\0${path === 'gone' ? 'link\\0' : ''}' >"$1/late" && : >"$1/were" && echo "late ${path}" >"$1/files/${name}"${path === 'gone' ? ' && ln -s late "$1/files/link"' : ''}`,
        'sh',
        `${aside}/call/${number}.1`,
      ],
      PLACE,
    );
  }
  const { root } = harness;
  runSync('cp', ['-a', root, `${root}.saved`], PLACE);
  const reset = () => runSync('/bin/sh', ['-c', 'rm -rf "$1" && cp -a "$1.saved" "$1"', 'sh', root], PLACE);

  const whole = await harness.captureLate(undo);
  expect([whole.report.failures, whole.report.late?.toSorted()]).toEqual([[], FILES]);
  let durable: Snapshot | undefined;
  const store = async () => {
    durable = undefined;
    durable = await harness.captureLate(undo);
    // As the core does: a capture that failed for one repository is not stored.
    if (durable.report.failures.length === 0) await harness.lateStored(durable);
  };
  reset();
  const calls = await faults.record(store);
  const cases = sampled(everyFault(calls), { every, whole: 6, offset, minimum: WHOLE ? 50 : 3 });
  const outcomes = new Map<string, number>();
  const wrong: string[] = [];
  let met = 0;
  const meets = async (fault: CommandFault): Promise<void> => {
    reset();
    const { hit, error } = await faults.withFault(fault, store);
    if (hit !== undefined) met += 1;
    const where = `${faultName(fault)}: ${hit}`;
    if (error !== undefined) {
      if (!isWalkbackError(error)) throw error;
      expect(error.retryable, `${where}: ${error.message}`).toBe(true);
    }
    const failures = durable?.report.failures ?? [];
    expect(
      failures.filter(({ reason }) => !/\w/.test(reason)),
      where,
    ).toEqual([]);
    const isWhole = durable !== undefined && failures.length === 0;
    outcomes.set(isWhole ? 'whole' : 'told', (outcomes.get(isWhole ? 'whole' : 'told') ?? 0) + 1);
    // What was told is still there: it can be captured again.
    if (!isWhole) durable = await harness.captureLate(undo);
    expect(durable === undefined ? [] : treesOf(durable), where).toEqual(treesOf(whole));
    if (existsSync(aside)) await harness.lateStored(await harness.captureLate(undo));
    expect(existsSync(aside), where).toBe(false);
  };
  for (const fault of cases) {
    await meets(fault).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      wrong.push(String(error));
    });
  }
  process.stderr.write(`${cases.length} of ${calls.length * 6} faults: ${JSON.stringify([...outcomes])}\n`);
  expect(wrong).toEqual([]);
  // Where jobs run side by side, a call may be another one than in the run that counted them.
  expect(met, 'faults that were met').toBeGreaterThanOrEqual(cases.length / 2);
};
