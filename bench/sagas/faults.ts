/** What goes wrong with refunds, by four strategies that meet the same faults. */
import Table from 'cli-table3';
import { blindRetry, type Ended, forwardOnly, naiveSaga, walkback } from './strategies.ts';
import { type BenchWorld, benchWorld, RATES } from './world.ts';

const STRATEGIES: [string, (world: BenchWorld) => Promise<Ended>][] = [
  ['blind retry, fresh keys', blindRetry],
  ['forward only', forwardOnly],
  ['naive saga', naiveSaga],
  ['Walkback', walkback],
];

interface Tally {
  completed: number;
  compensated: number;
  human: number;
  orphans: number;
  runsWithOrphans: number;
  duplicateRefunds: number;
  calls: number;
  transitions: number;
}

const measure = async (strategy: (world: BenchWorld) => Promise<Ended>, runs: number): Promise<Tally> => {
  const tally: Tally = {
    completed: 0,
    compensated: 0,
    human: 0,
    orphans: 0,
    runsWithOrphans: 0,
    duplicateRefunds: 0,
    calls: 0,
    transitions: 0,
  };
  for (let run = 0; run < runs; run += 1) {
    const world = benchWorld(run);
    const ended = await strategy(world);
    const { refunds, tickets, entries, mails } = world.standing();
    const standing = refunds + tickets + entries + mails;
    // A completed refund wants one of each; anything else that stands and that nobody was told of is an orphan.
    const wanted = ended.how === 'completed' ? 4 : ended.reported;
    const orphans = Math.max(0, standing - wanted);
    tally.orphans += orphans;
    tally.runsWithOrphans += orphans > 0 ? 1 : 0;
    tally.duplicateRefunds += Math.max(0, refunds - 1);
    tally.calls += ended.calls;
    tally.transitions += ended.transitions;
    if (ended.how === 'completed') tally.completed += 1;
    if (ended.how === 'compensated') tally.compensated += 1;
    if (ended.how === 'human') tally.human += 1;
  }
  return tally;
};

/** Prints the table. False when Walkback left anything behind. */
export const reportFaults = async (runs: number): Promise<boolean> => {
  const percent = (count: number): string => `${((100 * count) / runs).toFixed(1)}%`;
  const table = new Table({
    head: [
      'strategy',
      'completed',
      'compensated',
      'orphan effects',
      'runs with orphans',
      'duplicate refunds',
      'needing a human',
      'calls/run',
      'transitions/run',
    ],
    style: { head: [], border: [] },
  });
  process.stdout.write(
    `${runs} refund runs each, the same faults for all: step three refused ${percent(RATES.stepThreeFails * runs)}, per call ` +
      `${percent(RATES.throttled * runs)} throttled, ${percent(RATES.lostAnswer * runs)} answers lost after commit, ${percent(RATES.crash * runs)} crashes before the record\n`,
  );
  let isClean = true;
  for (const [name, strategy] of STRATEGIES) {
    const tally = await measure(strategy, runs);
    if (strategy === walkback) isClean = tally.orphans === 0 && tally.duplicateRefunds === 0;
    table.push([
      name,
      percent(tally.completed),
      percent(tally.compensated),
      tally.orphans,
      percent(tally.runsWithOrphans),
      tally.duplicateRefunds,
      tally.human,
      (tally.calls / runs).toFixed(1),
      tally.transitions === 0 ? '-' : (tally.transitions / runs).toFixed(1),
    ]);
  }
  process.stdout.write(`${table.toString()}\n`);
  return isClean;
};
