/** `npm run bench:sagas`: what goes wrong, and what it costs. */
import Table from 'cli-table3';
import { measureGrowth } from './sagas-growth.ts';
import { blindRetry, type Ended, forwardOnly, naiveSaga, walkback } from './sagas-strategies.ts';
import { type BenchWorld, benchWorld, RATES } from './sagas-world.ts';

const RUNS = Number(process.argv[2] ?? 2000);
if (!Number.isInteger(RUNS) || RUNS < 1) {
  console.error(
    'usage: npm run bench:sagas -- [RUNS]   RUNS: whole number of runs for each strategy, 2000 by default',
  );
  process.exit(2);
}

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

const measure = async (strategy: (world: BenchWorld) => Promise<Ended>): Promise<Tally> => {
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
  for (let run = 0; run < RUNS; run += 1) {
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

const percent = (count: number): string => `${((100 * count) / RUNS).toFixed(1)}%`;

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
  `${RUNS} refund runs each, the same faults for all: step three refused ${percent(RATES.stepThreeFails * RUNS)}, per call ` +
    `${percent(RATES.throttled * RUNS)} throttled, ${percent(RATES.lostAnswer * RUNS)} answers lost after commit, ${percent(RATES.crash * RUNS)} crashes before the record\n`,
);
let walkbackTally: Tally | undefined;
for (const [name, strategy] of STRATEGIES) {
  const tally = await measure(strategy);
  if (strategy === walkback) walkbackTally = tally;
  table.push([
    name,
    percent(tally.completed),
    percent(tally.compensated),
    tally.orphans,
    percent(tally.runsWithOrphans),
    tally.duplicateRefunds,
    tally.human,
    (tally.calls / RUNS).toFixed(1),
    tally.transitions === 0 ? '-' : (tally.transitions / RUNS).toFixed(1),
  ]);
}
process.stdout.write(`${table.toString()}\n`);
if (walkbackTally !== undefined && (walkbackTally.orphans > 0 || walkbackTally.duplicateRefunds > 0)) {
  process.stderr.write('Walkback left orphans or duplicates: over budget.\n');
  process.exitCode = 1;
}

const growth = await measureGrowth([
  ['machine', 5],
  ['machine', 50],
  ['machine', 500],
  ['inline plan', 5],
  ['interactive', 5],
  ['interactive', 50],
  ['interactive', 500],
  ['single calls', 5],
]);
const grown = new Table({
  head: [
    'driven as',
    'steps',
    'function calls/step',
    'transitions/step',
    'write units/step',
    'with indexes',
    'ms/step (in process, local tables)',
  ],
  style: { head: [], border: [] },
});
for (const row of growth) {
  grown.push([
    row.tier,
    row.steps,
    row.callsPerStep.toFixed(2),
    row.transitionsPerStep.toFixed(2),
    row.writeUnitsPerStep.toFixed(2),
    row.withIndexesPerStep.toFixed(2),
    row.msPerStep.toFixed(1),
  ]);
}
process.stdout.write(`${grown.toString()}\n`);
