/** The rules of an interactive saga, as they are asked for and as they are pinned. */
import { HOUR_SECONDS } from '../../../contract/times.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { AskedPolicy, InteractivePolicy } from '../model/interactive.ts';
import { unknownTool } from '../plan/catalog.ts';
import type { SagaStore } from '../ports.ts';

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

/** A name that no tool has is a mistake of the caller: `InvalidInput`. */
const requireTool = async (store: Pick<SagaStore, 'getTool'>, name: string): Promise<void> => {
  if ((await store.getTool(name)) !== undefined) return;
  throw new WalkbackError('InvalidInput', `interactive.allowIrreversible: ${unknownTool(name)}.`);
};

/**
 * A tool that is not irreversible may be listed: it may have been so in an older version, which a step may name, and whoever lists
 * it needs not know when its compensator came.
 */
export const requirePolicy = async (
  store: Pick<SagaStore, 'getTool'>,
  { single, ...asked }: AskedPolicy & { single?: true },
): Promise<InteractivePolicy> => {
  // A single call says it of whatever it calls.
  const checked = single === true ? [] : (asked.allowIrreversible ?? []);
  await Promise.all(checked.map((name) => requireTool(store, name)));
  return { ...pinnedPolicy(asked), ...(single && { single }) };
};
