/**
 * Tells the machine about what is in the ledger by now. When that fails, the record stands and the sweeper
 * goes on with the saga. So it is a warning: an error would say that nothing was decided.
 */
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import { isWalkbackError, type WalkbackError } from '../../shared/errors.ts';
import type { Log } from '../../shared/surroundings.ts';

/** What driving a saga inside a function came to. */
export interface DrivenSaga {
  status: SagaStatus | undefined;
  warnings: string[];
}

interface Means {
  log?: Log;
}

const telling =
  (isWarning: (error: WalkbackError) => boolean) =>
  async ({ log }: Means, sagaId: string, tell: () => Promise<unknown>): Promise<string[]> => {
    try {
      await tell();
      return [];
    } catch (error) {
      if (!isWalkbackError(error) || !isWarning(error)) throw error;
      const { name, message } = error;
      log?.warn('saga was not told', { sagaId, reason: `${name}: ${message}` });
      return [
        `It is recorded and stands, but saga ${sagaId} could not be told now. The sweeper tells it, usually within two minutes. ${name}: ${message}`,
      ];
    }
  };

/** Every failure is a warning. */
export const tellMachine = telling(() => true);

/** For a start: a passing failure is thrown, because the same request again makes up for it at once. */
export const tellUnlessPassing = telling(({ retryable }) => !retryable);

/** For an answer that names warnings only when there are any. */
export const warned = (warnings: readonly string[]): { warnings?: string[] } =>
  warnings.length === 0 ? {} : { warnings: [...warnings] };
