/** Kills a restore at calls of git, works on, settles what it left, and compares with the state before it. */
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { files, gitState } from './fingerprint.ts';
import { createHarness } from './git-harness.ts';
import { mortalGit } from './mortal-git.ts';

/** Two states of a few repositories, made by a shell in the projects root. */
interface TwoStates {
  names: readonly string[];
  /** Made before the first state. It is returned to before the second one is made, so what the first adds is parked. */
  before?: string;
  first: string;
  second: string;
}

/** A repository that moves, with one inside it that goes, and one beside it that goes. */
const MOVING: TwoStates = {
  names: ['app', 'app/pkg', 'other'],
  first: `mkdir app; cd app; git init -q -b main .; mkdir pkg; echo p > pkg/p; echo q > pkg/q; echo f > f; seq 900 > long; git add -A; git commit -qm one; chmod 600 f`,
  second: `cd app; cd pkg; git init -q -b main .; echo r > r; rm q; echo 2 > p; git add -A; git commit -qm in; cd ..
echo 2 > f; chmod 644 f; seq 5 999 > long; git switch -qc topic; git commit -qam two; echo new > new; git add new; mkdir hollow
git init -q ../other; echo o > ../other/o`,
};

/** A repository that comes, parked before, inside another one that moves; directories on the way to it come with it. */
export const COMING: TwoStates = {
  names: ['app', 'app/in/pkg'],
  before: `mkdir app; cd app; git init -q -b main .; echo f > f; seq 900 > long; git add -A; git commit -qm one`,
  first: `cd app; mkdir -p in/pkg; git init -q -b main in/pkg; cd in/pkg; echo p > p; mkdir d; echo q > d/q; git add -A; git commit -qm in; git branch side; echo later > p`,
  second: `cd app; seq 5 999 > long; git commit -qam two; git switch -qc topic`,
};

/** Branches that come, go, move and lead to others; a merge in progress that becomes a bisect with a detached HEAD. */
export const REFS: TwoStates = {
  names: ['app'],
  first: `mkdir app; cd app; git init -q -b main .; echo f > f; git add f; git commit -qm one; git branch kept; git branch gone; git branch moved
git symbolic-ref refs/heads/leads refs/heads/kept; git switch -qc side; echo s > f; git commit -qam side; git switch -q main; echo m > f; git commit -qam main
git merge -q side || :`,
  second: `cd app; git merge --abort; git branch -q -D gone side; git branch -f moved main; git branch come; git symbolic-ref refs/heads/leads refs/heads/main
git switch -q --detach HEAD; git bisect start -q HEAD kept >/dev/null; git pack-refs --all; echo 2 > f`,
};

/** Partial checkouts with other rules, of another kind, and that come and go. */
export const RULES: TwoStates = {
  names: ['app', 'comes', 'goes'],
  first: `for r in app comes goes; do mkdir $r; cd $r; git init -q -b main .; mkdir in out; echo in > in/f; echo out > out/f; git add -A; git commit -qm one; cd ..; done
git -C app sparse-checkout set --cone in; git -C goes sparse-checkout set --no-cone '/*' '!out'`,
  second: `git -C app sparse-checkout set --no-cone '/*' '!in'; git -C comes sparse-checkout set --cone out; git -C goes sparse-checkout disable`,
};

/** Every how many calls of git it is killed once. Answers how often it died, and how often it had written before. */
export const settleKilled = async (
  every: number,
  offset: number,
  { names, before, first, second }: TwoStates = MOVING,
): Promise<{ deaths: number; written: number }> => {
  using mortal = mortalGit();
  await using harness = await createHarness({ env: mortal.env });
  const world = (): string[] =>
    [
      ...files(harness.root),
      ...names
        .filter((name) => existsSync(`${harness.root}/${name}/.git`))
        .flatMap((name) => gitState(`${harness.root}/${name}`).map((line) => `${name}: ${line}`)),
    ].filter((line) => !/mine/.test(line));
  if (before !== undefined) harness.sh(before);
  const start = before === undefined ? undefined : await harness.capture();
  harness.sh(first);
  const target = await harness.capture();
  if (start !== undefined) await harness.rollback(start);
  harness.sh(second);
  const undo = await harness.capture();
  const atUndo = world();
  let [deaths, written] = [0, 0];
  for (let call = 1 + offset; ; call += every) {
    mortal.dieAt(call);
    const finished = await harness.rollback(target).then(
      () => true,
      () => false,
    );
    mortal.live();
    if (finished) return { deaths, written };
    deaths += 1;
    harness.sh(`echo ${call} > app/mine`);
    const { report } = await harness.settle(undo, target);
    const name = `killed at call ${call}`;
    expect([report.outcome, report.problems], name).toEqual(['applied', []]);
    if ((report.settled?.reached ?? 0) > 0) written += 1;
    expect(world(), `${name}, ${JSON.stringify(report.settled)}`).toEqual(atUndo);
    expect(harness.sh('cat app/mine', '.'), name).toBe(`${call}\n`);
    const back = await harness.rollback(undo);
    expect([back.report.outcome, back.report.problems], `back after ${call}`).toEqual(['applied', []]);
    expect(world(), `back after ${call}`).toEqual(atUndo);
  }
};
