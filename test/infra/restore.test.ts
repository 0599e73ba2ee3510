/** The restore procedure of docs/operations.md stops everything that could write between a restored table and its copy. */
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { PROJECT } from '../../local/template.ts';

const WRITES = ['PutItem', 'UpdateItem', 'BatchWriteItem'] as const;

const operations = (): Promise<string> => readFile(join(PROJECT, 'docs/operations.md'), 'utf8');

test('it stops every function that writes a table, and no other', async () => {
  const text = await operations();
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

test('it copies items as large as they come, as they are', async () => {
  const [, puts = ''] = /while read -r item; do([^;]+put-item[^;]+); done/.exec(await operations()) ?? [];
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-restore-'));
  const items = ['x', `\\"é${'y'.repeat(400_000)}`].map((S) => JSON.stringify({ x: { S } }));
  await writeFile(join(directory.path, 'items'), `${items.join('\n')}\n`);
  // In the place of the AWS CLI: keeps what it is given, read from a file where that is named.
  const aws = `aws() { case "$*" in *file:///dev/stdin*) cat ;; *) /bin/echo "\${@: -1}" ;; esac >> put; echo >> put; }`;
  const script = `${aws}\nwhile read -r item; do${puts}; done < items`;
  await promisify(execFile)('bash', ['-c', script], { cwd: directory.path });
  const put = await readFile(join(directory.path, 'put'), 'utf8');
  expect(put.trimEnd().split('\n')).toEqual(items);
});
