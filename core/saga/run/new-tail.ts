/** Pins the plan that a rewound saga goes on with: the steps that stay, and new ones after them (S8). */
import type { Json } from '../../../contract/json.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { planHashAt } from '../decide/plan-in-force.ts';
import type { SagaHead } from '../model/head.ts';
import type { PinnedStep, PlanStep } from '../model/plan.ts';
import { parsePlan } from '../plan/catalog.ts';
import { pinSteps } from '../plan/pinned-steps.ts';
import { requirePlan } from '../plan/plan-validation.ts';
import { readCatalog } from '../plan/read-catalog.ts';
import type { Evaluate, SagaStore } from '../ports.ts';
import { readingOf } from '../prepare/reading.ts';

const refuse = (message: string): never => {
  throw new WalkbackError('PlanRefused', message);
};

const asPlanned = (step: PinnedStep): PlanStep => {
  if (step.kind === 'children') {
    return refuse(
      `plan: step ${step.id}, which stays, runs sagas; such a saga is rewound without another plan, or to before that step`,
    );
  }
  const { id, tool, version, arguments: given, approval } = step;
  return { id, tool, version, arguments: given, ...(approval === undefined ? {} : { approval }) };
};

/**
 * The whole plan is checked, so that references and the place of irreversible steps are right over both
 * parts. The steps that stay are kept as they were pinned. Throws `PlanRefused`.
 */
export const newTail = async (
  { store, evaluate }: { store: SagaStore; evaluate: Evaluate },
  head: SagaHead,
  cursor: number,
  given: Json,
) => {
  const { sagaId, state, inputHash } = head;
  if (state.interactive !== undefined) {
    return refuse(
      `plan: saga ${sagaId} has none, because its steps are submitted; rewind it without a plan, then submit other steps`,
    );
  }
  const reading = readingOf(store, head);
  const kept: PinnedStep[] = [];
  for (let index = 0; index < cursor; index += 1) kept.push(await reading.step(index, state));
  if (typeof given !== 'object' || given === null || Array.isArray(given) || !Array.isArray(given['steps'])) {
    return refuse('plan: shape: steps must be a list of steps');
  }
  if (state.output === true || 'output' in given) {
    return refuse('plan: output: a saga that declares its output is rewound without another plan');
  }
  const plan = parsePlan({ ...given, steps: [...kept.map(asPlanned), ...given['steps']] });
  const input = await store.getPinnedInput(sagaId, inputHash);
  const { lookup, definitions } = await readCatalog(store, plan);
  const checked = await requirePlan(plan, lookup, { input, evaluate }, { definitions });
  const steps = [...kept, ...checked.steps.slice(cursor)];
  const { planHash } = pinSteps(steps);
  return {
    pinned: { sagaId, planHash, inputHash, input, steps, plans: checked.plans },
    plan: {
      planHash,
      stepCount: steps.length,
      replaces: planHashAt(head, state, Math.max(0, cursor), state.epoch),
    },
  };
};
