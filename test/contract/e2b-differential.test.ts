/**
 * The local E2B beside E2B's own daemon: the same requests, and what envd 0.6.13 answered to them. It was run outside
 * of a virtual machine, as root, and its answers were written down. WALKBACK_ENVD_URL and WALKBACK_ENVD_TOKEN ask a
 * daemon that runs instead.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askDaemon, type Daemon, ROWS } from '../support/envd-rows.ts';
import { startLocalE2b } from '../support/local-e2b.ts';

const recorded = JSON.parse(
  await readFile(join(import.meta.dirname, '../support/envd-0.6.13.json'), 'utf8'),
) as Record<string, unknown>;

const disposal = new AsyncDisposableStack();
let daemon: Daemon;
beforeAll(async () => {
  const { WALKBACK_ENVD_URL: url, WALKBACK_ENVD_TOKEN: token = '' } = process.env;
  if (url !== undefined) {
    daemon = { url, token };
    return;
  }
  const e2b = disposal.use(await startLocalE2b());
  const { sandboxId } = await e2b.sdk.create();
  const record = JSON.parse(await readFile(join(e2b.dataDir, sandboxId, 'sandbox.json'), 'utf8')) as {
    accessToken: string;
  };
  daemon = { url: e2b.url, token: record.accessToken, headers: { 'e2b-sandbox-id': sandboxId } };
});
afterAll(() => disposal.disposeAsync());

describe('answers as E2B’s daemon does', () => {
  test('every answer that was written down is asked for', () => {
    expect(Object.keys(recorded)).toEqual(ROWS.map(({ name }) => name));
    expect(ROWS.length).toBeGreaterThan(70);
  });

  test.each(ROWS)('$name', async (row) => {
    expect(await askDaemon(daemon, row)).toEqual(recorded[row.name]);
  });
});
