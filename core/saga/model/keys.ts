/** Names that sagas derive: idempotency keys, ids of children, names of executions. Pure. */
import { sha256Hex } from '../../shared/ids.ts';

/**
 * The key that a provider sees: `<saga>:<step index>`, with `@<epoch>` after a rewind and `:undo` for the
 * compensator. The runtime makes it. Neither a tool nor a model ever chooses one.
 */
export const idempotencyKey = (
  sagaId: string,
  stepIndex: number,
  epoch: number,
  direction: 'forward' | 'undo' = 'forward',
): string => `${sagaId}:${stepIndex}${epoch > 0 ? `@${epoch}` : ''}${direction === 'undo' ? ':undo' : ''}`;

const KEY = /^(.+):\d+(?:@\d+)?(?::undo)?$/;

/** The saga whose call has the key. An id may hold colons; the last numbers are those of the key. */
export const sagaOfKey = (key: string): string | undefined => KEY.exec(key)?.[1];

/** Most characters of an id that a caller chooses (contract/ids.ts). */
const MAX_ID_LENGTH = 64;

/**
 * Id of a child: `<parent>.<step>[.<branch>]`, and after a rewind also `.E<epoch>` (names are in lower case,
 * so this cannot be one). The same child always has the same id, so starting it twice is one start. A long id
 * ends in its hash.
 */
export const childId = (parent: string, step: string, branch: string | undefined, epoch: number): string => {
  const whole = [
    parent,
    step,
    ...(branch === undefined ? [] : [branch]),
    ...(epoch > 0 ? [`E${epoch}`] : []),
  ].join('.');
  if (whole.length <= MAX_ID_LENGTH) return whole;
  const hash = sha256Hex(whole).slice(0, 16);
  return `${whole.slice(0, MAX_ID_LENGTH - hash.length - 1)}-${hash}`;
};

/**
 * Name of the execution that drives one generation: at most 80 characters that the service allows. A saga
 * id may hold a colon but a name may not, so those ids get a hash. This keeps `a:b` and `a_b` apart.
 */
export const executionName = (sagaId: string, generation: number): string => {
  const safe = sagaId.includes(':')
    ? `${sagaId.replaceAll(':', '_').slice(0, 60)}-${sha256Hex(sagaId).slice(0, 8)}`
    : sagaId;
  return `${safe}-g${generation}`;
};
