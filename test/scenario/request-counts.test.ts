/** How many requests to AWS a checkpoint and a rollback of five repositories send: what docs/design.md says (Requests). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { PROJECT } from '../../local/template.ts';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { countRequests } from '../support/wire-requests.ts';
import { edit, openWorld } from '../support/world.ts';

const test = inTurn('request-counts');

const PATHS = ['a', 'b', 'c', 'd', 'e'];

type Counts = Record<string, number>;

/** The row of the table that begins so, as counts. It also names their sum. */
const documented = async (operation: string): Promise<Counts> => {
  const design = await readFile(join(PROJECT, 'docs/design.md'), 'utf8');
  const row = design.split('\n').find((line) => line.startsWith(`| ${operation} `)) ?? '';
  const [, , sum = '', which = ''] = row.split('|').map((cell) => cell.trim());
  const counts = Object.fromEntries(
    which.split(', ').map((one) => {
      const [, count, name = ''] = /^(\d+) (.+)$/.exec(one) ?? [];
      return [name, Number(count)];
    }),
  );
  expect(Object.values(counts).reduce((total, count) => total + count, 0)).toBe(Number(sum));
  return counts;
};

test('a checkpoint and a rollback of five repositories send the requests that the design says', async () => {
  await using cloud = await startTestCloud();
  const world = await openWorld(cloud, { paths: PATHS });
  edit(world.root, 1, PATHS);
  const first = await world.checkpoint('first');
  await cloud.settled();
  using requests = countRequests();
  const sent = async (work: () => Promise<unknown>): Promise<Counts> => {
    requests.take();
    await work();
    await cloud.settled();
    // Those to the sandbox are in test/scenario/checkpoint-round-trips.test.ts.
    const ofAws = Object.entries(requests.take()).filter(
      ([name]) => !/^(?:command|file|sandbox)\b/.test(name),
    );
    return Object.fromEntries(ofAws);
  };

  edit(world.root, 2, PATHS);
  expect(await sent(() => world.checkpoint('changed'))).toEqual(
    await documented('checkpoint, a file changed in each repository'),
  );
  expect(await sent(() => world.checkpoint('unchanged'))).toEqual(
    await documented('checkpoint, nothing changed'),
  );
  edit(world.root, 3, PATHS);
  const back = (requestId: string) => sent(() => world.rollback(requestId, first.checkpointId));
  // The first one of an instance reads the key of its sandboxes' service.
  const { GetSecretValue: _, ...changed } = await back('changed');
  expect(changed).toEqual(await documented('rollback, a file changed in each repository since the head'));
  expect(world.fingerprint()).toEqual(first.looks);
  expect(await back('unchanged')).toEqual(await documented('rollback, nothing changed since the head'));
  expect(world.fingerprint()).toEqual(first.looks);
});
