/**
 * Captures with a fault of the disk, or killed, at one of its own calls of the system. They touch nothing
 * of the user's, tell what they do not hold, and what is called next arrives.
 */
import { expect } from 'vitest';
import { bringOut } from './bring-out.ts';
import { CHANGE, expectTold, expectToldError, prepared, sayings, standing } from './capture-faults.ts';
import {
  chosenDiskFaults,
  createVerdict,
  type DiskFault,
  doneIn,
  type Extent,
  type TroubleName,
} from './disk-faults.ts';
import type { Harness, Snapshot } from './git-harness.ts';
import { world } from './git-repositories.ts';
import { type TracedProgram, tracedProgram } from './traced-program.ts';

const NAMES = ['app', 'lib'];

interface Scene {
  harness: Harness;
  traced: TracedProgram;
  /** What the store has before the capture. */
  known: Snapshot | undefined;
  /** The undisturbed capture. */
  whole: Snapshot;
  looks: string[];
  /** Makes the shadows what they were before the capture. */
  reset: () => void;
}

/** So many new contents are one pack, and not files of their own. */
const MANY = 'mkdir many; for n in {1..80}; do echo $n > many/$n; done';

const SCENES = { first: '', second: CHANGE, large: MANY };

const SAVE = 'cp -a .agent-shadow ../shadow; for r in app lib; do cp -a $r/.agent-shadow ../shadow-$r; done';
const RESET = `rm -rf .agent-shadow app/.agent-shadow lib/.agent-shadow
[ ! -e ../shadow ] || { cp -a ../shadow .agent-shadow; for r in app lib; do cp -a ../shadow-$r $r/.agent-shadow; done; }`;

/** What is called after the fault. */
type Next = (scene: Scene, met: Snapshot | undefined) => Promise<void>;

const isWhole = ({ whole }: Scene, next: Snapshot): void => {
  expect(standing(next)).toEqual(standing(whole));
  expect(sayings(next)).toEqual(sayings(whole));
  expect(next.report.failures).toEqual(whole.report.failures);
};

const NEXT: Record<string, Next> = {
  'the same again': async (scene) => {
    scene.harness.standOn(scene.known);
    isWhole(scene, await scene.harness.capture());
  },
  /** The answer may have arrived, and the store has what it brought. */
  'a capture on it': async (scene) => isWhole(scene, await scene.harness.capture()),
  'a rollback and the way back': async (scene, met) => {
    const { harness, known, whole, looks } = scene;
    const target = known ?? whole;
    if (met === undefined) harness.standOn(known);
    for (const to of [target, whole]) {
      const { report } = await harness.rollback(to);
      expect([report.outcome, report.problems]).toEqual(['applied', []]);
    }
    expect(world(harness, NAMES)).toEqual(looks);
  },
};

const playOne = async (scene: Scene, { name, planned }: DiskFault, turn: number): Promise<string[]> => {
  const { harness, traced, known, whole, looks, reset } = scene;
  const verdict = createVerdict();
  reset();
  harness.standOn(known);
  const { answer, told } = await traced.during(harness.root, planned, () =>
    harness.capture().then(
      (value) => ({ value, error: undefined }),
      (error: unknown) => ({ value: undefined, error }),
    ),
  );
  const done = doneIn(told);
  if (done === '') return [];
  const isSound = await verdict.check(`${name} (${done})`, () => {
    expect(world(harness, NAMES)).toEqual(looks);
    if (answer.error !== undefined) expectToldError(answer.error, name);
    if (answer.value === undefined) return;
    expectTold(answer.value, whole, name);
    bringOut(harness, answer.value.report);
  });
  const [next, act] = Object.entries(NEXT)[turn % Object.keys(NEXT).length] ?? [];
  if (isSound && act !== undefined)
    await verdict.check(`${next} after ${name} (${done})`, () => act(scene, answer.value));
  return [done, ...verdict.bad];
};

/** Of a first capture, of one after changes, and of one with many new files. Answers how many faults were met, and what was wrong. */
export const captureDiskFaults = async (
  trouble: TroubleName,
  extent: Extent,
): Promise<{ met: number; bad: string[] }> => {
  using traced = tracedProgram();
  let met = 0;
  const bad: string[] = [];
  for (const [of, change] of Object.entries(SCENES)) {
    await using harness = await prepared({ prefix: traced.prefix });
    const known = change === '' ? undefined : await harness.capture();
    if (known !== undefined) {
      bringOut(harness, known.report);
      harness.sh(change, 'app');
      harness.sh(SAVE);
    }
    const looks = world(harness, NAMES);
    const { answer: whole, told } = await traced.during(harness.root, undefined, () => harness.capture());
    const scene = { harness, traced, known, whole, looks, reset: () => void harness.sh(RESET) };
    for (const fault of chosenDiskFaults(trouble, told, extent)) {
      const [done, ...wrong] = await playOne(scene, fault, fault.planned.at + extent.seed);
      if (done !== undefined) met += 1;
      bad.push(...wrong.map((one) => `${of} capture: ${one}`));
    }
  }
  return { met, bad };
};
