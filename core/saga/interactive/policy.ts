/** The rules of an interactive saga, as they are asked for and as they are pinned. */
import { HOUR_SECONDS } from '../../../contract/times.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { AskedPolicy, InteractivePolicy } from '../model/interactive.ts';
import type { ToolManifest } from '../model/tool.ts';
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

/** Why this tool is none that a policy allows without an approval. */
export const leaveProblem = (tool: Pick<ToolManifest, 'effect'> | undefined): string | undefined => {
  if (tool === undefined) return 'the catalog has no such tool';
  return tool.effect === 'irreversible' ? undefined : `it is ${tool.effect} and needs no leave`;
};

/** A name that no tool has, or that needs no leave, is a mistake of the caller: `InvalidInput`. */
const requireIrreversible = async (store: Pick<SagaStore, 'getTool'>, name: string): Promise<void> => {
  const problem = leaveProblem(await store.getTool(name));
  if (problem === undefined) return;
  throw new WalkbackError('InvalidInput', `interactive.allowIrreversible: ${name}: ${problem}.`);
};

export const requirePolicy = async (
  store: Pick<SagaStore, 'getTool'>,
  { single, ...asked }: AskedPolicy & { single?: true },
): Promise<InteractivePolicy> => {
  // A single call says it of whatever it calls.
  const checked = single === true ? [] : (asked.allowIrreversible ?? []);
  await Promise.all(checked.map((name) => requireIrreversible(store, name)));
  return { ...pinnedPolicy(asked), ...(single && { single }) };
};
