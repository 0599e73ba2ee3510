/** The same steps driven by the machine, by the function that starts them, one by one, and as single calls. */
import type { SagaCloud } from './cloud.ts';

export interface Tier {
  driven: string;
  steps: number;
  /** Of Walkback's functions, by whoever asks for the steps. */
  requests: number;
  transitions: number;
  writeUnits: number;
  wallMs: number;
}

const given = (n: number) => ({ resource: `r-${n}`, workMs: 0 });

type Run = (cloud: SagaCloud, sagaId: string, steps: number) => Promise<number>;

const planned =
  (drive: 'machine' | 'inline'): Run =>
  async (cloud, sagaId, count) => {
    const steps = Array.from({ length: count }, (_, n) => ({
      id: `s${n}`,
      tool: 'change',
      arguments: given(n),
    }));
    await cloud.invoke('start-saga', { sagaId, plan: { steps }, input: {}, drive, requestedBy: 'bench' });
    return 1;
  };

const TIERS: Record<string, Run> = {
  machine: planned('machine'),
  "plan, `drive: 'inline'`": planned('inline'),
  'interactive, step by step': async (cloud, sagaId, count) => {
    await cloud.invoke('start-saga', { sagaId, interactive: { onIdle: 'unwind' }, requestedBy: 'bench' });
    for (let n = 0; n < count; n += 1) {
      const step = { stepId: `s${n}`, tool: 'change', arguments: given(n), observe: false };
      await cloud.invoke('submit-step', { sagaId, ...step });
    }
    await cloud.invoke('close-saga', { sagaId, outcome: 'complete' });
    return count + 2;
  },
  'single calls': async (cloud, sagaId, count) => {
    for (let n = 0; n < count; n += 1) {
      const call = { requestId: `${sagaId}-${n}`, tool: 'change', arguments: given(n) };
      await cloud.invoke('call-tool', { ...call, requestedBy: 'bench' });
    }
    return count;
  },
};

export const measureTiers = async (cloud: SagaCloud, steps: number): Promise<Tier[]> => {
  const rows: Tier[] = [];
  for (const [n, [driven, run]] of Object.entries(TIERS).entries()) {
    // Once before, so that no function starts while it is measured.
    await run(cloud, `tier-warm-${n}`, 1);
    const sagaId = `tier-${n}`;
    const before = (await cloud.units()).writes;
    const began = performance.now();
    const requests = await run(cloud, sagaId, steps);
    // A call has ended with its answer; a saga when the bus says so.
    if (driven !== 'single calls') await cloud.ended(sagaId);
    const wallMs = performance.now() - began;
    const writeUnits = (await cloud.units()).writes - before;
    rows.push({
      driven,
      steps,
      requests: requests / steps,
      transitions: (await cloud.transitions(sagaId)) / steps,
      writeUnits: writeUnits / steps,
      wallMs: wallMs / steps,
    });
  }
  return rows;
};
