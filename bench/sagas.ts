/** `npm run bench:sagas`: what goes wrong, and what it costs. */
import { parseArgs } from 'node:util';
import { readArguments, refuse, wholeNumber } from './arguments.ts';
import { createPlace, type Place } from './place.ts';
import { reportFaults } from './sagas/faults.ts';
import { type Load, measureLoad } from './sagas/load.ts';
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
      sagas: { type: 'string' },
      minutes: { type: 'string' },
      'at-once': { type: 'string', multiple: true },
    },
  });
const count = (text: string): number => wholeNumber(text, USAGE);

const PARTS: Record<string, (place: Place, runs: number) => Promise<boolean>> = {
  faults: (_, runs) => reportFaults(runs),
  growth: reportGrowth,
  tiers: reportTiers,
  branches: reportBranches,
  contention: reportContention,
};

const { values, positionals } = readArguments(read, USAGE);
const [runsText, ...rest] = positionals;
if (rest.length > 0) refuse(`too many arguments: ${rest.join(' ')}`, USAGE);

/** Of `--load`, and of the parts: options of the one do not go with the other. */
const loadOptions = ['sagas', 'at-once', 'minutes'] as const;

const loads = (): Load[] => {
  if (runsText !== undefined) refuse('RUNS does not go with --load', USAGE);
  if (values.only !== undefined) refuse('--only does not go with --load', USAGE);
  const sagas = count(values.sagas ?? '1000');
  const minutes = values.minutes === undefined ? undefined : count(values.minutes);
  return (values['at-once'] ?? ['20', '100', '1000']).map((atOnce) => ({
    sagas,
    atOnce: count(atOnce),
    minutes,
  }));
};

const parts = () => {
  for (const name of loadOptions) if (values[name] !== undefined) refuse(`--${name} goes with --load`, USAGE);
  const runs = count(runsText ?? '2000');
  return (values.only ?? Object.keys(PARTS)).map((name) => {
    const part = PARTS[name] ?? refuse(`there is no part ${name}`, USAGE);
    return { name, run: (place: Place) => part(place, runs) };
  });
};

if (values.load) {
  const wanted = loads();
  await using place = await createPlace();
  await measureLoad(place, wanted);
} else {
  const wanted = parts();
  await using place = await createPlace();
  for (const { name, run } of wanted) {
    if (await run(place)) continue;
    process.stderr.write(`${name}: over budget\n`);
    process.exitCode = 1;
  }
}
