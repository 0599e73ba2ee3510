/** Draws plans of trees, with agents, failures and compensators that refuse, and what happens to them. */
import * as fc from 'fast-check';
import type { BranchFailure } from '../../core/saga/model/children.ts';
import type { Plan, PlanStep } from '../../core/saga/model/plan.ts';
import { agentStep } from './tree-agent.ts';
import type { Happening } from './tree-matrix.ts';
import { put } from './tree-saga.ts';

type Drawn =
  | { kind: 'put'; key: string; fail: boolean; stuck: boolean }
  | { kind: 'look' }
  | { kind: 'saga'; steps: Drawn[] }
  | { kind: 'branches'; branches: Drawn[][]; policy: BranchFailure }
  | { kind: 'each'; count: number; steps: Drawn[] }
  | { kind: 'agent'; fails: boolean[]; key: string; stuck: boolean; givesUp: boolean };

const rarely = (one: number) => fc.integer({ min: 0, max: one }).map((n) => n === 0);
const policy = fc.constantFrom<BranchFailure>('sharing', 'all', 'isolate', 'report');
const leaf: fc.Arbitrary<Drawn> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      key: fc.constantFrom('x', 'y', 'z'),
      fail: rarely(9),
      stuck: rarely(9),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Drawn>({ kind: 'look' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('agent' as const),
      fails: fc.array(rarely(9), { maxLength: 3 }),
      key: fc.constantFrom('x', 'y', 'z'),
      stuck: rarely(9),
      givesUp: rarely(5),
    }),
  },
);
export const stepsAt = (levels: number): fc.Arbitrary<Drawn[]> =>
  fc.array(
    levels === 0
      ? leaf
      : fc.oneof({ weight: 2, arbitrary: leaf }, { weight: 1, arbitrary: childrenAt(levels) }),
    { minLength: 1, maxLength: 3 },
  );
const childrenAt = (levels: number): fc.Arbitrary<Drawn> =>
  fc.oneof(
    fc.record({ kind: fc.constant('saga' as const), steps: stepsAt(levels - 1) }),
    fc.record({
      kind: fc.constant('branches' as const),
      branches: fc.array(stepsAt(levels - 1), { minLength: 1, maxLength: 3 }),
      policy,
    }),
    fc.record({
      kind: fc.constant('each' as const),
      count: fc.integer({ min: 0, max: 3 }),
      steps: stepsAt(levels - 1),
    }),
  );

export const planOf = (steps: readonly Drawn[]): Plan => ({
  steps: steps.map((step, at): PlanStep => {
    const id = `s${at}`;
    switch (step.kind) {
      case 'put':
        return put(id, step);
      case 'agent': {
        const { fails, givesUp, key, stuck } = step;
        return agentStep(id, { steps: fails.map((fail, n) => put(`w${n}`, { key, fail, stuck })), givesUp });
      }
      case 'look':
        return { id, tool: 'look', arguments: {} };
      case 'saga':
        return { id, saga: { plan: planOf(step.steps) } };
      case 'branches':
        return {
          id,
          branches: step.branches.map((one, place) => ({ id: `b${place}`, plan: planOf(one) })),
          onBranchFailure: step.policy,
        };
      case 'each':
        return { id, each: `{% [1..${step.count}] %}`, plan: planOf(step.steps) };
    }
  }),
});

export const happenings = fc.array(
  fc.record({
    call: fc.integer({ min: 2, max: 250 }),
    deed: fc.constantFrom<Happening['deed']>('dies before', 'dies after', 'dies after', 'is cancelled'),
  }),
  { maxLength: 3 },
);
