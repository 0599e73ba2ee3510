/** `npm run bench`: measures the budgets of docs/benchmarks.md in one run and prints a table of ratios. */
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Bundle } from '../cdk/bundle-sizes.ts';
import { checkoutProblem } from './arguments.ts';
import { createPlace, type Place } from './place.ts';
import { measureProfiles, renderProfiles } from './profile.ts';
import { type Row, renderTable, verdict } from './report.ts';
import { bundlesBenchmark, synthesise } from './rows/bundles.ts';
import { checkpointBenchmark } from './rows/checkpoint.ts';
import { coldBenchmark } from './rows/cold.ts';
import { commandBenchmark } from './rows/command.ts';
import { consoleBenchmark } from './rows/console.ts';
import { type Benchmark, filesOf } from './rows/context.ts';
import { firstCallBenchmark } from './rows/first-call.ts';
import { historyBenchmark } from './rows/history.ts';
import { mergeBenchmark } from './rows/merge.ts';
import { peersBenchmark } from './rows/peers.ts';
import { rollbackBenchmark } from './rows/rollback.ts';
import { scaleBenchmark } from './rows/scale.ts';
import { tripsBenchmark } from './rows/trips.ts';

const BENCHMARKS: readonly Benchmark[] = [
  checkpointBenchmark,
  peersBenchmark,
  rollbackBenchmark,
  mergeBenchmark,
  historyBenchmark,
  tripsBenchmark,
  scaleBenchmark,
  bundlesBenchmark,
  coldBenchmark,
  firstCallBenchmark,
  commandBenchmark,
  consoleBenchmark,
];
const NAMES = BENCHMARKS.map(({ name }) => name);

interface Options {
  json?: boolean;
  quick?: boolean;
  only?: string[];
  profile?: boolean;
  before?: string;
}

const startedMs = performance.now();
const say = (text: string): void => {
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0).padStart(4);
  process.stderr.write(`${seconds} s  ${text}\n`);
};

interface Group {
  name: string;
  title: string;
  rows: Row[];
}

const synthesiseIn = async (place: Place): Promise<Bundle[]> => {
  say('  a full synth');
  return synthesise(await place.directory('synth'));
};

/** `show` gets each group as soon as it is measured: the whole takes minutes. */
const measure = async ({ quick = false, only = NAMES, before }: Options, show: (group: Group) => void) => {
  const groups: Group[] = [];
  await using shared = await createPlace();
  let synthesised: Promise<Bundle[]> | undefined;
  const bundles = (): Promise<Bundle[]> => (synthesised ??= synthesiseIn(shared));
  for (const benchmark of BENCHMARKS.filter((one) => only.includes(one.name))) {
    const { name, title } = benchmark;
    say(title);
    await using place = await createPlace();
    const rows = await benchmark.run({
      place,
      quick,
      say: (text) => say(`  ${text}`),
      bundles,
      ...(before === undefined ? {} : { before }),
    });
    groups.push({ name, title, rows });
    show({ name, title, rows });
  }
  return groups;
};

const profile = async ({ json, quick }: Options): Promise<void> => {
  await using place = await createPlace();
  const sizes = { files: filesOf(quick === true), repetitions: quick === true ? 4 : 10 };
  const profiles = await measureProfiles(place, sizes, say);
  console.log(json === true ? JSON.stringify(profiles, null, 2) : renderProfiles(profiles));
};

const run = async (options: Options, command: Command): Promise<void> => {
  const { only = NAMES, before } = options;
  if (before !== undefined && !only.includes(coldBenchmark.name))
    command.error(`error: --before goes with ${coldBenchmark.name}, which --only leaves out`);
  if (options.profile === true) return profile(options);
  const groups = await measure(options, (group) => {
    if (options.json !== true) console.log(renderTable([group]));
  });
  if (options.json === true) {
    const rows = groups.flatMap(({ name, rows: list }) =>
      list.map((row) => ({ benchmark: name, ...row, verdict: verdict(row) })),
    );
    console.log(
      JSON.stringify({ processors: availableParallelism(), quick: options.quick ?? false, rows }, null, 2),
    );
    return;
  }
  console.log(
    'floor and measured: medians, interleaved. CPU: ratio of processor time. trips: sequential calls to the sandbox.',
  );
  if (options.quick === true) console.log('--quick: smaller and fewer; not numbers to quote.');
};

const collect = (value: string, before: string[] | undefined): string[] => {
  if (!NAMES.includes(value)) throw new InvalidArgumentError(`Choose from ${NAMES.join(', ')}.`);
  return [...(before ?? []), value];
};

const checkout = (value: string): string => {
  const problem = checkoutProblem(value);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return value;
};

await new Command('bench')
  .description('Measure the budgets: ratios against plain git in the same run.')
  .option('--json', 'print JSON instead of a table')
  .option('--quick', 'small sizes and few repetitions')
  .addOption(
    new Option(
      '--profile',
      'show where the processor time of a checkpoint, a rollback, a merge and a step of a saga goes',
    ).conflicts(['only', 'before']),
  )
  .option('--before <checkout>', 'measure cold also of this checkout of an earlier commit, in turn', checkout)
  .option('--only <name>', `one of ${NAMES.join(', ')}; may be repeated`, collect)
  .action(run)
  .parseAsync();
