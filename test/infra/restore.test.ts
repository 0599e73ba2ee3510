/** The restore procedure of docs/operations.md stops everything that could write between a restored table and its copy. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { PROJECT } from '../../local/template.ts';

const WRITES = ['PutItem', 'UpdateItem', 'BatchWriteItem'] as const;

test('it stops every function that writes a table, and no other', async () => {
  const text = await readFile(join(PROJECT, 'docs/operations.md'), 'utf8');
  const [, names = ''] = /for name in ([^;]+); do\s+aws lambda put-function-concurrency/.exec(text) ?? [];
  const writers = FUNCTIONS.filter(({ grants }) => {
    const actions: readonly string[] = [grants.sessions, grants.sagas, grants.ledger].flatMap(
      (of) => of ?? [],
    );
    // What serves tools writes tombstones; those of one's own are for their owner to stop.
    return WRITES.some((action) => actions.includes(action)) || grants.httpTool === true;
  });
  expect(names.split(/[\s\\]+/).sort()).toEqual(writers.map(({ name }) => name).sort());
});
