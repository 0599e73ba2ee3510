import * as z from 'zod';
import { id } from '../../contract/fields.ts';
import { commitments } from '../../contract/workspace-inputs.ts';
import type { PlanStep } from '../../core/saga/model/plan.ts';
import { defineTemplate } from './define-template.ts';
import { round } from './round.ts';

/** A plan has no loops, so the rounds are written out. */
const MOST_ROUNDS = 3;

export const assignmentFields = {
  task: z.string().min(1).max(4096).describe('what the agent is to do'),
  commitments: commitments().describe('what decides that it is done'),
  maxRounds: z.int().min(1).max(MOST_ROUNDS).describe('how often the agent may try before a person is asked'),
};

const nameOf = (at: number): string => `round${at}`;

/** Whether one of the rounds before this one was verified. */
const isDone = (before: readonly string[]): string =>
  `'COMPLETED' in [${before.map((name) => `steps.${name}.result.status`).join(', ')}]`;

/** What the last round that there was ended with. */
const guidanceOf = (before: readonly string[]): string =>
  before.length === 0
    ? '""'
    : `$string([${before.map((name) => `steps.${name}.result.error.message`).join(', ')}][-1])`;

const inputAt = (at: number, before: readonly string[]): string =>
  `$merge([input, {"round": ${at}, "guidance": ${guidanceOf(before)}}])`;

const roundStep = (at: number): PlanStep => {
  const before = Array.from({ length: at - 1 }, (_, index) => nameOf(index + 1));
  const made = inputAt(at, before);
  return {
    id: nameOf(at),
    each:
      at === 1 ? `{% [${made}] %}` : `{% (input.maxRounds < ${at} or ${isDone(before)}) ? [] : [${made}] %}`,
    plan: round(),
    onBranchFailure: 'report',
  };
};

const ROUNDS = Array.from({ length: MOST_ROUNDS }, (_, index) => nameOf(index + 1));
const RESULTS = [...ROUNDS, 'escalate'].map((name) => `steps.${name}.result`).join(', ');

/**
 * An agent works in its workspace until the commitments are kept there. Work that does not keep them is taken back, and the next
 * round is told why. After the last one a person says whether there is one more.
 */
export const assignment = defineTemplate({
  name: 'assignment',
  version: '1.0.0',
  description:
    'Has an agent do a task in its workspace, and verifies it; work that fails is taken back and tried again with guidance, then a person is asked.',
  input: z.strictObject({
    sessionId: id.describe('the workspace of the agent'),
    ...assignmentFields,
  }),
  plan: {
    steps: [
      {
        id: 'assign',
        tool: 'checkpoint_workspace',
        arguments: {
          sessionId: '{% input.sessionId %}',
          message: { role: 'user', text: '{% input.task %}' },
        },
      },
      ...ROUNDS.map((_, index) => roundStep(index + 1)),
      {
        id: 'escalate',
        each: `{% ${isDone(ROUNDS)} ? [] : [${inputAt(MOST_ROUNDS + 1, ROUNDS)}] %}`,
        plan: round({ isAsked: true }),
      },
    ],
    output: `{% ([${RESULTS}])[status = 'COMPLETED'].output %}`,
  },
});
