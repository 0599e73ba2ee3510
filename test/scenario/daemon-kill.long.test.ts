/** The client beside a daemon that is killed at random instants: it starts another one, and nothing is lost or done twice. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Walkback } from '../../client/index.ts';
import { findRunningCloud } from '../../local/data-dir.ts';
import { openCliScene } from '../support/cli.ts';
import { createWork } from '../support/cli-work.ts';
import { printedSeed } from '../support/sampling.ts';

const ROUNDS = 6;
/** A checkpoint of this size takes a few hundred milliseconds; so some kills come before it, some after. */
const LATEST_KILL_MS = 800;

test('kill -9 of the daemon at any instant of a checkpoint loses nothing that was answered', async () => {
  await using scene = await openCliScene({ WALKBACK_DAEMON: 'on', WALKBACK_IDLE_MINUTES: '5' });
  const { work, dataDir, json } = scene;
  await createWork(work);
  const seed = printedSeed('daemon-kill');
  const delays = fc.sample(fc.nat({ max: LATEST_KILL_MS }), { numRuns: ROUNDS, seed });
  // No cloud runs: the client starts it.
  const walkback = new Walkback({ dataDir });
  try {
    const session = await walkback.sessions.start({ root: work });
    let killed = 0;
    const kill = async (ms: number): Promise<void> => {
      await delay(ms);
      const daemon = await findRunningCloud(dataDir);
      if (daemon === undefined) return;
      process.kill(daemon.pid, 'SIGKILL');
      killed += 1;
    };
    const answered = new Map<string, string>();
    for (const [round, ms] of delays.entries()) {
      const id = `call-${round}`;
      await writeFile(join(work, 'api/a.txt'), `round ${round}\n`);
      const killing = kill(ms);
      const { checkpointId } = await session.checkpoint({ messageId: `msg-${round}`, id });
      await killing;
      answered.set(id, checkpointId);
    }
    expect(killed).toBeGreaterThanOrEqual(ROUNDS / 2);
    const { checkpoints } = await session.timeline();
    const stored = checkpoints.filter(({ toolExecutionId }) => toolExecutionId.startsWith('call-'));
    expect(new Map(stored.map((one) => [one.toolExecutionId, one.checkpointId]))).toEqual(answered);
    expect(stored).toHaveLength(ROUNDS);
    await session.rollback({ to: 'msg-0' });
    expect(await readFile(join(work, 'api/a.txt'), 'utf8')).toBe('round 0\n');
  } finally {
    await walkback.close();
    await json(['down']);
  }
}, 1_200_000);
