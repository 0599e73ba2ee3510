/** Who may answer, and what the ledger keeps of who did. */
import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { observationText } from '../../cli/view/saga-views.ts';
import type { Actor, Person } from '../../contract/identity.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { fromRow, toRow } from '../../core/saga/ledger/ledger-row.ts';
import { createIdentify, FRESH_SECONDS, type Proven } from '../../core/saga/people/identify.ts';
import type { ChildrenPlanStep } from '../../core/saga/plan/plan-children.ts';
import { SESSION } from '../support/fakes/stage.ts';
import { committed, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';
import { rewindStage } from '../support/session-rewind.ts';

const PERSON: Person = { iss: 'https://id.example', sub: 'u-1', email: 'rita@example.com' };

const identifyWith = (proven: Partial<Proven> = {}, requireVerifiedApprover = false) =>
  createIdentify(
    {
      verifier: { verify: async () => ({ person: PERSON, roles: ['reviewer'], ...proven }) },
      requireVerifiedApprover,
    },
    ['reviewer'],
  );

describe('who asks', () => {
  test('a claim is a name, and the rest of the request stays', async () => {
    expect(await identifyWith()({ sagaId: 's', by: 'ada' })).toEqual({ sagaId: 's', by: 'ada' });
  });

  test('a proof is a person, whatever is claimed beside it, and goes no further', async () => {
    const asked = await identifyWith()({ sagaId: 's', by: 'boss', proof: 'token' });
    expect(asked).toEqual({ sagaId: 's', by: { name: 'rita@example.com', person: PERSON } });
  });

  test('a person without an address has the name that the issuer knows', async () => {
    const person = { iss: PERSON.iss, sub: 'u-1' };
    expect(await identifyWith({ person })({ proof: 'token' })).toMatchObject({ by: { name: 'u-1' } });
  });

  test.each([{ sub: 'engine' }, { sub: ' engine ' }, { sub: 'u-1', email: 'engine' }])(
    'nobody is the engine, also not whom an issuer calls so: %j',
    async (named) => {
      const person = { iss: PERSON.iss, ...named };
      await expect(identifyWith({ person })({ proof: 'token' })).rejects.toMatchObject({
        name: 'ProofInvalid',
      });
    },
  );

  test.each([[[]], [['operator']]] as const)('roles %j are RoleMissing', async (roles) => {
    await expect(identifyWith({ roles })({ proof: 'token' })).rejects.toMatchObject({ name: 'RoleMissing' });
  });

  test('where proofs are required a claim is ProofRequired', async () => {
    await expect(identifyWith({}, true)({ by: 'ada' })).rejects.toMatchObject({ name: 'ProofRequired' });
    expect(await identifyWith({}, true)({ proof: 'token' })).toMatchObject({ by: { person: PERSON } });
  });

  test('a proof where nothing can be verified is never taken for a claim', async () => {
    const identify = createIdentify({ requireVerifiedApprover: false }, ['reviewer']);
    await expect(identify({ by: 'ada', proof: 'token' })).rejects.toMatchObject({
      name: 'ConfigurationError',
    });
  });
});

const asking = async (
  effect: 'compensatable' | 'irreversible',
  act: (saga: Awaited<ReturnType<typeof scriptedSaga>>, nowMs: number) => Promise<unknown>,
) => {
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', effect)],
    steps: [{ id: 'pay', tool: 'pay', arguments: { amount: 1 }, approval: { timeoutSeconds: 3600 } }],
    answer: () => committed(),
    onAwait: async () => {
      await act(saga, saga.clock.now().getTime());
      return true;
    },
  });
  await saga.run();
  return saga.seen();
};

const person = (more: Partial<Person> = {}): Actor => ({
  name: more.email ?? PERSON.email ?? '',
  person: { ...PERSON, ...more },
});
const signedIn = (nowMs: number, secondsAgo: number): Actor =>
  person({ authTime: new Date(nowMs - secondsAgo * 1000).toISOString() });
const approve = { sagaId: SAGA, stepId: 'pay', decision: 'approve' as const };

const MAIL = { id: 'mail', tool: 'mail', arguments: {} };
const PAY = { id: 'pay', tool: 'pay', arguments: {} };

/** The names of the errors that somebody meets who signed in long ago, and then again just now, and approves this step. */
const freshlyAsked = async (step: ChildrenPlanStep): Promise<(string | undefined)[]> => {
  const names: (string | undefined)[] = [];
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable'), scriptedTool('mail', 'irreversible')],
    steps: [step],
    answer: () => committed(),
    onAwait: async ({ sagaId, step: stepId }) => {
      if (sagaId !== SAGA) return false;
      for (const secondsAgo of [FRESH_SECONDS + 1, 0]) {
        const by = signedIn(saga.clock.nowMs(), secondsAgo);
        const asked = saga.machine.answer({ sagaId, stepId, decision: 'approve', by });
        names.push(
          await asked.then(
            () => undefined,
            (error: unknown) => (error instanceof Error ? error.name : String(error)),
          ),
        );
      }
      return true;
    },
  });
  await saga.run();
  return names;
};

describe('an approval', () => {
  test('keeps the person in the entry, under its hash, and tells who it was', async () => {
    const answers: unknown[] = [];
    const { entries, isSound, state, observation } = await asking('compensatable', async ({ machine }) => {
      answers.push(await machine.answer({ ...approve, by: person({ tokenId: 't-1' }) }));
      answers.push(await machine.answer({ ...approve, by: 'a second one' }));
    });
    expect(state.status).toBe('COMPLETED');
    expect(isSound).toBe(true);
    const entry = entries.find(({ status }) => status === 'approved');
    expect(entry).toMatchObject({ actor: 'rita@example.com', person: { ...PERSON, tokenId: 't-1' } });
    for (const answered of answers) {
      expect(answered).toMatchObject({ answered: { by: 'rita@example.com', person: { sub: 'u-1' } } });
    }
    const row = entry === undefined ? undefined : toRow(entry);
    expect(row?.detail).toContain('"sub":"u-1"');
    expect(row?.proof).toBe('https://id.example u-1');
    expect(row === undefined ? undefined : fromRow(row)).toEqual(entry);
    // Not only while it waits: a completed saga says who approved it, and how that was proven.
    expect(observation.approvals).toEqual([
      {
        step: 'pay',
        decision: 'approved',
        by: 'rita@example.com',
        proof: 'https://id.example u-1',
        at: entry?.at,
      },
    ]);
    const lines = observationText(observation, createPaint(false), 200);
    expect(lines).toMatch(/pay was approved by rita@example\.com at .*, proven by https:\/\/id\.example u-1/);
  });

  test('that is claimed keeps no person', async () => {
    const { entries, observation } = await asking('compensatable', ({ machine }) =>
      machine.answer({ ...approve, by: 'ada' }),
    );
    const entry = entries.find(({ status }) => status === 'approved');
    expect(entry).toMatchObject({ actor: 'ada' });
    expect(entry).not.toHaveProperty('person');
    expect(observation.approvals).toMatchObject([{ by: 'ada', proof: 'claimed' }]);
    const lines = observationText(observation, createPaint(false), 200);
    expect(lines).toMatch(/pay was approved by ada at .*, a name that nobody proved/);
    // Nobody is behind what Walkback itself wrote.
    expect(entries.map(toRow).map(({ actor, proof }) => `${actor} ${proof}`)).toEqual(
      entries.map(({ actor }) => (actor === 'engine' ? 'engine null' : `${actor} claimed`)),
    );
  });

  test('that was declined says who did', async () => {
    const { observation } = await asking('compensatable', ({ machine }) =>
      machine.answer({ ...approve, decision: 'reject', by: person() }),
    );
    expect(observation.approvals).toMatchObject([{ decision: 'declined', proof: 'https://id.example u-1' }]);
  });

  test.each([
    { by: person(), proof: 'https://id.example u-1', says: 'proven by https://id.example u-1' },
    { by: 'ada', proof: 'claimed', says: 'a name that nobody proved' },
  ])(
    'that was declined, a cancel and a rewind say how their name is proven: $proof',
    async ({ by, proof, says }) => {
      const told = (observation: Observation) => observationText(observation, createPaint(false), 300);
      const declined = await asking('compensatable', ({ machine }) =>
        machine.answer({ ...approve, decision: 'reject', by }),
      );
      expect(declined.observation.failed).toMatchObject({ error: { name: 'ApprovalDeclined' }, proof });
      expect(told(declined.observation)).toContain(`, ${says}: no reason given`);

      const saga = await scriptedSaga({
        tools: [scriptedTool('pay', 'compensatable')],
        answer: () => committed(),
      });
      await saga.run();
      await saga.machine.rewind({ sagaId: SAGA, requestId: 'r', to: { steps: 1 }, guidance: 'Less.', by });
      const { observation } = await saga.seen();
      expect(observation).toMatchObject({ guidance: { text: 'Less.', proof }, rewind: { proof } });
      expect(observation.failed).toMatchObject({ error: { name: 'Rewound' }, proof });
      expect(told(observation)).toContain(`, ${says}, says: Less.`);
      expect(told(observation)).toMatch(`its beginning, by ${observation.rewind?.by}, ${says}`);
      await saga.machine.operate({ sagaId: SAGA, action: 'cancel', by, evidence: 'No more.' });
      await saga.machine.settle();
      const cancelled = (await saga.seen()).observation;
      expect(cancelled.failed).toMatchObject({ error: { name: 'Cancelled' }, proof, reason: 'No more.' });
      expect(told(cancelled)).toContain(`, ${says}: No more.`);
    },
  );

  test('changed in the person is seen by the chain', async () => {
    const { entries, head } = await asking('compensatable', ({ machine }) =>
      machine.answer({ ...approve, by: person() }),
    );
    const { findChainBreak } = await import('../../core/saga/entries/hash-chain.ts');
    const forged = entries.map((entry) =>
      entry.person === undefined ? entry : { ...entry, person: { ...entry.person, sub: 'u-2' } },
    );
    expect(findChainBreak(forged, head)).toMatchObject({ reason: 'altered' });
  });

  test.each(['email', 'sub'] as const)('by who started the saga (%s) is SamePerson', async (name) => {
    const me = name === 'sub' ? { sub: 'ME' } : { email: 'Me' };
    await asking('compensatable', async ({ machine }) => {
      await expect(machine.answer({ ...approve, by: person(me) })).rejects.toMatchObject({
        name: 'SamePerson',
      });
      // Whoever asked may well take it back.
      await machine.answer({ ...approve, decision: 'reject', by: person(me) });
    });
  });

  test.each([
    ['of its own', { id: 'more', tool: 'pay', arguments: {}, approval: { timeoutSeconds: 3600 } }, true],
    [
      'of a saga below',
      { id: 'more', saga: { plan: { steps: [{ ...PAY, approval: { timeoutSeconds: 3600 } }] } } },
      true,
    ],
    ['that was there before', undefined, false],
  ])('by who brought the step with a rewind is SamePerson: a step %s', async (_, step, isTheirs) => {
    const names: (string | undefined)[] = [];
    let rewound = false;
    const saga = await scriptedSaga({
      tools: [scriptedTool('pay', 'compensatable')],
      steps: [
        { id: 'first', tool: 'pay', arguments: {} },
        { ...PAY, approval: { timeoutSeconds: 3600 } },
      ],
      answer: () => committed(),
      onAwait: async ({ sagaId, step: stepId }) => {
        const { epoch } = (await saga.store.getHead(sagaId))?.state ?? {};
        if (!rewound) {
          rewound = true;
          const asked = { sagaId: SAGA, requestId: 'r', to: { stepId: 'first' }, by: person() };
          await saga.machine.rewind({ ...asked, ...(step === undefined ? {} : { plan: { steps: [step] } }) });
          return false;
        }
        for (const by of [person(), person({ sub: 'u-2', email: 'ben@example.com' })]) {
          const asked = { sagaId, stepId, decision: 'approve' as const, by, ...(epoch ? { epoch } : {}) };
          names.push(
            await saga.machine.answer(asked).then(
              () => undefined,
              (error: unknown) => (error instanceof Error ? error.name : String(error)),
            ),
          );
        }
        return true;
      },
    });
    await saga.run();
    expect(names).toEqual([isTheirs ? 'SamePerson' : undefined, undefined]);
    const { state, isSound } = await saga.seen();
    expect([state.status, isSound]).toEqual(['COMPLETED', true]);
  });

  test('of what nothing takes back needs somebody who has just signed in', async () => {
    const { state } = await asking('irreversible', async ({ machine }, nowMs) => {
      const old = [signedIn(nowMs, FRESH_SECONDS + 1), person()];
      for (const by of old) {
        await expect(machine.answer({ ...approve, by })).rejects.toMatchObject({ name: 'ProofTooOld' });
      }
      await machine.answer({ ...approve, by: signedIn(nowMs, FRESH_SECONDS) });
    });
    expect(state.status).toBe('COMPLETED');
  });

  test.each<[string, ChildrenPlanStep]>([
    ['a child', { id: 'pay', saga: { plan: { steps: [MAIL] } } }],
    [
      'a child of a child',
      { id: 'pay', saga: { plan: { steps: [{ id: 'in', saga: { plan: { steps: [MAIL] } } }] } } },
    ],
    [
      'one of the branches',
      {
        id: 'pay',
        branches: [
          { id: 'a', plan: { steps: [PAY] } },
          { id: 'b', plan: { steps: [MAIL] } },
        ],
      },
    ],
    ['each', { id: 'pay', each: '{% [1, 2] %}', plan: { steps: [MAIL] } }],
    ['an agent', { id: 'pay', interactive: { onIdle: 'unwind', allowIrreversible: ['mail'] } }],
  ])('of a step that lets %s do it needs that too', async (_, step) => {
    const names = await freshlyAsked({ ...step, approval: { timeoutSeconds: 3600 } });
    expect(names).toEqual(['ProofTooOld', undefined]);
  });

  test('of a step whose sagas can be taken back, or ask themselves, does not need it', async () => {
    const asks = { ...MAIL, approval: { timeoutSeconds: 3600 } };
    const step = { id: 'pay', saga: { plan: { steps: [PAY, asks] } }, approval: { timeoutSeconds: 3600 } };
    expect(await freshlyAsked(step)).toEqual([undefined, undefined]);
  });

  test('of other arguments than were shown is AnswerConflict', async () => {
    const { state } = await asking('compensatable', async (saga) => {
      const { awaiting } = (await saga.seen()).observation;
      const by = person();
      await expect(
        saga.machine.answer({ ...approve, by, argumentsHash: 'a'.repeat(64) }),
      ).rejects.toMatchObject({ name: 'AnswerConflict' });
      expect(awaiting?.argumentsHash).toMatch(/^[0-9a-f]{64}$/);
      await saga.machine.answer({ ...approve, by, argumentsHash: awaiting?.argumentsHash ?? '' });
    });
    expect(state.status).toBe('COMPLETED');
  });
});

describe('leaving behind what nothing takes back', () => {
  const finished = async () => {
    const saga = await scriptedSaga({
      tools: [scriptedTool('ship', 'irreversible')],
      answer: () => committed(),
    });
    await saga.run();
    return saga;
  };

  test.each([true, false])('needs somebody who has just signed in (undo: %s)', async (isUndo) => {
    const saga = await finished();
    const ask = (by: Actor) =>
      isUndo
        ? saga.machine.operate({
            sagaId: SAGA,
            action: 'undo',
            acceptResidue: true,
            evidence: 'it may stay',
            by,
          })
        : saga.machine.rewind({
            sagaId: SAGA,
            to: { steps: 1 },
            requestId: 'r',
            acceptResidue: true,
            reason: 'it may stay',
            by,
          });
    const nowMs = saga.clock.now().getTime();
    await expect(ask(signedIn(nowMs, FRESH_SECONDS + 1))).rejects.toMatchObject({ name: 'ProofTooOld' });
    expect((await saga.seen()).state.status).toBe('COMPLETED');
    await ask(signedIn(nowMs, 1));
    expect((await saga.seen()).state.status).not.toBe('COMPLETED');
  });

  test('needs that by a rewind of a session too, before anything is written', async () => {
    const session = await rewindStage({ mailed: true });
    const nowMs = session.sagas.clock.now().getTime();
    const ask = (seconds: number, more: object = {}) =>
      session.rewind({ acceptResidue: true, reason: 'it may stay', by: signedIn(nowMs, seconds), ...more });
    await expect(ask(FRESH_SECONDS + 1)).rejects.toMatchObject({ name: 'ProofTooOld' });
    expect(await session.sagas.store.getRewind(SESSION, 'rw')).toBeUndefined();
    expect(session.stage.session().epoch).toBe(1);
    // Who only looks at the plan does nothing.
    expect((await ask(FRESH_SECONDS + 1, { dryRun: true })).status).toBe('PLANNED');
    expect((await ask(1)).status).toBe('UNDOING');
    // What was begun goes on, however long it takes.
    expect((await ask(FRESH_SECONDS + 1)).status).toBe('UNDOING');
  });
});
