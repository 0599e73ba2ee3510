/** The DynamoDB process: its data, its port, its end, and where it comes from. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test, vi } from 'vitest';
import { checkMachine } from '../../cli/doctor/machine.ts';
import { findDynamoDb } from '../../local/dynamodb/binary.ts';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import { clientFor, createTable, credentials, scratch } from '../support/dynamodb.ts';
import { errorOf } from '../support/error-of.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { processesWith } from '../support/processes.ts';

const openTables = (directory: string): DatabaseSync =>
  new DatabaseSync(join(directory, 'dynamodb', 'tables.sqlite'));

describe('the DynamoDB process', () => {
  test('keeps its data across a restart and leaves no process', async () => {
    await using directory = await scratch();
    const first = await startDynamoDb({ dataDir: directory.path, credentials });
    const before = clientFor(first.url);
    await createTable(before);
    const Item = { pk: { S: 'kept' }, sk: { S: '1' } };
    await before.send(new PutItemCommand({ TableName: 'sessions', Item }));
    before.destroy();
    await first.close();
    expect(processesWith(directory.path)).toEqual([]);

    const second = await startDynamoDb({ dataDir: directory.path, credentials });
    const after = clientFor(second.url);
    const found = await after.send(new GetItemCommand({ TableName: 'sessions', Key: Item }));
    after.destroy();
    await second.close();
    expect(found.Item).toEqual(Item);
  });

  test('a path that is too long for it is named, and so is a short link to one', async () => {
    await using directory = await scratch();
    let long = await realpath(directory.path);
    while (long.length < 380) long = join(long, 'd'.repeat(100));
    // The longest that it opens.
    long = join(long, 'e'.repeat(504 - '/dynamodb/tables.sqlite'.length - long.length - 1));
    await mkdir(`${long}x`, { recursive: true });
    await symlink(`${long}x`, join(directory.path, 'link'));
    await (await startDynamoDb({ dataDir: long, credentials })).close();
    const unmade = join(dirname(long), 'u'.repeat(basename(long).length + 1));
    for (const dataDir of [`${long}x`, join(directory.path, 'link'), unmade]) {
      const checks = await checkMachine(dataDir, process.env);
      expect(checks.find(({ id }) => id === 'database')).toMatchObject({
        ok: false,
        advice: expect.stringContaining('is too long for the database, by 1 byte; choose another'),
      });
    }
    for (const dataDir of [`${long}x`, join(directory.path, 'link')])
      await expect(startDynamoDb({ dataDir, credentials })).rejects.toThrow(
        'the path of the data directory is too long for the database, by 1 byte; choose another with --data',
      );
  });

  test('is started again when it was killed: what was answered is there, and calls go on', async () => {
    await using directory = await scratch();
    const lost: unknown[] = [];
    const log = { info: () => undefined, warn: (...told: unknown[]) => void lost.push(told) };
    const server = await startDynamoDb({ dataDir: directory.path, credentials, log });
    const client = clientFor(server.url);
    await createTable(client);
    const itemOf = (n: number) => ({ pk: { S: 'kept' }, sk: { S: String(n) } });
    const put = (n: number) => client.send(new PutItemCommand({ TableName: 'sessions', Item: itemOf(n) }));
    await put(0);
    for (const round of [1, 2]) {
      for (const pid of processesWith(join(directory.path, 'dynamodb'))) process.kill(pid, 'SIGKILL');
      // As the SDKs of our functions do: a fault of DynamoDB is asked again.
      await vi.waitFor(() => put(round), { timeout: 60_000, interval: 50 });
      for (const n of [0, round]) {
        const { Item } = await client.send(new GetItemCommand({ TableName: 'sessions', Key: itemOf(n) }));
        expect(Item).toEqual(itemOf(n));
      }
    }
    expect(lost).toEqual(
      [1, 2].map(() => [
        'the database ended, and the next call starts it again',
        { reason: expect.stringContaining('SIGKILL') },
      ]),
    );
    client.destroy();
    await server.close();
    expect(processesWith(directory.path)).toEqual([]);
  });

  test('finds the newest record of a stream by an index, also in a directory without it', async () => {
    await using directory = await scratch();
    const planned = () => {
      using database = openTables(directory.path);
      // What the process asks for each item that is written, and for each read of a stream.
      const plans = [
        'SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = ?',
        'SELECT id FROM _stream_records WHERE table_name = ? AND CAST(sequence_number AS INTEGER) > ? ORDER BY CAST(sequence_number AS INTEGER)',
      ].map((sql) =>
        database
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map((row) => String(row['detail'])),
      );
      return plans.map((steps) => steps.join('; '));
    };
    const byIndex = expect.stringMatching(
      /^SEARCH _stream_records USING [A-Z ]*INDEX walkback_stream_number [^;]*$/,
    );
    const first = await startDynamoDb({ dataDir: directory.path, credentials });
    expect(planned()).toEqual([byIndex, byIndex]);
    await first.close();

    {
      using database = openTables(directory.path);
      database.exec('DROP INDEX walkback_stream_number');
    }
    expect(planned().join()).not.toContain('INDEX');
    const second = await startDynamoDb({ dataDir: directory.path, credentials });
    expect(planned()).toEqual([byIndex, byIndex]);
    await second.close();
  });

  test('is gone soon after its parent was killed without warning', async () => {
    await using directory = await scratch();
    const script = `
      import { startDynamoDb } from ${JSON.stringify(join(import.meta.dirname, '../../local/dynamodb/server.ts'))};
      const server = await startDynamoDb({ dataDir: ${JSON.stringify(directory.path)}, credentials: ${JSON.stringify(credentials)} });
      console.log(server.url);
      setInterval(() => undefined, 1_000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    expect(processesWith(directory.path)).not.toEqual([]);
    parent.kill('SIGKILL');
    await expect.poll(() => processesWith(directory.path), { timeout: 60_000 }).toEqual([]);
  });

  test('refuses a taken port by its number', async () => {
    await using directory = await scratch();
    const taken = createServer();
    const port = await listenOnLoopback(taken);
    await expect(startDynamoDb({ dataDir: directory.path, credentials, place: port })).rejects.toMatchObject(
      errorOf('ConfigurationError', `port ${port}`),
    );
    taken.close();
  });

  test('that cannot start says why', async () => {
    await using directory = await scratch();
    const source = { kind: 'binary', path: '/bin/false' } as const;
    await expect(startDynamoDb({ dataDir: directory.path, credentials, source })).rejects.toMatchObject(
      errorOf('ConfigurationError', 'ended with 1'),
    );
  });

  test('can be somebody else’s endpoint, which must answer', async () => {
    await using directory = await scratch();
    const source = { kind: 'endpoint', url: 'http://127.0.0.1:1' } as const;
    await expect(startDynamoDb({ dataDir: directory.path, credentials, source })).rejects.toMatchObject(
      errorOf('ConfigurationError', 'http://127.0.0.1:1'),
    );
  });

  test('somebody else’s endpoint may take its time for the first answer', async () => {
    await using directory = await scratch();
    const slow = createHttpServer((_, response) => void setTimeout(() => response.end(), 1_500));
    const url = `http://127.0.0.1:${await listenOnLoopback(slow)}`;
    try {
      const source = { kind: 'endpoint', url } as const;
      expect(await startDynamoDb({ dataDir: directory.path, credentials, source })).toMatchObject({ url });
    } finally {
      slow.close();
    }
  });

  test('comes from where WALKBACK_DYNOXIDE says, else the npm package, else PATH, else an endpoint', async () => {
    expect(findDynamoDb({}, '/bin/true')).toEqual({ kind: 'binary', path: '/bin/true' });
    const named = { WALKBACK_DYNOXIDE: '/bin/sh' };
    expect(findDynamoDb(named, '/bin/true')).toEqual({ kind: 'binary', path: '/bin/sh' });
    expect(() => findDynamoDb({ WALKBACK_DYNOXIDE: '/nowhere/dynoxide' }, '/bin/true')).toThrow(
      'WALKBACK_DYNOXIDE names /nowhere/dynoxide, which cannot be run',
    );

    await using directory = await scratch();
    const path = join(directory.path, 'dynoxide');
    await writeFile(path, '#!/bin/sh\n', { mode: 0o755 });
    const env = { PATH: `/nowhere:${directory.path}`, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000' };
    expect(findDynamoDb(env, '')).toEqual({ kind: 'binary', path });
    expect(findDynamoDb({ ...env, PATH: '/nowhere' }, '')).toEqual({
      kind: 'endpoint',
      url: env.AWS_ENDPOINT_URL_DYNAMODB,
    });
    const nowhere = { PATH: '/nowhere' };
    const onX64 = { platform: 'linux', arch: 'x64' };
    expect(() => findDynamoDb(nowhere, '', onX64)).toThrow(/npm i --include=optional/);
    // There is no package for it, so none is named.
    const onArm = { platform: 'linux', arch: 'arm64' };
    expect(() => findDynamoDb(nowhere, '', onArm)).toThrow(
      /^the embedded database \(dynoxide\) comes for Linux on x64 only, and this is linux on arm64\. WALKBACK_DYNOXIDE/,
    );
  });
});
