/** The rules of an interactive saga, as the caller asks for them and as they are pinned. */
import { HOUR_SECONDS } from '../../../contract/times.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { AskedPolicy, InteractivePolicy } from '../model/interactive.ts';
import type { SagaStore } from '../ports.ts';
import { unknownTool } from './catalog.ts';

/** The rules with their defaults. */
export const pinnedPolicy = ({
  onIdle,
  idleTimeoutSeconds = HOUR_SECONDS,
  approvalTimeoutSeconds = 24 * HOUR_SECONDS,
  allowIrreversible = [],
}: AskedPolicy): InteractivePolicy => ({
  idleTimeoutSeconds,
  onIdle,
  approvalTimeoutSeconds,
  ...(allowIrreversible.length === 0 ? {} : { allowIrreversible }),
});

/** Throws `InvalidInput` for a name that no tool has: it is the caller's mistake. */
const requireTool = async (store: Pick<SagaStore, 'getTool'>, name: string): Promise<void> => {
  if ((await store.getTool(name)) !== undefined) return;
  throw new WalkbackError('InvalidInput', `interactive.allowIrreversible: ${unknownTool(name)}.`);
};

/**
 * A listed tool need not be irreversible now: it may have been so in an older version, which a step may name.
 * The caller need not know when its compensator was added.
 */
export const requirePolicy = async (
  store: Pick<SagaStore, 'getTool'>,
  { single, ...asked }: AskedPolicy & { single?: true },
): Promise<InteractivePolicy> => {
  // A single call lists whatever tool it calls, so there is nothing to check.
  const checked = single === true ? [] : (asked.allowIrreversible ?? []);
  await Promise.all(checked.map((name) => requireTool(store, name)));
  return { ...pinnedPolicy(asked), ...(single && { single }) };
};
