/** Trees of sagas on the in-process machine: a scripted provider that remembers what stands, and the checks that hold for every tree. */
import { expect } from 'vitest';
import type { Json } from '../../contract/json.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { differingHeadFields } from '../../core/saga/entries/check-head.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import { verifyFamily } from '../../core/saga/ledger/verify-family.ts';
import { TERMINAL_STATUSES } from '../../core/saga/model/head.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import type { Plan, SagaDefinition } from '../../core/saga/model/plan.ts';
import type { Invoked, SagaStore } from '../../core/saga/ports.ts';
import { packEffects, unpackEffects } from '../../core/saga/run/pack-state.ts';
import type { Fault } from '../../kit/testing/faults.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { type MachineOptions, sagaMachine } from '../../kit/testing/saga-machine.ts';
import { type VirtualClock, virtualClock } from '../../kit/testing/virtual-clock.ts';
import { evaluate } from './plan-tools.ts';
import { committed, RETRY, rejected, scriptedTool } from './scripted-saga.ts';
import { agentsTurn } from './tree-agent.ts';

export const ROOT = 'root';

/** `put` does something that can be undone, on the resource `key`, `part` in part; `look` reads, `mail` is irreversible. */
const TREE_TOOLS = [
  scriptedTool('part', 'partial', {
    amount: 'arguments.cents',
    currency: '"EUR"',
    amountDirection: 'out',
    minorUnits: true,
    compensation: { name: 'undo_part', timeoutSeconds: 10, retry: RETRY, amount: 'undone.cents' },
  }),
  scriptedTool('put', 'compensatable', { resourceKey: 'key' }),
  scriptedTool('look', 'read'),
  scriptedTool('mail', 'irreversible'),
];

/** A step that puts something; `fail` makes the provider refuse it, `stuck` makes its compensator refuse. */
export const put = (id: string, more: { key?: string; fail?: boolean; stuck?: boolean } = {}) => ({
  id,
  tool: 'put',
  arguments: { key: more.key ?? id, fail: more.fail ?? false, stuck: more.stuck ?? false },
});

/** A step that costs something, of which a fee stays when it is undone. */
export const part = (id: string) => ({ id, tool: 'part', arguments: { key: id, cents: 500 } });

/** What the provider holds: by key of the call, since that is how it knows one. */
const treeProvider = () => {
  const standing = new Map<string, { resource: string; mail: boolean }>();
  const log: { what: 'put' | 'undo'; key: string; resource: string }[] = [];
  const buried = new Set<string>();
  const doubled: string[] = [];
  const freed = new Set<string>();
  let allFreed = false;
  const answer = ({ operation, tool, forwardKey, arguments: given }: ToolRequest): Invoked => {
    const resource = typeof given['key'] === 'string' ? given['key'] : forwardKey;
    if (operation === 'probe') {
      return {
        Payload: standing.has(forwardKey) ? { outcome: 'committed', result: {} } : { outcome: 'absent' },
      };
    }
    if (operation === 'compensate') {
      if (given['stuck'] === true && !allFreed && !freed.has(resource)) return rejected();
      buried.add(forwardKey);
      if (standing.delete(forwardKey)) log.push({ what: 'undo', key: forwardKey, resource });
      return given['cents'] === undefined
        ? committed()
        : { Payload: { outcome: 'committed', residue: 'a fee stays', result: { cents: 499 } } };
    }
    if (tool === 'look') return committed({ seen: true });
    if (given['fail'] === true || buried.has(forwardKey)) return rejected();
    if (!standing.has(forwardKey)) {
      if (log.some(({ what, key }) => what === 'put' && key === forwardKey)) doubled.push(forwardKey);
      standing.set(forwardKey, { resource, mail: tool === 'mail' });
      log.push({ what: 'put', key: forwardKey, resource });
    }
    return tool === 'part'
      ? { Payload: { outcome: 'committed', result: {}, externalRef: `ref-${resource}` } }
      : committed({ key: resource });
  };
  /** From now on, what is stuck on this resource can be undone. */
  const free = (resource: string) => freed.add(resource);
  /** The same for every resource, also for what never came to stand. */
  const freeAll = () => {
    allFreed = true;
  };
  return { standing, log, doubled, answer, free, freeAll };
};

export interface TreeSagaOptions
  extends Fault,
    Pick<MachineOptions, 'replay' | 'onAwait' | 'onQuiet' | 'maxHistoryEvents'> {
  plan: Plan;
  definitions?: SagaDefinition[];
  input?: Json;
  onInvoke?: (request: ToolRequest, clock: VirtualClock) => void | Promise<void>;
}

export const definitionOf = (
  name: string,
  plan: Plan,
  input: SagaDefinition['input'] = {},
): SagaDefinition => ({
  name,
  version: '1',
  description: '',
  reviewBy: '2099-01-01',
  input,
  plan,
});

export const treeSaga = async (options: TreeSagaOptions) => {
  const clock = virtualClock();
  const memory = memorySagaStore();
  const provider = treeProvider();
  for (const tool of TREE_TOOLS) await memory.store.putTool(tool);
  for (const definition of options.definitions ?? []) await memory.store.putDefinition(definition);
  const direct = async (request: ToolRequest): Promise<Invoked> => {
    await options.onInvoke?.(request, clock);
    return provider.answer(request);
  };
  const invoke = options.around?.(direct, clock) ?? direct;
  const store: SagaStore = options.storing?.(memory.store, clock) ?? memory.store;
  const { replay, onAwait, onQuiet, maxHistoryEvents } = options;
  const machine = sagaMachine({
    evaluate,
    store,
    clock,
    invoke: (_, request) => invoke(request),
    ...(replay === undefined ? {} : { replay }),
    ...(onAwait === undefined ? {} : { onAwait }),
    onQuiet: onQuiet ?? (() => agentsTurn({ machine, memory })),
    ...(maxHistoryEvents === undefined ? {} : { maxHistoryEvents }),
  });
  const start = () =>
    machine.start({ sagaId: ROOT, plan: options.plan, input: options.input ?? {}, requestedBy: 'me' });
  /** Starts, and goes as far as it comes by itself. */
  const run = async (): Promise<void> => {
    await start();
    await machine.settle();
  };
  const headOf = (sagaId: string) => {
    const head = memory.heads.get(sagaId);
    if (head === undefined) throw new Error(`there is no saga ${sagaId}`);
    return head;
  };
  return { clock, memory, store: memory.store, machine, provider, start, run, headOf };
};

export type TreeSaga = Awaited<ReturnType<typeof treeSaga>>;

const entryAt = (saga: TreeSaga, { sagaId, seq }: { sagaId: string; seq: number }): LedgerEntry | undefined =>
  saga.memory.ledger.get(sagaId)?.[seq];

/** Every saga of the tree folds, chains and names the hashes of the others as they are. */
export const expectSoundTree = (saga: TreeSaga): void => {
  for (const [sagaId, head] of saga.memory.heads) {
    const entries = saga.memory.ledger.get(sagaId) ?? [];
    expect(fold(entries), `fold(entries) == head.state of ${sagaId}`).toEqual(head.state);
    expect(differingHeadFields(head, entries), `the head of ${sagaId} says what its ledger says`).toEqual([]);
    expect(findChainBreak(entries, head), `the chain of ${sagaId} holds`).toBeUndefined();
    expect(unpackEffects(packEffects(head.state.effects)), 'effects survive packing').toEqual(
      head.state.effects,
    );
    if (head.parent !== undefined) {
      const named = entryAt(saga, head.parent);
      expect(named?.hash, `${sagaId} names the entry of its parent`).toBe(head.parent.hash);
      expect(
        named?.direction === 'forward' &&
          named.status === 'started' &&
          named.children?.map((one) => one.sagaId),
      ).toContain(sagaId);
    }
    for (const entry of entries) {
      const links = [
        ...('parent' in entry && entry.parent !== undefined ? [entry.parent] : []),
        ...(entry.direction === 'saga' && entry.status === 'sealed' ? [entry.root] : []),
      ];
      for (const link of links) expect(entryAt(saga, link)?.hash, 'a link names the hash').toBe(link.hash);
      if (entry.direction !== 'child' || !('child' in entry) || entry.child.status === 'REFUSED') continue;
      const { sagaId: child, seq, tip } = entry.child;
      expect(entryAt(saga, { sagaId: child, seq: seq - 1 })?.hash, 'the tip of the child').toBe(tip);
    }
  }
  expect(verifyFamily(saga.memory.ledger), 'the ledgers name each other as they are').toEqual([]);
};

/** The saga that did it, by the key of a call. */
const sagaOf = (key: string): string => key.slice(0, key.lastIndexOf(':'));

/** Ends all done, all undone, or with every residue listed somewhere in the tree; nothing twice. */
export const expectSettledTree = (saga: TreeSaga): string => {
  expectSoundTree(saga);
  const { provider, memory } = saga;
  const { status } = saga.headOf(ROOT).state;
  expect(TERMINAL_STATUSES).toContain(status);
  expect(provider.doubled, 'no effect twice').toEqual([]);
  for (const [sagaId, head] of memory.heads) {
    expect(TERMINAL_STATUSES, `${sagaId} has ended, as the root has`).toContain(head.state.status);
    // Below one that was taken back, only what merely read is left as it is.
    const above = head.parent === undefined ? undefined : saga.headOf(head.parent.sagaId).state;
    const isProvisional = head.state.status === 'COMPLETED' && above?.status === 'COMPLETED';
    if (isProvisional && (above.sealed === true || head.parent?.sagaId === ROOT)) {
      expect(head.state.sealed, `${sagaId} is sealed`).toBe(true);
    }
  }
  for (const key of provider.standing.keys()) {
    const owner = saga.headOf(sagaOf(key));
    const [index, epoch = 0] = key
      .slice(key.lastIndexOf(':') + 1)
      .split('@')
      .map(Number);
    const effect = owner.state.effects.findLast((one) => one.step === index && one.epoch === epoch);
    if (status === 'COMPLETED') {
      expect(owner.state.status, `what stands belongs to what is done: ${key}`).toBe('COMPLETED');
      continue;
    }
    expect(status, `${key} stands`).toBe('COMPENSATION_FAILED');
    expect(
      ['committed', 'unknown', 'undo_failed', 'blocked', 'started'],
      `${key} is told as it is`,
    ).toContain(effect?.status);
    // Its own saga, or one above, says that it could not be undone.
    const above: string[] = [];
    for (let at = owner; ; at = saga.headOf(at.parent.sagaId)) {
      above.push(at.state.status);
      if (at.parent === undefined) break;
    }
    expect(above, `${key} is residue of the tree`).toContain('COMPENSATION_FAILED');
  }
  return status;
};

/** Runs a tree to its end. */
export const runTree = async (options: Parameters<typeof treeSaga>[0]) => {
  const saga = await treeSaga(options);
  await saga.run();
  return { saga, status: expectSettledTree(saga) };
};

/** The resources that the provider holds. */
export const standingSteps = ({ provider }: Awaited<ReturnType<typeof treeSaga>>) =>
  [...provider.standing.values()].map(({ resource }) => resource).sort();

/** A branch that does one thing. */
export const fine = (id: string, key: string) => ({
  id,
  plan: { steps: [put('one', { key })], output: id },
});
