/**
 * A capture: ids that its content alone decides, bundles that git takes, and a shadow that the restores can use.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { OUTPUT_BYTES } from '../../adapters/git/announced.ts';
import { createCapture } from '../../adapters/git/program/capture.ts';
import type { WorkDone } from '../../core/checkpoint/model.ts';
import type {
  CaptureHooks,
  CaptureReport,
  CaptureRequest,
  UploadTarget,
} from '../../core/checkpoint/ports/capture.ts';
import { captureRequest, knownFrom } from '../support/capture-request.ts';
import { createHarness } from '../support/git-harness.ts';
import { TWO_FILES } from '../support/git-repositories.ts';
import { programHere } from '../support/sandbox-program.ts';

type Harness = Awaited<ReturnType<typeof createHarness>>;

const capture = createCapture(programHere(), OUTPUT_BYTES);

/** A capture of a session of its own, on what `before` stored. */
const take = async (
  harness: Harness,
  before?: CaptureReport,
  options: Partial<CaptureRequest> = {},
  upload: UploadTarget = async () => null,
  hooks: CaptureHooks = {},
): Promise<CaptureReport> =>
  capture(
    harness.sandbox,
    captureRequest(harness.root, 'other', {
      known: knownFrom(before?.repositories),
      changes: true,
      ...options,
    }),
    upload,
    hooks,
  );

const only = (report: CaptureReport) => {
  const [one] = report.repositories;
  if (report.repositories.length !== 1 || one?.state !== 'captured')
    throw new Error(`one repository was to be captured: ${JSON.stringify(report.repositories)}`);
  return one;
};

/** Brings bundles into an empty repository, in their order, and answers the tree that the last one has. */
const treeIn = (harness: Harness, reports: readonly CaptureReport[]): string => {
  const all = reports.flatMap(({ bundles }) =>
    bundles.toSorted((one, other) => (one.kind < other.kind ? -1 : 1)),
  );
  harness.sh('rm -rf ../empty; git init -q --bare ../empty');
  for (const [at, { bytes = new Uint8Array() }] of all.entries()) {
    writeFileSync(`${harness.top}/${at}.bundle`, bytes);
    harness.sh(`git -C ../empty bundle unbundle ../${at}.bundle`);
  }
  const last = all.at(-1)?.commit ?? '';
  return harness
    .sh(`git -C ../empty fsck --full --strict ${last} >&2; git -C ../empty rev-parse ${last}^{tree}`)
    .trim();
};

describe('a capture', () => {
  test('has the ids that any other session gets, in bundles that git takes', async () => {
    await using harness = await createHarness({ changes: true });
    harness.sh(
      `mkdir app; cd app; ${TWO_FILES}; seq 100 >lines; chmod 600 lines; mkdir empty; git add .; git commit -qm one; echo 1 >>lines`,
    );
    const ours = await harness.capture();
    const first = await take(harness);
    const [expected] = ours.repositories;
    const { commit: _of, ...ids } = only(first);
    expect(ids).toEqual({
      ...expected,
      commit: undefined,
      chain: 'rebase',
      info: { ...expected?.info, path: 'app' },
    });
    expect(treeIn(harness, [first])).toBe(ids.tree);
    const again = await take(harness, first);
    expect(only(again)).toMatchObject({ changed: false, commit: only(first).commit });
    expect(again.bundles).toEqual([]);
    harness.sh('sed -i 5d lines; echo new >added; git rm -q --cached lines; git branch side', 'app');
    const next = await harness.capture();
    const second = await take(harness, again);
    expect(only(second)).toMatchObject({
      chain: 'append',
      tree: next.repositories[0]?.tree,
      meta: next.repositories[0]?.meta,
    });
    expect(second.changes).toEqual(next.report.changes);
    expect(treeIn(harness, [first, second])).toBe(only(second).tree);
  });

  test('is where restores start and go', async () => {
    await using harness = await createHarness({});
    harness.sh(
      `mkdir app; cd app; ${TWO_FILES}; echo 1 >a; git add .; git commit -qm one; echo '*.log' >.gitignore`,
    );
    const first = await harness.capture();
    harness.sh('echo 2 >a; echo 3 >b; git add a; git commit -qm two; echo log >x.log', 'app');
    const second = await harness.capture();
    const { report, undo } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(undo.repositories[0]?.tree).toBe(second.repositories[0]?.tree);
    expect(harness.sh('cat a x.log; ls; git log -1 --format=%s', 'app')).toBe(
      '1\nlog\na\na.txt\nsrc\nx.log\none\n',
    );
    expect((await harness.rollback(second)).report.outcome).toBe('applied');
    expect(harness.sh('cat a b; git log -1 --format=%s', 'app')).toBe('2\n3\ntwo\n');
  });

  test('brings larger bundles out in a file, and the largest to where the caller says', async () => {
    await using harness = await createHarness();
    harness.sh(
      `for i in 1 2; do mkdir app$i; (cd app$i; ${TWO_FILES}; head -c 100000 /dev/urandom >a); done; head -c 900000 /dev/urandom >>app2/a`,
    );
    const received = new Map<string, Buffer>();
    const server = createServer((incoming, answer) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('end', () => {
        received.set(incoming.url ?? '', Buffer.concat(parts));
        answer.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    try {
      const limits = { maxInlineBytes: 500_000 };
      const told: WorkDone[] = [];
      const place: UploadTarget = async ({ sha256 }) => ({
        url: `http://127.0.0.1:${address.port}/${sha256}`,
        headers: {},
      });
      const report = await take(harness, undefined, limits, place, {
        onProgress: (progress) => told.push(progress),
      });
      const [large] = report.bundles.filter(({ sizeBytes }) => sizeBytes > 500_000);
      expect(report.bundles.filter(({ bytes }) => bytes === undefined)).toEqual([large]);
      expect(told.filter(({ doing }) => doing === 'upload')).toEqual([
        { doing: 'upload', done: 0, of: large?.sizeBytes },
      ]);
      const sent = received.get(`/${large?.sha256}`) ?? Buffer.alloc(0);
      const all = report.bundles.map(({ bytes = sent, sha256 }) => ({
        said: sha256,
        is: createHash('sha256').update(bytes).digest('hex'),
      }));
      expect(all.map(({ is }) => is)).toEqual(all.map(({ said }) => said));
      expect([...received.keys()]).toEqual([`/${large?.sha256}`]);
      expect(report.held).toBeDefined();
      const lost = take(harness, report, { ...limits, known: [] }, async () => ({
        url: 'http://127.0.0.1:1/',
        headers: {},
      }));
      await expect(lost).rejects.toMatchObject({ name: 'StorageUnavailable' });
    } finally {
      server.close();
    }
  });

  test('waits for another process that holds the lock', async () => {
    await using harness = await createHarness();
    harness.sh(`mkdir app .agent-shadow; cd app; ${TWO_FILES}; echo 1 >a`);
    const held = harness.sandbox.run('exec flock .agent-shadow/lock sh -c "mkfifo go; cat go >out; rm go"', {
      cwd: harness.root,
      timeoutMs: 60_000,
    });
    const waiting = take(harness);
    harness.sh('until [ -p go ]; do :; done; echo held >go');
    await held;
    expect(only(await waiting).changed).toBe(true);
    expect(harness.sh('cat out')).toBe('held\n');
  });
});
