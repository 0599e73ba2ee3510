/** `npm run bench:sagas`: what goes wrong, and what it costs. */
import { parseArgs } from 'node:util';
import { readArguments, refuse, wholeNumber } from './arguments.ts';
import { createPlace } from './place.ts';
import { reportFaults } from './sagas/faults.ts';
import { measureLoad } from './sagas/load.ts';
import { reportBranches, reportContention, reportGrowth, reportTiers } from './sagas/report.ts';

const USAGE = `usage: npm run bench:sagas -- [RUNS] [--only faults|growth|tiers|branches|contention]
       npm run bench:sagas -- --load [--sagas N] [--at-once N] [--minutes N]
  RUNS: whole number of runs for each strategy, 2000 by default. --only may be repeated
  --load: N sagas (1000), 20, 100 and 1000 at once, or as many as --at-once says, which may be repeated; minutes to hours.
    After N --minutes no further saga is started, and the table says how many there were`;

const read = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string', multiple: true },
      load: { type: 'boolean', default: false },
      sagas: { type: 'string', default: '1000' },
      minutes: { type: 'string' },
      'at-once': { type: 'string', multiple: true, default: ['20', '100', '1000'] },
    },
  });
const count = (text: string): number => wholeNumber(text, USAGE);

const { values, positionals } = readArguments(read, USAGE);
const runs = count(positionals[0] ?? '2000');

await using place = await createPlace();

const PARTS: Record<string, () => Promise<boolean>> = {
  faults: () => reportFaults(runs),
  growth: reportGrowth,
  tiers: () => reportTiers(place),
  branches: () => reportBranches(place),
  contention: () => reportContention(place),
};

if (values.load) {
  const sagas = count(values.sagas);
  const minutes = values.minutes === undefined ? undefined : count(values.minutes);
  await measureLoad(
    place,
    values['at-once'].map((atOnce) => ({ sagas, atOnce: count(atOnce), minutes })),
  );
} else {
  for (const name of values.only ?? Object.keys(PARTS)) {
    const part = PARTS[name] ?? refuse(`there is no part ${name}`, USAGE);
    if (!(await part())) {
      process.stderr.write(`${name}: over budget\n`);
      process.exitCode = 1;
    }
  }
}
