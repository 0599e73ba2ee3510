/** The rules of an interactive saga, as they are asked for and as they are pinned. */
import { WalkbackError } from '../../shared/errors.ts';
import type { InteractivePolicy } from '../model/interactive.ts';
import type { SagaStore } from '../ports.ts';

const HOUR_SECONDS = 3600;

export interface AskedPolicy {
  idleTimeoutSeconds?: number;
  onIdle: 'unwind' | 'ask';
  approvalTimeoutSeconds?: number;
  allowIrreversible?: string[];
  single?: true;
}

/** A name that no tool has, or that needs no leave, is a mistake of the caller: `InvalidInput`. */
const requireIrreversible = async (store: Pick<SagaStore, 'getTool'>, name: string): Promise<void> => {
  const tool = await store.getTool(name);
  if (tool?.effect === 'irreversible') return;
  const what =
    tool === undefined ? 'the catalog has no such tool' : `it is ${tool.effect} and needs no leave`;
  throw new WalkbackError('InvalidInput', `interactive.allowIrreversible: ${name}: ${what}.`);
};

export const requirePolicy = async (
  store: Pick<SagaStore, 'getTool'>,
  { onIdle, allowIrreversible = [], single, ...seconds }: AskedPolicy,
): Promise<InteractivePolicy> => {
  // A single call says it of whatever it calls.
  const checked = single === true ? [] : allowIrreversible;
  await Promise.all(checked.map((name) => requireIrreversible(store, name)));
  const { idleTimeoutSeconds = HOUR_SECONDS, approvalTimeoutSeconds = 24 * HOUR_SECONDS } = seconds;
  const allowed = allowIrreversible.length === 0 ? {} : { allowIrreversible };
  return { idleTimeoutSeconds, onIdle, approvalTimeoutSeconds, ...allowed, ...(single && { single }) };
};
