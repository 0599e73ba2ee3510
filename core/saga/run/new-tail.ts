/** Pins the plan that a rewound saga goes on with: the steps that stay, and new ones after them (S8). */
import type { Json } from '../../../contract/json.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { planHashAt } from '../decide/plan-in-force.ts';
import type { SagaHead } from '../model/head.ts';
import type { PinnedStep, PlanStep } from '../model/plan.ts';
import { parsePlan } from '../plan/catalog.ts';
import { requirePlan } from '../plan/plan-validation.ts';
import type { Evaluate, SagaStore } from '../ports.ts';
import { pinSteps } from './pinned-steps.ts';
import { readingOf } from './prepare.ts';
import { toolsOf } from './start.ts';

const asPlanned = ({ id, tool, version, arguments: given, approval }: PinnedStep): PlanStep => ({
  id,
  tool,
  version,
  arguments: given,
  ...(approval === undefined ? {} : { approval }),
});

/**
 * The whole plan is checked, so that references and the place of irreversible steps hold over both parts.
 * The steps that stay are kept as they were pinned. Throws `PlanRefused`.
 */
export const newTail = async (
  { store, evaluate }: { store: SagaStore; evaluate: Evaluate },
  head: SagaHead,
  cursor: number,
  given: Json,
) => {
  const { sagaId, state, inputHash } = head;
  const reading = readingOf(store, head);
  const kept: PinnedStep[] = [];
  for (let index = 0; index < cursor; index += 1) kept.push(await reading.step(index, state));
  if (typeof given !== 'object' || given === null || Array.isArray(given) || !Array.isArray(given['steps'])) {
    throw new WalkbackError('PlanRefused', 'plan: shape: steps must be a list of steps');
  }
  const plan = parsePlan({ ...given, steps: [...kept.map(asPlanned), ...given['steps']] });
  const input = await store.getPinnedInput(sagaId, inputHash);
  const checked = await requirePlan(plan, await toolsOf(store, plan), { input, evaluate });
  const steps = [...kept, ...checked.slice(cursor)];
  const { planHash } = pinSteps(steps);
  return {
    pinned: { sagaId, planHash, inputHash, input, steps },
    plan: {
      planHash,
      stepCount: steps.length,
      replaces: planHashAt(head, state, Math.max(0, cursor), state.epoch),
    },
  };
};
