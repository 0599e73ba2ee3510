/** Captures, and commands that only look, with one of their external commands failing at a time. */
import { mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { type CommandFault, commandFaults, everyFault, faultName } from './command-faults.ts';
import { createHarness, type Harness, type HarnessOptions, type Snapshot } from './git-harness.ts';
import { programHere } from './sandbox-program.ts';

interface Extent {
  every: number;
  seed: number;
}

/** One of everything that makes a capture start a command: staged work, flags, a merge, modes, big and odd files, rules. */
const MAKE = `
git init -q -b main .; git config core.quotepath false
echo one > a.txt; mkdir -p src; echo code > src/main.c; echo flagged > flagged; ln -s a.txt link
echo 'ignored/' > .gitignore; mkdir ignored; echo tracked > ignored/tracked; git add -f .; git commit -qm one
git remote add origin https://user:secret@example.com/app.git
git checkout -qb topic; echo topic > a.txt; git commit -qam topic; git checkout -q main; echo main > a.txt; git commit -qam main
git merge topic >/dev/null 2>&1 || true
git update-index --assume-unchanged flagged; echo meant > meant; git add -N meant
mkdir empty; echo x > run; chmod 750 run; echo .env > .git/info/exclude; echo secret > .env
head -c 20000 /dev/urandom > big; mkdir -p .git/x; echo 'a "b' > 'odd "name'`;

export const CHANGE = `
echo two > b.txt; rm src/main.c; echo '*.log' >> .gitignore; echo log > x.log; chmod 700 run; rmdir empty
git checkout -q --theirs a.txt; git add a.txt; git commit -qm merged; echo staged > staged; git add staged`;

const sorted = <T>(items: readonly T[]): T[] =>
  items.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

export const standing = (snapshot: Snapshot) =>
  sorted(snapshot.repositories.map(({ path, state, tree, meta }) => ({ path, state, tree, meta })));

export const sayings = (snapshot: Snapshot) => ({
  failures: sorted(snapshot.report.failures),
  skipped: sorted(snapshot.report.skipped),
});

/** An error that says what to do, and to do it again. */
export const expectToldError = (error: unknown, name: string): void => {
  expect(isWalkbackError(error), `${name}: ${String(error)}`).toBe(true);
  if (!isWalkbackError(error)) return;
  expect(
    ['SandboxUnavailable', 'CaptureFailed', 'StorageUnavailable'],
    `${name}: ${error.message}`,
  ).toContain(error.name);
  expect(error.retryable, `${name}: ${error.message}`).toBe(true);
  expect(error.message, name).not.toMatch(/: \.|: $|\(\)/);
};

export const expectTold = (snapshot: Snapshot, whole: Snapshot, name: string): void => {
  const told = snapshot.report.failures;
  for (const { reason } of told) expect(reason, name).toMatch(/\w{3}/);
  if (told.length > whole.report.failures.length) return;
  expect(standing(snapshot), name).toEqual(standing(whole));
  expect(sayings(snapshot), name).toEqual(sayings(whole));
};

export const prepared = async (options: HarnessOptions): Promise<Harness> => {
  const harness = await createHarness({ ...options, include: ['.env'], maxFileBytes: 10_000 });
  mkdirSync(`${harness.root}/app`);
  harness.sh(MAKE, 'app');
  harness.sh('mkdir lib && cd lib && git init -q -b main . && echo l > l && git add l && git commit -qm l');
  return harness;
};

/** Also the long run takes a part, another one with each seed: every case is two captures, and there are hundreds. */
const chosen = (faults: CommandFault[], { every, seed }: Extent) =>
  faults.filter((_, index) => index % every === seed % every);

/** Goes on after a case that fails: one run shows all of them. */
const createVerdict = () => {
  const bad: string[] = [];
  return {
    check: async (act: () => void | Promise<void>): Promise<void> => {
      try {
        await act();
      } catch (error) {
        bad.push(error instanceof Error ? error.message.slice(0, 600) : String(error));
      }
    },
    pronounce: (): void => expect(bad).toEqual([]),
  };
};

/** A first capture, and one after changes, each with a fault. Returns how many faults were met. */
export const captureFaults = async (extent: Extent): Promise<number> => {
  process.stdout.write(`captureFaults: SEED=${extent.seed}\n`);
  using faults = commandFaults();
  const verdict = createVerdict();
  let met = 0;
  for (const change of ['', CHANGE]) {
    await using model = await prepared({ env: faults.env });
    const first = change === '' ? undefined : await model.capture();
    const shadows =
      'cp -a app/.agent-shadow ../app.shadow; cp -a lib/.agent-shadow ../lib.shadow; cp -a .agent-shadow ../shadow';
    const back = `rm -rf {,app/,lib/}.agent-shadow; [ ! -e ../shadow ] || { cp -a ../shadow .agent-shadow; cp -a ../app.shadow app/.agent-shadow; cp -a ../lib.shadow lib/.agent-shadow; }`;
    if (first !== undefined) model.sh(`${shadows}; cd app; ${change}`);
    let whole: Snapshot | undefined;
    const calls = await faults.record(async () => {
      whole = await model.capture();
    });
    if (whole === undefined) throw new Error('The undisturbed capture did not come about.');
    for (const fault of chosen(everyFault(calls), extent)) {
      const name = `${change === '' ? 'first' : 'second'} capture: ${faultName(fault)}`;
      model.sh(back);
      model.standOn(first);
      const { hit, value, error } = await faults.withFault(fault, () => model.capture());
      if (hit === undefined) continue;
      met += 1;
      const undisturbed = whole;
      await verdict.check(async () => {
        if (error !== undefined) expectToldError(error, name);
        if (value !== undefined) expectTold(value, undisturbed, `${name} (${hit})`);
        // Nothing of the fault stays: the next capture is whole.
        model.standOn(first);
        const next = await model.capture();
        expect(standing(next), `after ${name}`).toEqual(standing(undisturbed));
        expect(sayings(next), `after ${name}`).toEqual(sayings(undisturbed));
      });
    }
  }
  verdict.pronounce();
  return met;
};

/** Survey, directories and diff, each with a fault. */
export const readFaults = async (extent: Extent): Promise<number> => {
  process.stdout.write(`readFaults: SEED=${extent.seed}\n`);
  using faults = commandFaults();
  await using harness = await prepared({ env: faults.env });
  const repositories = createRepositories(programHere());
  const one = await harness.capture();
  harness.sh(CHANGE, 'app');
  const two = await harness.capture();
  const place = { projectsRoot: harness.root, timeoutMs: 240_000 };
  const pairs = one.repositories.map(({ path, tree }) => ({
    path,
    from: tree ?? null,
    to: two.repositories.find((other) => other.path === path)?.tree ?? null,
  }));
  const looks: Record<string, () => Promise<unknown>> = {
    survey: () => repositories.survey(harness.sandbox, { ...place, maxDepth: 3, detail: true }),
    directories: () =>
      repositories.directories(harness.sandbox, { ...place, paths: ['.', 'app', 'app/src'], maxEntries: 9 }),
    diff: () =>
      repositories.diff(harness.sandbox, {
        ...place,
        sessionId: 's1',
        pairs,
        statOnly: false,
        maxBytes: 10_000,
      }),
  };
  const verdict = createVerdict();
  let met = 0;
  for (const [what, look] of Object.entries(looks)) {
    const whole = await look();
    const calls = await faults.record(look);
    for (const fault of chosen(everyFault(calls), extent)) {
      const { hit, value, error } = await faults.withFault(fault, look);
      if (hit === undefined) continue;
      met += 1;
      const name = `${what}: ${faultName(fault)} (${hit})`;
      await verdict.check(() => {
        if (error === undefined) expect(value, name).toEqual(whole);
        else expectToldError(error, name);
      });
    }
  }
  verdict.pronounce();
  return met;
};
