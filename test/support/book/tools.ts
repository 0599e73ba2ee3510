/** The tools, which write into the book, and whose calls fail now and then. */
import type { ToolRequest } from '../../../contract/tool-request.ts';
import type { Invoked } from '../../../core/saga/ports.ts';
import type { VirtualClock } from '../../../kit/testing/virtual-clock.ts';
import { type Book, knowsKeys } from './effects.ts';
import { FAULTS, FAULTS_OF, refusal, unsure } from './faults.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

/** Less than the margin for which nothing is done about a call in doubt (S3). */
const LATE_MS = 3_000;

/** Each call has one of its own, but one provider books in batches, and another calls an undo as what it took back. */
const referenceOf = ({ tool, forwardKey }: ToolRequest, isUndo: boolean): string => {
  if (tool === 'post') return isUndo ? 'batch-undone' : 'batch';
  return isUndo && tool !== 'transfer' ? `un-${forwardKey}` : `ref-${forwardKey}`;
};

/** The tools as the guard of the kit makes them: a tombstone for what was undone, a claim for what has no key. */
const createTools = (book: Book, clock: VirtualClock) => {
  const buried = new Set<string>();
  const claimed = new Set<string>();

  const succeeded = (request: ToolRequest): Invoked => {
    const { amount = null, currency = null } = request.arguments;
    const externalRef = referenceOf(request, false);
    return { Payload: { outcome: 'committed', result: { amount, currency }, externalRef } };
  };

  /** What the guard of a forward call answers instead of the tool. */
  const refusedCall = ({ forwardKey, tool, attempt, deadlineMs }: ToolRequest): Invoked | undefined => {
    if (buried.has(forwardKey)) return refusal('Fenced', { retryable: false });
    if (clock.nowMs() >= deadlineMs) {
      return refusal('DeadlinePassed', { retryable: true, reached: false });
    }
    const claim = `${forwardKey} ${attempt}`;
    if (!knowsKeys(tool) && claimed.has(claim)) return unsure({ answered: false });
    claimed.add(claim);
    return undefined;
  };

  const act = (request: ToolRequest): void => {
    if (request.tool !== 'look') book.act(request);
  };

  const execute = (request: ToolRequest): Invoked => {
    const refused = refusedCall(request);
    if (refused !== undefined) return refused;
    act(request);
    return succeeded(request);
  };

  const probe = (request: ToolRequest): Invoked => {
    if (buried.has(request.forwardKey)) return refusal('Fenced', { retryable: false });
    const stands = book.effects.get(request.forwardKey)?.stands === true;
    return stands ? succeeded(request) : { Payload: { outcome: 'absent' } };
  };

  /** Takes it back without looking at the time. */
  const undo = (key: string): void => {
    buried.add(key);
    book.takeBack(key);
  };

  const compensate = (request: ToolRequest): Invoked => {
    const { forwardKey, tool } = request;
    undo(forwardKey);
    const result = { amount: book.effects.get(forwardKey)?.undone ?? '0' };
    const residue = tool === 'part' ? { residue: 'half of it' } : {};
    const externalRef = referenceOf(request, true);
    return { Payload: { outcome: 'committed', result, externalRef, ...residue } };
  };

  const by = { execute, probe, compensate };
  return {
    serve: (request: ToolRequest): Invoked => by[request.operation](request),
    /** It passes the guard in time, and acts after its deadline. */
    serveLate: (request: ToolRequest): void => {
      const { operation, forwardKey, deadlineMs } = request;
      if (operation === 'execute' && refusedCall(request) !== undefined) return;
      clock.later(deadlineMs - clock.nowMs() + LATE_MS, async () =>
        operation === 'execute' ? act(request) : undo(forwardKey),
      );
    },
  };
};

interface ProviderDependencies {
  random: Random;
  clock: VirtualClock;
  book: Book;
  tally: Tally;
  isCalm: () => boolean;
  /** People do something during a call. */
  interrupt: () => Promise<void>;
}

const SLOW_READ_MS = 500;
const SLOW_CALL_MS = 9_000;
const LONG_AFTER_MS = 5_000;

export const createProvider = ({ random, clock, book, tally, isCalm, interrupt }: ProviderDependencies) => {
  const { serve, serveLate } = createTools(book, clock);
  const faulty = random.pick([0, 0.15, 0.35, 0.6]);

  const waitForEnd = async ({ deadlineMs }: ToolRequest): Promise<void> => {
    const longer = random.chance(0.5) ? 0 : LONG_AFTER_MS;
    await clock.advance(Math.max(0, deadlineMs - clock.nowMs()) + longer);
  };

  const fail = async (request: ToolRequest, place: number): Promise<Invoked> => {
    const name = random.pickAt(place, FAULTS_OF[request.operation]);
    tally.count(`fault ${name}`);
    return FAULTS[name]({
      serve: () => serve(request),
      serveLate: () => serveLate(request),
      waitForEnd: () => waitForEnd(request),
      interrupt,
      chance: random.chance,
    });
  };

  /** The same attempt fails in the same way when it is made again. */
  return async (request: ToolRequest): Promise<Invoked> => {
    await interrupt();
    const { idempotencyKey, operation, attempt, tool } = request;
    if (!isCalm() && random.at('fails', idempotencyKey, operation, attempt) < faulty) {
      return fail(request, random.at('fault', idempotencyKey, operation, attempt));
    }
    if (random.chance(0.1)) {
      await clock.advance(tool === 'look' ? SLOW_READ_MS : random.between(1, SLOW_CALL_MS));
    }
    const answer = serve(request);
    await interrupt();
    return answer;
  };
};
