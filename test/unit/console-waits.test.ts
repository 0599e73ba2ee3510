/** The line of a saga's page that says what it does or waits for: for every state that an observation may have. */
import { expect, test } from 'vitest';
import { waitPart } from '../../console/parts/waits.ts';
import { type Observation, observation } from '../../contract/saga-observation.ts';
import { observed } from '../support/observed.ts';

const UNTIL = '2026-01-02T11:30:00.000Z';

const seen = (more: Partial<Observation>): Observation => observation().parse(observed(more));

/** As a person reads it. */
const words = async (more: Partial<Observation>): Promise<string> =>
  String(await waitPart(seen(more)))
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const turn = (more: Partial<NonNullable<Observation['interactive']>>) => ({
  interactive: { what: 'next-step', onIdle: 'unwind', ...more } as const,
});

const call = { step: 'pay', tool: 'issue_refund', until: UNTIL } as const;

test.each([
  [turn({}), 'Waits for its next step; then what it did is taken back.'],
  [
    turn({ until: UNTIL, step: 'pay', onIdle: 'ask' }),
    'Waits for its next step, after pay until 2026-01-02 11:30 UTC; then people are asked.',
  ],
  [
    turn({ asked: true, onIdle: 'ask' }),
    'Waits for its next step. None came in time, and people were asked: its agent goes on, or somebody has it taken back.',
  ],
  [turn({ what: 'parked' }), 'Put aside until somebody resumes it; what it did stands.'],
  [
    turn({ what: 'parked', summary: 'the customer <b>rang</b>' }),
    'Put aside until somebody resumes it; what it did stands. Whoever parked it says: the customer &lt;b&gt;rang&lt;/b&gt;',
  ],
  [{ doing: { what: 'calling', ...call } }, 'Calls issue_refund (pay) until 2026-01-02 11:30 UTC.'],
  [
    {
      doing: {
        what: 'calling',
        ...call,
        attempt: 2,
        error: { name: 'ToolError', message: 'try later' },
      },
    },
    'Calls issue_refund (pay), attempt 2 until 2026-01-02 11:30 UTC. The attempt before ended with ToolError: try later',
  ],
  [
    { doing: { what: 'asking', ...call } },
    'Asks the provider what became of issue_refund (pay) until 2026-01-02 11:30 UTC.',
  ],
  [{ doing: { what: 'compensating', ...call } }, 'Takes back issue_refund (pay) until 2026-01-02 11:30 UTC.'],
  [
    { doing: { what: 'pausing', reason: 'the provider asked for it', ...call } },
    'Pauses before issue_refund (pay): the provider asked for it until 2026-01-02 11:30 UTC.',
  ],
  [{ doing: { what: 'pausing', until: UNTIL } }, 'Pauses until 2026-01-02 11:30 UTC.'],
  [{ doing: { what: 'deciding' } }, 'Decides how to go on.'],
  [{ doing: { what: 'deciding', tool: 'issue_refund' } }, 'Decides how to go on after issue_refund.'],
  [{ doing: { what: 'waiting' } }, 'Waits for somebody else.'],
  [
    { doing: { what: 'waiting', reason: 'for its children', ...call } },
    'issue_refund (pay) waits for its children, until 2026-01-02 11:30 UTC at the latest.',
  ],
  [
    { doing: { what: 'waiting', reason: 'until its project has room for it' } },
    'Waits until its project has room for it.',
  ],
  // Its own step is what it does.
  [{ ...turn({ what: 'step' }), doing: { what: 'deciding' } }, 'Decides how to go on.'],
  [turn({ what: 'closed' }), ''],
  [{}, ''],
] as const satisfies readonly (readonly [Partial<Observation>, string])[])('%j', async (more, told) => {
  expect(await words(more)).toBe(told);
});

test('what the files did since it was put aside is a link, where its session is known', async () => {
  const parked = turn({ what: 'parked', checkpointId: 'cp-00000002-0123abcd' });
  const markup = String(await waitPart(seen({ ...parked, session: { sessionId: 'a/b' } })));
  expect(markup).toContain('href="/sessions/a%2Fb/compare?from=cp-00000002-0123abcd&amp;to=head"');
  expect(String(await waitPart(seen(parked)))).not.toContain('href');
});
