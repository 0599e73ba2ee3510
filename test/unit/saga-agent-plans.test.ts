/** Plans with a step that an agent does: what is refused, and how they are read. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../contract/json.ts';
import type { Plan } from '../../core/saga/model/plan.ts';
import { parsePlan } from '../../core/saga/plan/catalog.ts';
import { checkPlan } from '../../core/saga/plan/plan-validation.ts';
import { lookup, rules, step } from '../support/plan-tools.ts';
import { parsedAgentStep } from '../support/tree-agent.ts';

describe('a plan with a step for an agent is refused', () => {
  const pay = step('pay', 'pay');
  const nested = (levels: number): Plan =>
    levels === 0
      ? { steps: [parsedAgentStep()] }
      : { steps: [{ id: 'down', saga: { plan: nested(levels - 1) } }] };
  test.each<[string, Plan, string[]]>([
    [
      'a tool allowed that the catalog does not have',
      { steps: [parsedAgentStep({ allowIrreversible: ['none'] })] },
      ['work: unknown-tool'],
    ],
    [
      'irreversible without an approval, and a step after it that may have to be undone',
      { steps: [parsedAgentStep({ allowIrreversible: ['mail'] }), pay] },
      ['work: irreversible-before-compensatable'],
    ],
    [
      'something irreversible before it, for what it does may have to be undone',
      { steps: [step('mail', 'mail'), parsedAgentStep()] },
      ['mail: irreversible-before-compensatable'],
    ],
    [
      'an input that names a later step',
      { steps: [parsedAgentStep({}, { input: '{% steps.pay.result %}' }), pay] },
      ['work: later-reference'],
    ],
    [
      'an input that is too large',
      { steps: [parsedAgentStep({}, { input: 'x'.repeat(33_000) })] },
      ['work: arguments-too-large'],
    ],
    ['six levels', nested(4), ['down/down/down/down/work: too-deep']],
  ])('%s', async (_, plan, expected) => {
    expect(await rules(plan, {})).toEqual(expected);
  });

  test('but not for a tool that it allows and that can be taken back by now', async () => {
    expect(await rules({ steps: [parsedAgentStep({ allowIrreversible: ['pay', 'mail'] })] }, {})).toEqual([]);
  });

  test('unless it is gated: by an approval of the step, or of each irreversible step in it', async () => {
    const approval = { timeoutSeconds: 60 };
    expect(
      await rules({ steps: [parsedAgentStep({ allowIrreversible: ['mail'] }, { approval }), pay] }, {}),
    ).toEqual([]);
    expect(await rules({ steps: [parsedAgentStep(), pay] }, {})).toEqual([]);
    expect(await rules(nested(3), {})).toEqual([]);
  });

  test.each<[string, JsonObject, RegExp]>([
    ['without onIdle', { id: 'work', interactive: {} }, /step 0: shape: .*onIdle/],
    [
      'with another key that says a kind',
      { id: 'work', interactive: { onIdle: 'ask' }, tool: 'pay', arguments: {} },
      /one of the keys tool, saga, branches, each, interactive/,
    ],
    [
      'with an output, which the agent gives',
      { id: 'work', interactive: { onIdle: 'ask' }, output: 1 },
      /output/,
    ],
    [
      'with an idle time of a second',
      { id: 'work', interactive: { onIdle: 'ask', idleTimeoutSeconds: 1 } },
      /idleTimeoutSeconds/,
    ],
  ])('%s', (_, given, message) => {
    expect(() => parsePlan({ steps: [given] })).toThrow(
      expect.objectContaining({ name: 'PlanRefused', message: expect.stringMatching(message) }),
    );
  });

  test('a plan with a key that no plan has is told without a gap where a path would be', () => {
    expect(() => parsePlan({ steps: [{ id: 'pay', tool: 'pay', arguments: {} }], allow: ['pay'] })).toThrow(
      'plan: shape: Unrecognized key: "allow"',
    );
  });

  test('its rules are pinned with the plan', async () => {
    const { steps } = await checkPlan({ steps: [parsedAgentStep()] }, lookup);
    expect(steps).toMatchObject([
      {
        kind: 'children',
        tool: 'interactive',
        effect: 'compensatable',
        children: [
          {
            branch: 'work',
            stepCount: 0,
            interactive: { onIdle: 'unwind', idleTimeoutSeconds: 3600, approvalTimeoutSeconds: 86_400 },
          },
        ],
      },
    ]);
  });
});
