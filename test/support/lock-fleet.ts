/** Sagas whose tool `work` takes an exclusive resource, and `free` the same without. */
import type { ToolRequest } from '../../contract/tool-request.ts';
import { createListLocks } from '../../core/saga/view/list-locks.ts';
import { observe } from '../../core/saga/view/observation.ts';
import { type FleetOptions, sagaFleet } from './saga-fleet.ts';
import { committed, scriptedTool } from './scripted-saga.ts';

type Answer = (request: ToolRequest) => ReturnType<typeof committed> | Promise<ReturnType<typeof committed>>;

export const lockFleet = async (answer: Answer = () => committed(), storing?: FleetOptions['storing']) => {
  const requests: ToolRequest[] = [];
  const fleet = sagaFleet({
    random: () => 0,
    ...(storing === undefined ? {} : { storing }),
    invoke: async (request) => {
      requests.push(request);
      return answer(request);
    },
  });
  const exclusive = { resourceKey: 'key', exclusive: true };
  const once = { maxAttempts: 1, backoffSeconds: 0, backoffRate: 1, maxBackoffSeconds: 0 };
  const compensation = { name: 'undo', timeoutSeconds: 10, retry: once };
  await fleet.store.putTool(scriptedTool('work', 'compensatable', { ...exclusive, compensation }));
  await fleet.store.putTool(scriptedTool('free', 'compensatable', { resourceKey: 'key' }));
  const start = async (
    sagaId: string,
    keys: readonly (string | { key: string; approval: true } | { late: string } | { child: string })[],
    more: { project?: string; maxConcurrent?: number } = {},
  ) => {
    await fleet.clock.advance(1000);
    const steps = keys.map((one, at) => {
      if (typeof one === 'string') return { id: `s${at}`, tool: 'work', arguments: { key: one } };
      if ('child' in one) {
        const approval = { timeoutSeconds: 36_000 };
        const ask = { id: 'ask', tool: 'free', arguments: { key: one.child }, approval };
        return { id: `s${at}`, branches: [{ id: 'kid', plan: { steps: [ask] } }] };
      }
      if ('late' in one) {
        // It depends on a result, so it is not known before its step.
        const key = `{% steps.s0.result.ok ? '${one.late}' : '' %}`;
        return { id: `s${at}`, tool: 'work', arguments: { key } };
      }
      return { id: `s${at}`, tool: 'work', arguments: { key: one.key }, approval: { timeoutSeconds: 3600 } };
    });
    return fleet.start({ sagaId, plan: { steps }, input: {}, requestedBy: 'me', ...more });
  };
  /** Begins it, and lets twenty seconds pass. */
  const run = async (...asked: Parameters<typeof start>): Promise<void> => {
    await start(...asked);
    await fleet.settle(20_000);
  };
  const stateOf = async (sagaId: string) => {
    const head = await fleet.store.getHead(sagaId);
    if (head === undefined) throw new Error(`no saga ${sagaId}`);
    return head.state;
  };
  const observed = async (sagaId: string) => {
    const head = await fleet.store.getHead(sagaId);
    if (head === undefined) throw new Error(`no saga ${sagaId}`);
    return observe(head, await fleet.store.listEntries(sagaId));
  };
  const story = async (sagaId: string) =>
    (await fleet.store.listEntries(sagaId)).map(({ direction, status }) => `${direction} ${status}`);
  const list = createListLocks(fleet);
  return { ...fleet, begin: start, run, requests, stateOf, observed, story, list };
};
