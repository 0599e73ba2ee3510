/** The tables of `npm run bench:sagas`. Each answers whether it is within its budget. */
import Table from 'cli-table3';
import { rate, seconds } from '../numbers.ts';
import type { Place } from '../place.ts';
import { MARKS, verdictOf } from '../report.ts';
import { measureBranches } from './branches.ts';
import { startSagaCloud } from './cloud.ts';
import { measureContention } from './contention.ts';
import { furtherStep, type Growth, measureGrowth } from './growth.ts';
import { measureTiers } from './tiers.ts';

const MANY = 40;
/** Of forty branches against one. */
const BRANCHES_BUDGET = 3;
const STEPS = 20;
/** Of a further step. The indexes of the ledger count apart. */
const TRANSITIONS_BUDGET = 3;
const WRITE_UNITS_BUDGET = 7;

const show = (head: string[], rows: (string | number)[][]): void => {
  const table = new Table({ head, style: { head: [], border: [] } });
  table.push(...rows);
  process.stdout.write(`${table.toString()}\n`);
};

/** Each length of the same saga against the one before. */
const showFurtherSteps = (rows: readonly Growth[]): boolean => {
  const measured = rows.slice(1).flatMap((long, at) => {
    const short = rows[at];
    if (short === undefined) return [];
    const further = furtherStep(short, long);
    // The shortest tells what the saga takes besides.
    const costOf = ({ step, fixed }: { step: number; fixed: number }) => ({
      step,
      fixed: at === 0 ? fixed.toFixed(1) : '',
    });
    const what = `a further step, ${short.steps} to ${long.steps}`;
    return [
      { what, of: 'transitions', ...costOf(further.transitions), budget: TRANSITIONS_BUDGET },
      { what, of: 'write units', ...costOf(further.writeUnits), budget: WRITE_UNITS_BUDGET },
      { what, of: 'with indexes', ...costOf(further.withIndexes), budget: undefined },
    ];
  });
  show(
    ['driven as machine', '', 'measured', 'fixed costs of the saga', 'budget', ''],
    measured.map(({ what, of, step, fixed, budget }) => [
      what,
      of,
      step.toFixed(2),
      fixed,
      budget ?? '',
      MARKS[verdictOf(step, budget)],
    ]),
  );
  return measured.every(({ step, budget }) => verdictOf(step, budget) !== 'over');
};

export const reportGrowth = async (): Promise<boolean> => {
  const rows = await measureGrowth([
    ['machine', 5],
    ['machine', 50],
    ['machine', 500],
    ['inline plan', 5],
    ['interactive', 5],
    ['interactive', 50],
    ['interactive', 500],
    ['single calls', 5],
  ]);
  show(
    [
      'driven as',
      'steps',
      'function calls/step',
      'transitions/step',
      'write units/step',
      'with indexes',
      'ms/step (in process, local tables)',
    ],
    rows.map((row) => [
      row.tier,
      row.steps,
      (row.calls / row.steps).toFixed(2),
      (row.transitions / row.steps).toFixed(2),
      (row.writeUnits / row.steps).toFixed(2),
      (row.withIndexes / row.steps).toFixed(2),
      (row.ms / row.steps).toFixed(1),
    ]),
  );
  return showFurtherSteps(rows.filter(({ tier }) => tier === 'machine'));
};

export const reportTiers = async (place: Place): Promise<boolean> => {
  await using cloud = await startSagaCloud(await place.directory('tiers'), true);
  const rows = await measureTiers(cloud, STEPS);
  show(
    [
      'on the embedded cloud',
      'steps',
      'requests/step',
      'transitions/step',
      'write units/step, with indexes',
      'ms/step',
    ],
    rows.map((row) => [
      row.driven,
      row.steps,
      row.requests.toFixed(2),
      row.transitions.toFixed(2),
      row.writeUnits.toFixed(1),
      row.wallMs.toFixed(0),
    ]),
  );
  return true;
};

export const reportBranches = async (place: Place): Promise<boolean> => {
  await using cloud = await startSagaCloud(await place.directory('branches'), true);
  await measureBranches(cloud, 1);
  const [alone, one, many] = [
    await measureBranches(cloud, 0),
    await measureBranches(cloud, 1, 'again'),
    await measureBranches(cloud, MANY),
  ];
  show(
    ['branches', 'time', 'write units, with indexes', 'transitions of the root', 'of a child'],
    [alone, one, many].map((row) => [
      row.count === 0 ? 'the step alone' : row.count,
      seconds(row.wallMs),
      row.writeUnits.toFixed(0),
      row.rootTransitions,
      row.childTransitions,
    ]),
  );
  const ratio = many.wallMs / one.wallMs;
  process.stdout.write(
    `${MANY} branches take ${ratio.toFixed(2)}x as long as one (budget ${BRANCHES_BUDGET}x); a further child writes ` +
      `${((many.writeUnits - one.writeUnits) / (MANY - 1)).toFixed(1)} units, the first ${(one.writeUnits - alone.writeUnits).toFixed(1)} over the step alone\n`,
  );
  return ratio <= BRANCHES_BUDGET;
};

export const reportContention = async (place: Place): Promise<boolean> => {
  await using cloud = await startSagaCloud(await place.directory('contention'));
  const { sagas, wallMs, freeWallMs, waits, turnedPercent } = await measureContention(cloud, MANY);
  show(
    ['sagas', 'on', 'time', 'sagas/s', 'wait: median', 'longest', 'pairs that got it in another order'],
    [
      [sagas, 'a resource each', seconds(freeWallMs), rate(sagas, freeWallMs), '', '', ''],
      [
        sagas,
        'one resource',
        seconds(wallMs),
        rate(sagas, wallMs),
        seconds(waits.median),
        seconds(waits.longest),
        `${turnedPercent.toFixed(1)}%`,
      ],
    ],
  );
  return true;
};
