/**
 * How long pages take beside large answers: 500 checkpoints, 40 repositories, 10,000 ledger rows, a patch of 5 MB. It prints
 * what it measures; how fast a machine is, is no assertion. That pages are cut, and how large they are, is.
 */
import { describe, expect, test } from 'vitest';
import { describeFailure } from '../../cli/failure.ts';
import { createConsole } from '../../console/app.ts';
import type { Ask } from '../../console/context.ts';
import { listenPages } from '../../local/listen.ts';
import { listedSession } from '../support/listed-session.ts';

const CHECKPOINTS = 500;
const REPOSITORIES = 40;
const ROWS = 10_000;
const MOST_BYTES = 1_500_000;
const ROUNDS = 16;

const AT = '2026-01-02T10:00:00.000Z';
const idOf = (seq: number): string => `cp-${String(seq).padStart(8, '0')}-0123abcd`;
const session = listedSession('s', {
  headSeq: CHECKPOINTS,
  headCheckpointId: idOf(CHECKPOINTS),
  seq: CHECKPOINTS,
  metadata: { agent: 'one' },
  lines: { added: CHECKPOINTS, deleted: 0 },
  repositories: REPOSITORIES,
  expiresAt: 1_800_000_000,
});

const repositories = Array.from({ length: REPOSITORIES }, (_, n) => ({
  path: `repository-${n}`,
  state: 'captured',
  commit: 'a'.repeat(40),
  changed: true,
  bundleBytes: 1000,
  branch: 'main',
  head: 'b'.repeat(40),
  changes: { files: 3, added: n, deleted: 1 },
}));

const checkpointAt = (seq: number) => ({
  checkpointId: idOf(seq),
  seq,
  epoch: 1,
  complete: true,
  parentSeq: seq === 1 ? null : seq - 1,
  messageId: `msg-${seq}`,
  toolExecutionId: `t-${seq}`,
  reason: 'before-tool',
  sandboxId: 'sb',
  detached: false,
  onHeadPath: seq % 5 !== 0,
  createdAt: AT,
  failures: [],
  skipped: [],
  repositories,
});

const PATCH = (() => {
  const lines = Array.from(
    { length: 60_000 },
    (_, n) => `+const value${n} = await load("${'x'.repeat(60)}", ${n});`,
  );
  return [
    'diff --git a/r/x.ts b/r/x.ts',
    '--- a/r/x.ts',
    '+++ b/r/x.ts',
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines,
    '',
  ].join('\n');
})();

const changed = (messageId: string) => ({
  sessionId: 's',
  checkpoints: [
    {
      checkpointId: idOf(CHECKPOINTS),
      seq: CHECKPOINTS,
      parentCheckpointId: idOf(CHECKPOINTS - 1),
      messageId,
      reason: 'before-tool',
      createdAt: AT,
      repositories: repositories.map(({ path }, n) => ({
        path,
        change: 'changed',
        counts: { files: 3, added: 60_000, deleted: 1 },
        files: Array.from({ length: 3 }, (_, at) => ({
          path: `x${at}.ts`,
          change: 'modified',
          added: 1,
          deleted: 1,
          binary: false,
        })),
        patch: n === 0 ? PATCH : `diff --git a/r/y b/r/y\n--- a/r/y\n+++ b/r/y\n@@ -1 +1 @@\n-a b\n+a c\n`,
        truncated: false,
      })),
      warnings: [],
    },
  ],
});

const row = (seq: number) => ({
  saga_id: `saga-${seq % 100}`,
  seq,
  step_index: 1,
  step: 'pay',
  tool: 'issue_refund',
  direction: 'forward',
  status: 'committed',
  idempotency_key: 'k'.repeat(40),
  external_ref: `re_${seq}`,
  attempt: 1,
  error: null,
  actor: 'engine',
  at: AT,
  prev_hash: 'a'.repeat(64),
  hash: 'b'.repeat(64),
  detail: '{}',
  amount: '25.00',
  currency: 'EUR',
});

interface Asked {
  limit?: number;
  cursor?: string;
  messageId?: string;
  format?: string;
}

/** Answers as the functions do, a page at a time; and as text, as they come over the wire. */
const ANSWERS: Readonly<Record<string, (asked: Asked) => unknown>> = {
  timeline: ({ limit = 50, cursor }) => {
    const newest = cursor === undefined ? CHECKPOINTS : Number(cursor.slice(7)) - 1;
    const length = Math.min(limit, newest);
    return {
      session,
      checkpoints: Array.from({ length }, (_, n) => checkpointAt(newest - n)),
      messages: Array.from({ length: CHECKPOINTS }, (_, n) => ({
        messageId: `msg-${n + 1}`,
        order: n + 1,
        checkpointId: idOf(n + 1),
        discarded: (n + 1) % 5 === 0,
        title: `Message ${n + 1}`,
      })),
      ...(newest > length ? { cursor: `before-${newest - length + 1}` } : {}),
    };
  },
  changes: ({ messageId = '' }) => changed(messageId),
  'list-sagas': () => ({ sagas: [], effects: [] }),
  'query-ledger': ({ limit = 200, cursor = '0' }) => {
    const from = Number(cursor);
    const entries = Array.from({ length: Math.min(limit, ROWS - from) }, (_, n) => row(from + n));
    return { entries, ...(from + limit < ROWS ? { cursor: String(from + limit) } : {}) };
  },
};

describe('large answers', () => {
  test('pages are cut or paged, small, and take the same memory again and again', async () => {
    let origin = '';
    const app = createConsole({
      ask: (async (name: string, asked: Asked) => JSON.parse(JSON.stringify(ANSWERS[name]?.(asked)))) as Ask,
      failureOf: describeFailure,
      viewer: { name: 'rita', isVerified: true },
      by: 'rita',
      token: 'in',
      origin: () => origin,
    });
    const endpoint = await listenPages(app);
    origin = endpoint.url;
    try {
      const entered = await fetch(`${origin}/enter?token=in`, { redirect: 'manual' });
      const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';');
      const get = async (path: string) => {
        const from = performance.now();
        const answer = await fetch(`${origin}${path}`, { headers: { cookie } });
        const firstByteMs = performance.now() - from;
        const text = await answer.text();
        return { firstByteMs, text };
      };
      const paths = [
        '/sessions/s?message=msg-499',
        '/sessions/s?message=msg-499&before=before-101',
        '/ledger?from=2026-01-01&to=2026-01-31',
      ];
      const told: string[] = [];
      for (const path of paths) {
        const times: number[] = [];
        let bytes = 0;
        let before = 0;
        const spent = process.cpuUsage();
        for (let round = 0; round < ROUNDS; round += 1) {
          const { firstByteMs, text } = await get(path);
          times.push(firstByteMs);
          bytes = text.length;
          expect(bytes).toBeLessThan(MOST_BYTES);
          if (round === ROUNDS / 2) before = process.memoryUsage().rss;
        }
        const { user, system } = process.cpuUsage(spent);
        const cpuMs = (user + system) / 1000 / ROUNDS;
        const sorted = times.toSorted((a, b) => a - b);
        const grownMb = (process.memoryUsage().rss - before) / 1024 ** 2;
        told.push(
          `${path}: first byte p50 ${Math.round(sorted[ROUNDS / 2] ?? 0)} ms, most ${Math.round(sorted.at(-1) ?? 0)} ms, first ${Math.round(times[0] ?? 0)} ms (${Math.round(cpuMs)} ms of processor, with the making of the answers); ${Math.round(bytes / 1024)} KiB; ${grownMb.toFixed(0)} MiB more after ${ROUNDS / 2} more`,
        );
        // Pages that stayed in memory would be there with their answers, of 10 MB each.
        expect(grownMb).toBeLessThan(400);
      }
      process.stdout.write(`${told.join('\n')}\n`);
      const { text } = await get(paths[0] ?? '');
      expect(text.match(/<li class="(?!leaf)/g)).toHaveLength(100);
      expect(text).toContain('Cut here');
      expect(text).toContain('repository-39');
      const ledger = await get(paths[2] ?? '');
      expect(ledger.text.match(/<tr [^>]*>/g)).toHaveLength(101);
      expect(ledger.text).toContain('Further rows');
    } finally {
      await endpoint.close();
    }
  });
});
