/** What the program tells of long captures and restores: it grows, and comes to its end. */
import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { WorkDone } from '../../core/checkpoint/model.ts';
import { createHarness, type Harness, type HarnessOptions } from '../support/git-harness.ts';
import { inTurn } from '../support/sampled-test.ts';

const slow = inTurn('git-progress');

const MIB = 1024 ** 2;

const listened = async (options: HarnessOptions = {}) => {
  const told: WorkDone[] = [];
  const heard: { each?: (done: WorkDone) => void } = {};
  const harness = await createHarness({
    maxFileBytes: 1024 * MIB,
    ...options,
    onProgress: (done) => {
      told.push(done);
      heard.each?.(done);
    },
  });
  onTestFinished(() => harness[Symbol.asyncDispose]());
  return { harness, heard, told: () => told.splice(0) };
};

/** Each file has another content. Nothing of it is on the disk, but all of it is read. */
const writeLarge = ({ root }: Harness, names: readonly string[], sizeBytes: number): void => {
  for (const name of names) {
    const file = join(root, 'app', name);
    writeFileSync(file, `${name}\n`);
    truncateSync(file, sizeBytes);
  }
};

const of = (told: readonly WorkDone[], doing: WorkDone['doing']) => told.filter((one) => one.doing === doing);

/** What is told of one kind of work grows, and comes to its end. A fast machine may be done before it is told. */
const expectGrowth = (lines: readonly WorkDone[]): void => {
  const done = lines.map((line) => line.done);
  expect(done).toEqual(done.toSorted((one, other) => one - other));
  expect(new Set(lines.map((line) => line.of)).size).toBeLessThanOrEqual(1);
  const last = lines.at(-1);
  expect(last?.done).toBe(last?.of);
};

slow('a capture of one large file tells its bytes', async () => {
  const { harness, told } = await listened();
  harness.sh('mkdir app; cd app; git init -q');
  const size = 256 * MIB;
  writeLarge(harness, ['large'], size);
  await harness.capture();
  const bytes = of(told(), 'bytes');
  expect(bytes.length).toBeGreaterThan(1);
  expect(bytes[0]?.done).toBeLessThan(size);
  expect(bytes.at(-1)?.done).toBe(size);
  expectGrowth(bytes);
});

slow('a restore tells what is unpacked, and how many files are written and verified', async () => {
  const { harness, told } = await listened({ maxInlineBytes: 64 * MIB });
  harness.sh('mkdir app; cd app; git init -q');
  const names = Array.from({ length: 40 }, (_, at) => `f${at}`);
  writeLarge(harness, names, 7 * MIB);
  harness.sh('git add .; git commit -qm all', 'app');
  const target = await harness.capture();
  harness.sh('git rm -q f*; git commit -q --allow-empty -m none', 'app');
  told();
  expect((await harness.rollback(target)).report.outcome).toBe('applied');
  const back = told();
  expect((await harness.rehydrate(target)).outcome).toBe('applied');
  const fresh = told();
  for (const lines of [back, fresh]) {
    expect(of(lines, 'written').length + of(lines, 'verified').length).toBeGreaterThan(0);
    for (const doing of ['unpacked', 'written', 'verified'] as const) expectGrowth(of(lines, doing));
    for (const doing of ['written', 'verified'] as const)
      expect([undefined, names.length]).toContain(of(lines, doing).at(-1)?.done);
  }
});

test('bundles that are fetched are told while they come', async () => {
  const { harness, told, heard } = await listened({ maxInlineBytes: 64 * MIB });
  harness.sh(
    'mkdir app; cd app; git init -q; head -c 12000000 /dev/urandom >a; git add .; git commit -qm one',
  );
  const target = await harness.capture();
  const bytes = new Map<string, Uint8Array>();
  let rest = (): void => undefined;
  // The second half is sent when the program has told of the first one.
  heard.each = ({ doing, done }) => {
    if (doing !== 'download' || done === 0) return;
    rest();
    rest = () => undefined;
  };
  const answer = (content: Uint8Array, response: ServerResponse): void => {
    response.write(content.subarray(0, content.length / 2));
    rest = () => void response.end(content.subarray(content.length / 2));
  };
  const server = createServer(({ url = '' }, response) => {
    answer(bytes.get(url) ?? new Uint8Array(), response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  for (const [path, chain] of target.chains) {
    target.chains.set(
      path,
      chain.map(({ bytes: content, ...bundle }) => {
        if (content === undefined || content.length < 8 * MIB) return { ...bundle, bytes: content };
        bytes.set(`/${bundle.sha256}`, content);
        return { ...bundle, url: `http://127.0.0.1:${port}/${bundle.sha256}` };
      }),
    );
  }
  told();
  expect((await harness.rehydrate(target)).outcome).toBe('applied');
  const [content = new Uint8Array()] = bytes.values();
  const fetched = of(told(), 'download');
  expect(fetched.length).toBeGreaterThan(1);
  expectGrowth(fetched);
  expect(fetched.at(-1)).toEqual({ doing: 'download', done: content.length, of: content.length });
});
