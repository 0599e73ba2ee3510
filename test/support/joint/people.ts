/** What people do to sagas and to the session, sane or not. */
import { createDescribe } from '../../../core/saga/view/describe.ts';
import type { memorySagaStore } from '../../../kit/testing/memory-saga-store.ts';
import type { sagaMachine } from '../../../kit/testing/saga-machine.ts';
import type { VirtualClock } from '../../../kit/testing/virtual-clock.ts';
import type { Random } from '../book/random.ts';
import type { Stage } from '../fakes/stage.ts';
import type { Agents, Ask } from './agents.ts';
import type { Processes } from './process.ts';
import type { createRewinds } from './rewinds.ts';
import type { Views } from './views.ts';

interface PeopleDependencies {
  random: Random;
  stage: Stage;
  views: Views;
  memory: ReturnType<typeof memorySagaStore>;
  machine: ReturnType<typeof sagaMachine>;
  clock: VirtualClock;
  processes: Processes;
  agents: Agents;
  rewinds: ReturnType<typeof createRewinds>;
  isCalm: () => boolean;
  ask: Ask;
  fresh: (kind: string) => string;
  isStill: boolean;
}

/** So that a world ends. */
const MOST_REWOUND = 3;

export const createPeople = (dependencies: PeopleDependencies) => {
  const { random, stage, views, memory, machine, clock, processes, agents, rewinds } = dependencies;
  const { isCalm, ask, fresh, isStill } = dependencies;
  const describe = createDescribe({ store: memory.store, clock });
  let rewound = 0;

  const answer = async (sagaId: string): Promise<boolean> => {
    const awaiting = (await ask(`describe ${sagaId}`, () => describe(sagaId)))?.awaiting;
    if (awaiting === undefined) return false;
    const { step: stepId, epoch } = awaiting;
    const decision = isCalm() || random.chance(0.8) ? 'approve' : 'reject';
    const request = { sagaId, stepId, ...(epoch && { epoch }), decision, by: 'rita' } as const;
    return (await ask(`answer ${sagaId}`, () => machine.answer(request))) !== undefined;
  };
  const operate = async (sagaId: string, action: 'cancel' | 'retry'): Promise<void> => {
    await ask(`${action} ${sagaId}`, () => machine.operate({ sagaId, action, by: 'olga' }));
  };
  const undo = async (sagaId: string): Promise<void> => {
    const acceptResidue = random.chance(0.5);
    await ask(`undo ${sagaId}`, () =>
      machine.operate({ sagaId, action: 'undo', by: 'olga', acceptResidue, evidence: 'it may stay' }),
    );
  };
  const rewindSaga = async (sagaId: string): Promise<void> => {
    rewound += 1;
    if (rewound > MOST_REWOUND) return;
    const to = { steps: random.between(1, 3) };
    const acceptResidue = random.chance(0.5);
    const requestId = fresh('back');
    await ask(`rewind ${sagaId}`, () =>
      machine.rewind({ sagaId, to, requestId, acceptResidue, reason: 'it may stay', by: 'rita' }),
    );
  };
  const rollBack = async (): Promise<void> => {
    const { checkpointId } = random.pick(views.targets());
    const request = { checkpointId, requestId: fresh('rollback') };
    for (const _ of random.pick([['once'], ['once', 'again']]))
      await ask(`rollback to ${checkpointId}`, () =>
        processes.run((process) => stage.instance(process).rollback(request)),
      );
  };
  /** Lets stand what could not be taken back. */
  const giveUp = async (sagaId: string): Promise<void> => {
    for (const { step: stepId, reason } of (await ask(`describe ${sagaId}`, () => describe(sagaId)))
      ?.notCompensated ?? []) {
      if (/^skipped|accepted as that/.test(reason)) continue;
      await ask(`skip ${sagaId} ${stepId}`, () =>
        machine.operate({ sagaId, action: 'skip', stepId, evidence: 'it may stay', by: 'olga' }),
      );
    }
  };

  const undoMerge = async (): Promise<void> => {
    const merged = agents.entries.filter(
      ({ sagaId }) => memory.heads.get(sagaId)?.state.status === 'COMPLETED',
    );
    if (merged.length > 0) await undo(random.pick(merged).sagaId);
  };

  /** Somebody does something. */
  const meddle = async (): Promise<void> => {
    const sagas = [...memory.heads.keys()];
    const place = random.next();
    if (place < 0.25) agents.edit();
    else if (place < 0.35) await agents.checkpoint();
    else if (place < 0.4) agents.turn();
    else if (place < 0.6) await (isStill ? agents.enter : rewinds.ask)();
    else if (place < 0.65) await (isStill ? undoMerge : rollBack)();
    else if (place < 0.72) await agents.submit();
    else if (sagas.length === 0) return;
    else if (place < 0.78) await operate(random.pick(sagas), 'cancel');
    else if (place < 0.86) await undo(random.pick(sagas));
    else if (place < 0.9) await rewindSaga(random.pick(sagas));
    else if (place < 0.95) await answer(random.pick(sagas));
    else await operate(random.pick(sagas), 'retry');
  };

  return { answer, undoMerge, retry: (sagaId: string) => operate(sagaId, 'retry'), giveUp, rollBack, meddle };
};
