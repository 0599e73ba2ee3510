/** The exclusive resources of a plan that are known from its input, in the order in which they are taken. */
import type { Json } from '../../../contract/json.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import { lockOf } from '../model/permit.ts';
import type { PinnedStep } from '../model/plan.ts';
import { evaluateExpression, resolveArguments } from '../plan/expressions.ts';
import type { Evaluate } from '../ports.ts';
import { resourceKeyOf } from '../prepare/prepare.ts';
import { MAX_START_LOCKS } from './prepare-permits.ts';

interface Known {
  input: Json;
  project: string | undefined;
  evaluate: Evaluate;
}

/** Undefined when the expression fails. The step reports this when its turn comes. */
const keyOf = async (step: PinnedStep, { input, evaluate }: Known): Promise<string | undefined> => {
  if (step.kind === 'children' || step.exclusive !== true) return undefined;
  if (step.resourceKey === undefined || step.uses.length > 0) return undefined;
  try {
    const resolved = await resolveArguments(step.arguments, { input, steps: {} }, evaluate);
    return resourceKeyOf(await evaluateExpression(step.resourceKey, resolved, evaluate));
  } catch (error) {
    if (isWalkbackError(error, 'ArgumentsUnresolved')) return undefined;
    throw error;
  }
};

/** Each key once, with the first step that needs it. Keys beyond the limit are locked when their step comes. */
export const startLocksIn = async (
  steps: readonly PinnedStep[],
  known: Known,
): Promise<{ stepIndex: number; resourceKey: string }[]> => {
  const found = new Map<string, { stepIndex: number; resourceKey: string }>();
  for (const step of steps) {
    const resourceKey = await keyOf(step, known);
    if (resourceKey === undefined || found.has(lockOf(known.project, resourceKey))) continue;
    found.set(lockOf(known.project, resourceKey), { stepIndex: step.index, resourceKey });
  }
  return [...found]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, MAX_START_LOCKS)
    .map(([, lock]) => lock);
};
