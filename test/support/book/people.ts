/** What people do: they answer, cancel, undo, rewind, park, close, and repair what could not be taken back. Sane or not. */

import { idempotencyKey } from '../../../core/saga/model/keys.ts';
import { createDescribe } from '../../../core/saga/view/describe.ts';
import type { memorySagaStore } from '../../../kit/testing/memory-saga-store.ts';
import type { sagaMachine } from '../../../kit/testing/saga-machine.ts';
import type { VirtualClock } from '../../../kit/testing/virtual-clock.ts';
import type { Agent, Ask } from './agents.ts';
import type { Book } from './effects.ts';
import type { Random } from './random.ts';

interface PeopleDependencies {
  random: Random;
  machine: ReturnType<typeof sagaMachine>;
  memory: ReturnType<typeof memorySagaStore>;
  clock: VirtualClock;
  agent: Agent;
  book: Book;
  ask: Ask;
  problem: (text: string) => void;
}

/** So that a world ends. */
const MOST_REWINDS = 4;
const MOST_UNDOS = 3;

export const createPeople = (dependencies: PeopleDependencies) => {
  const { random, machine, memory, clock, agent, book, ask, problem } = dependencies;
  const describe = createDescribe({ store: memory.store, clock });
  let rewinds = 0;
  let undos = 0;

  /** Answers what the saga waits for. Sometimes a second person says the opposite, and must be refused. */
  const answer = async (sagaId: string): Promise<boolean> => {
    const awaiting = (await ask(describe(sagaId)))?.awaiting;
    if (awaiting === undefined) return false;
    const { step: stepId, epoch, argumentsHash } = awaiting;
    const decision = random.chance(0.8) ? 'approve' : 'reject';
    const request = { sagaId, stepId, ...(epoch && { epoch }), ...(argumentsHash && { argumentsHash }) };
    const first = await ask(machine.answer({ ...request, decision, by: 'rita' }));
    const isRecorded = (await memory.store.listEntries(sagaId)).some(
      (entry) =>
        entry.direction === 'approval' &&
        entry.step === stepId &&
        entry.epoch === (epoch ?? 0) &&
        entry.status === (decision === 'approve' ? 'approved' : 'declined'),
    );
    if (first !== undefined && !isRecorded) problem(`${sagaId}/${stepId}: ${decision} is not in the ledger`);
    if (random.chance(0.3)) {
      const opposite = decision === 'approve' ? 'reject' : 'approve';
      const second = await ask(machine.answer({ ...request, decision: opposite, by: 'bob' }));
      if (first !== undefined && second !== undefined) {
        problem(`${sagaId}/${stepId} was answered with yes and with no`);
      }
    }
    return first !== undefined;
  };

  /** What the ledger says was done by hand, was done by hand at the provider. */
  const doByHand = async (sagaId: string): Promise<void> => {
    for (const entry of await memory.store.listEntries(sagaId)) {
      if (entry.direction !== 'operator' || entry.status !== 'resolved') continue;
      book.takeBackByHand(idempotencyKey(sagaId, entry.stepIndex, entry.epoch));
    }
  };

  /** Retries, resolves or skips what is left of a saga and of those below it. */
  const mend = async (sagaId: string): Promise<void> => {
    for (const left of (await ask(describe(sagaId)))?.notCompensated ?? []) {
      if (/^skipped|accepted as that/.test(left.reason)) continue;
      const place = random.next();
      const request = { sagaId: left.sagaId ?? sagaId, stepId: left.step, by: 'olga' };
      if (place < 0.4 && !left.reason.includes('irreversible')) {
        await ask(machine.operate({ ...request, action: 'retry' }));
      } else if (place < 0.7) {
        await ask(machine.operate({ ...request, action: 'resolve', evidence: 'by hand' }));
        await doByHand(request.sagaId);
      } else {
        await ask(machine.operate({ ...request, action: 'skip', evidence: 'it may stay' }));
      }
    }
    if (random.chance(0.2)) await ask(machine.operate({ sagaId, action: 'retry', by: 'olga' }));
  };

  const rewind = async (sagaId: string): Promise<void> => {
    rewinds += 1;
    if (rewinds > MOST_REWINDS) return;
    const stepId = random.chance(0.5)
      ? `s${random.between(0, 2)}`
      : `i${random.between(0, agent.lastStep())}`;
    await ask(
      machine.rewind({
        sagaId,
        to: random.chance(0.7) ? { steps: random.between(1, 3) } : { stepId },
        requestId: `rewind${random.chance(0.2) ? 1 : rewinds}`,
        by: 'rita',
        guidance: 'another way',
        acceptResidue: random.chance(0.6),
        reason: 'it may stay',
      }),
    );
  };

  const undo = async (sagaId: string): Promise<void> => {
    undos += 1;
    if (undos > MOST_UNDOS) return;
    const acceptResidue = random.chance(0.6);
    await ask(
      machine.operate({ sagaId, action: 'undo', by: 'olga', acceptResidue, evidence: 'it may stay' }),
    );
  };

  const park = async (sagaId: string): Promise<void> => {
    const session = random.chance(0.5) ? { sessionId: 'mine' } : {};
    await ask(machine.park({ sagaId, summary: 'later', checkpoint: false, ...session }));
  };

  const close = async (sagaId: string, complete = 0.5): Promise<void> => {
    await ask(machine.close({ sagaId, outcome: random.chance(complete) ? 'complete' : 'unwind' }));
  };
  const resume = async (sagaId: string): Promise<void> => {
    await ask(machine.operate({ sagaId, action: 'resume', by: 'olga' }));
  };

  const breakLock = async (sagaId: string): Promise<void> => {
    const resourceKey = `alone/a${random.between(1, 3)}`;
    const evidence = 'nobody uses it';
    await ask(machine.operate({ sagaId, action: 'break-lock', resourceKey, evidence, by: 'olga' }));
  };

  /** Somebody does something to some saga. */
  const meddle = async (): Promise<void> => {
    if (memory.heads.size === 0) return;
    const sagaId = random.pick([...memory.heads.keys()]);
    const place = random.next();
    if (place < 0.03) await breakLock(sagaId);
    else if (place < 0.15) await ask(machine.operate({ sagaId, action: 'cancel', by: 'olga' }));
    else if (place < 0.35) await rewind(sagaId);
    else if (place < 0.5) await undo(sagaId);
    else if (place < 0.6) await close(sagaId);
    else if (place < 0.65) await park(sagaId);
    else if (place < 0.7) await resume(sagaId);
    else if (place < 0.8) await answer(sagaId);
    else if (place < 0.9) await mend(sagaId);
    else if (memory.heads.get(sagaId)?.state.interactive !== undefined) {
      await agent.submit(sagaId, random.chance(0.3) ? 'other' : undefined);
    }
  };

  return { answer, mend, close, park, resume, meddle };
};
