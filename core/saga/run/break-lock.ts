/**
 * Lets an operator take a lock from a saga that does not end. The saga goes on, and its further work on the
 * resource is no longer exclusive.
 */
import type { Asked } from '../../../contract/identity.ts';
import type { OperateSagaInput } from '../../../contract/saga-inputs.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { SagaHead } from '../model/head.ts';
import { lockOf } from '../model/permit.ts';
import type { SagaEngine, SagaStore } from '../ports.ts';
import { wakeFirst } from './hand-back.ts';
import { move } from './move.ts';

interface Dependencies {
  store: SagaStore;
  engine: SagaEngine;
  clock: Clock;
}

/**
 * The ledger of the holder records it before the lock is free. Repeating it is harmless. Throws
 * `OperationRefused` when the saga does not hold the lock.
 */
export const createBreakLock =
  (dependencies: Dependencies) =>
  async ({ sagaId, resourceKey = '', evidence = '', by }: Asked<OperateSagaInput>): Promise<SagaHead> => {
    const { store } = dependencies;
    const head = await store.getHead(sagaId);
    if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
    const semaphore = lockOf(head.project, resourceKey);
    const permit = (await store.permits.granted(semaphore)).find(({ holder }) => holder === sagaId);
    if (permit === undefined) {
      throw new WalkbackError(
        'OperationRefused',
        `Saga ${sagaId} does not hold ${resourceKey}; walkback locks list shows who does.`,
      );
    }
    const event = { type: 'break-lock' as const, semaphore, resourceKey, evidence };
    const moved = await move(dependencies, sagaId, event, by);
    await store.permits.release(permit);
    await wakeFirst(dependencies, semaphore);
    return moved.head;
  };
