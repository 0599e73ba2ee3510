/**
 * What a cold start costs until its first answer: the import of the bundle and the first call, in a fresh process. A call loads
 * and makes more than an import does, so work that only moved from one to the other is seen here.
 */
import { pathToFileURL } from 'node:url';
import type { Bundle } from '../../cdk/bundle-sizes.ts';
import { startBenchCloud } from '../cloud.ts';
import { median } from '../measure.ts';
import { runNode } from '../node.ts';
import { milliseconds, type Row } from '../report.ts';
import { changeOne, createWorkspace } from '../repositories.ts';
import { fileOf, nameOf } from './bundles.ts';
import type { Benchmark } from './context.ts';

const SESSION = 'first-call';

/** A reading call, one that needs a sandbox, and one of sagas. */
const EVENTS: Readonly<Record<string, (id: string) => object>> = {
  timeline: () => ({ sessionId: SESSION }),
  checkpoint: (id) => ({ sessionId: SESSION, messageId: 'm1', toolExecutionId: id, reason: 'bench' }),
  'list-catalog': () => ({}),
};

const CALL_TWICE = `
const [file, ...events] = JSON.parse(process.argv[1]);
const context = { getRemainingTimeInMillis: () => 600_000, awsRequestId: 'r', functionName: 'f' };
const times = [performance.now()];
const { handler } = await import(file);
times.push(performance.now());
for (const event of events) {
  await handler(event, context);
  times.push(performance.now());
}
console.log(JSON.stringify(times));
process.exit();`;

interface Times {
  importMs: number;
  firstMs: number;
  secondMs: number;
}

const callTwice = async (
  bundle: Bundle,
  events: readonly object[],
  environment: Readonly<Record<string, string>>,
): Promise<Times> => {
  const input = JSON.stringify([pathToFileURL(fileOf(bundle)).href, ...events]);
  const args = ['--input-type=module', '-e', CALL_TWICE, input];
  const answer = await runNode(args, bundle.directory, environment);
  const [began = 0, imported = 0, first = 0, second = 0]: number[] = JSON.parse(
    answer.trim().split('\n').at(-1) ?? '[]',
  );
  return { importMs: imported - began, firstMs: first - imported, secondMs: second - first };
};

const rowOf = (what: string, times: readonly Times[]): Row => {
  const middle = (of: (one: Times) => number) => median(times.map(of));
  const whole = middle(({ importMs, firstMs }) => importMs + firstMs);
  const second = middle(({ secondMs }) => secondMs);
  return {
    what: `${what}, of which the import ${milliseconds(middle(({ importMs }) => importMs))}`,
    floor: milliseconds(second),
    measured: milliseconds(whole),
    value: whole / second,
    unit: 'x',
  };
};

export const firstCallBenchmark: Benchmark = {
  name: 'first',
  title: 'import and first call of a function in a fresh process (floor: the second call)',
  run: async ({ place, quick, say, bundles: synthesised }) => {
    const bundles = await synthesised();
    await using cloud = await startBenchCloud(await place.directory('cloud'));
    const session = await cloud.openSession(SESSION);
    const workspace = await createWorkspace(session.root, 5, 100);
    await session.start();
    let calls = 0;
    const rows: Row[] = [];
    for (const [name, eventOf] of Object.entries(EVENTS)) {
      const bundle = bundles.find((one) => nameOf(one) === name);
      if (bundle === undefined) throw new Error(`${name} has no bundle`);
      say(name);
      const times: Times[] = [];
      for (let repetition = 0; repetition < (quick ? 1 : 7); repetition += 1) {
        await changeOne(workspace, (calls += 1));
        const events = [1, 2].map((at) => eventOf(`first-call-${calls}-${at}`));
        times.push(await callTwice(bundle, events, cloud.environment));
      }
      rows.push(rowOf(name, times));
    }
    return rows;
  },
};
