/** What comes between: others act between two calls of the store, whoever calls it dies, and callers ask again. */
import type { SagaStore } from '../../../core/saga/ports.ts';
import { isWalkbackError } from '../../../core/shared/errors.ts';
import { Crash, type sagaMachine } from '../../../kit/testing/saga-machine.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

type Machine = ReturnType<typeof sagaMachine>;

interface BetweenDependencies {
  random: Random;
  tally: Tally;
  isCalm: () => boolean;
  /** Others do something. */
  interrupt: (share: number) => Promise<void>;
}

const SHARE_AGAIN = 0.15;

export const createBetween = ({ random, tally, isCalm, interrupt }: BetweenDependencies) => {
  const acting = random.pick([0, 0.01, 0.04]);
  const dying = random.pick([0, 0.01, 0.03]);

  const mayDie = (): void => {
    if (isCalm() || !random.chance(dying)) return;
    tally.count('died');
    throw new Crash();
  };
  const reading =
    <Given extends unknown[], Answer>(read: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      const answer = await read(...given);
      await interrupt(acting);
      return answer;
    };
  /** It dies before it has written, or before it knows that it has. */
  const writing =
    <Given extends unknown[], Answer>(write: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      await interrupt(acting);
      mayDie();
      const answer = await write(...given);
      mayDie();
      return answer;
    };

  /** Who dies is called again with the same request, and some ask again although they have been told. */
  const insisting = <Given, Answer>(name: string, call: (given: Given) => Promise<Answer>) => {
    const untilTold = async (given: Given): Promise<Answer> => {
      for (;;) {
        try {
          return await call(given);
        } catch (error) {
          if (!(error instanceof Crash)) throw error;
        }
      }
    };
    return async (given: Given): Promise<Answer> => {
      const told = await untilTold(given);
      if (isCalm() || !random.chance(SHARE_AGAIN)) return told;
      tally.count(`again ${name}`);
      await untilTold(given).catch((error: unknown) => {
        if (!isWalkbackError(error)) throw error;
      });
      return told;
    };
  };

  return {
    store: (store: SagaStore): SagaStore => ({
      ...store,
      getHead: reading((...given) => store.getHead(...given)),
      listEntries: reading((...given) => store.listEntries(...given)),
      getToken: reading((...given) => store.getToken(...given)),
      getSubmittedStep: reading((...given) => store.getSubmittedStep(...given)),
      append: writing((...given) => store.append(...given)),
      createSaga: writing((...given) => store.createSaga(...given)),
      putToken: writing((...given) => store.putToken(...given)),
      permits: {
        ...store.permits,
        leave: writing((...given) => store.permits.leave(...given)),
        release: writing((...given) => store.permits.release(...given)),
      },
    }),
    callers: (machine: Machine): Machine => ({
      ...machine,
      start: insisting('start', machine.start),
      submit: insisting('submit', machine.submit),
      callTool: insisting('callTool', machine.callTool),
      park: insisting('park', machine.park),
      close: insisting('close', machine.close),
      answer: insisting('answer', machine.answer),
      operate: insisting('operate', machine.operate),
      rewind: insisting('rewind', machine.rewind),
    }),
  };
};
