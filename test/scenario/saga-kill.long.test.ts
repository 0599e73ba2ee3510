import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { addOrder, STRIPE_KEY, sagaClient, startSagaServices } from '../support/saga-cloud.ts';

const SAGAS = ['k1', 'k2', 'k3', 'k4'];
const CHILD = join(import.meta.dirname, '../support/saga-cloud-child.ts');

test.each([4, 1, 3])(
  'kill -9 of the cloud at booking %i, then up again: every saga is finished or undone without a human',
  async (killAt) => {
    const { server, faults } = await startSagaServices();
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => server.close());
    cleanup.defer(() => void vi.unstubAllEnvs());
    for (const id of SAGAS) addOrder(server, id);
    const dataDir = await mkdtemp(join(tmpdir(), 'walkback-kill-'));
    cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
    const env = { ...process.env, REFUND_SERVICES_URL: server.url, REFUND_STRIPE_KEY: STRIPE_KEY };
    const child = spawn(process.execPath, [CHILD, dataDir, server.url, ...SAGAS], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const gone = Promise.withResolvers<void>();
    child.on('exit', () => gone.resolve());
    let bookings = 0;
    // In the middle of a call: the service has it, nobody will hear the answer.
    faults.onNetsuite = () => {
      bookings += 1;
      if (bookings === killAt) child.kill('SIGKILL');
    };
    await gone.promise;
    faults.onNetsuite = () => undefined;

    vi.stubEnv('REFUND_SERVICES_URL', server.url);
    vi.stubEnv('REFUND_STRIPE_KEY', STRIPE_KEY);
    const cloud = cleanup.use(await startTestCloud({ dataDir }));
    const client = sagaClient(cloud, server);
    cleanup.defer(async () => client.sfn.destroy());
    const { sagas } = (await cloud.invoke('list-sagas', {})) as { sagas: { sagaId: string }[] };
    expect(sagas.length).toBeGreaterThan(0);
    for (const { sagaId } of sagas) {
      const seen = await client.observe(sagaId);
      expect(['COMPLETED', 'COMPENSATED']).toContain(seen.status);
      expect(await client.isSound(sagaId)).toBe(true);
      const mine = server.world.stripe.state.refunds.filter(
        (refund) => refund.payment_intent === `pi_${sagaId}`,
      );
      // On a busy machine a saga may be undone before it came to its refund.
      expect(mine.length, JSON.stringify(seen)).toBeGreaterThanOrEqual(seen.status === 'COMPLETED' ? 1 : 0);
      expect(mine.length, JSON.stringify(seen)).toBeLessThanOrEqual(1);
    }
    const completed = client.standing();
    expect(completed.refunds).toBe(completed.mails);
    expect(completed.tickets).toBe(completed.mails);
    expect(completed.booked).toBe(-2500 * completed.mails);
  },
  120_000,
);
