/** One world: sagas of a random kind, tools that fail, people who interfere; then peace, and everything is compared. */
import { ERRORS } from '../../../contract/errors.ts';
import { isWalkbackError } from '../../../core/shared/errors.ts';
import { memorySagaStore } from '../../../kit/testing/memory-saga-store.ts';
import { sagaMachine } from '../../../kit/testing/saga-machine.ts';
import { virtualClock } from '../../../kit/testing/virtual-clock.ts';
import { type Ask, createAgent } from './agents.ts';
import { createBetween } from './between.ts';
import { isSound } from './compare.ts';
import { createBookExport } from './compare-views.ts';
import { compareWorld } from './compare-world.ts';
import { createBook } from './effects.ts';
import { createPeople } from './people.ts';
import { BOOK_TOOLS } from './plans.ts';
import { randomOf } from './random.ts';
import type { Tally } from './tally.ts';
import { createProvider } from './tools.ts';

/** Near midnight, so that effects are of two days. */
const BEGIN = '2026-03-01T22:00:00Z';
/** From then on nothing fails and nobody interferes. */
const CALM_AFTER = 25;
const MOST_ROUNDS = 70;

/** Longer than an interactive saga waits for its next step. */
const IDLE_MS = 3_700_000;
const LATEST_MS = 60_000;

/** Answers what differs. */
export const playWorld = async (seed: number, tally: Tally): Promise<string[]> => {
  const problems: string[] = [];
  const problem = (text: string) => void problems.push(text);
  const random = randomOf(seed);
  const clock = virtualClock(Date.parse(BEGIN));
  const memory = memorySagaStore();
  for (const tool of BOOK_TOOLS) await memory.store.putTool(tool);
  const book = createBook(problem);
  const exported = createBookExport({ memory, clock });
  const interfering = random.pick([0, 0.1, 0.3]);
  let round = 0;
  const isCalm = () => round > CALM_AFTER;

  let isInterrupted = false;
  const interruptAt = async (share: number): Promise<void> => {
    if (isInterrupted || isCalm() || !random.chance(share)) return;
    tally.count('interrupted');
    isInterrupted = true;
    await people.meddle();
    isInterrupted = false;
  };
  const interrupt = () => interruptAt(interfering);
  /** A person answers, or does something else and lets the time pass. */
  const onAwait = async ({ sagaId }: { sagaId: string }): Promise<boolean> => {
    if (isCalm() || random.chance(0.7)) return people.answer(sagaId);
    await people.meddle();
    return false;
  };
  /** A saga waits for those below it, for as long as it takes: a person sees to one that needs a person. */
  const attendChildren = async (): Promise<boolean> => {
    let moved = false;
    for (const { sagaId, parent, state, seq } of memory.heads.values()) {
      const above = parent && memory.heads.get(parent.sagaId)?.state;
      if (above?.wait?.kind !== 'children') continue;
      if (state.status === 'PARKED') await people.resume(sagaId);
      if (state.status === 'COMPENSATION_FAILED') await people.mend(sagaId);
      moved ||= memory.heads.get(sagaId)?.seq !== seq;
    }
    return moved;
  };
  const provider = createProvider({ random, clock, book, tally, isCalm, interrupt });
  const between = createBetween({ random, tally, isCalm, interrupt: interruptAt });
  const bare: ReturnType<typeof sagaMachine> = sagaMachine({
    store: between.store(memory.store),
    clock,
    invoke: (_, request) => provider(request),
    replay: random.chance(0.3),
    onAwait,
    onQuiet: attendChildren,
  });
  const machine = between.callers(bare);
  const ask: Ask = async (work) => {
    try {
      return await work;
    } catch (error) {
      if (isWalkbackError(error) && ERRORS[error.name].kind === 'refusal')
        tally.count(`refusal ${error.name}`);
      else problem(String(error instanceof Error ? error.stack : error));
      return undefined;
    }
  };
  const isCrowded = random.chance(0.4);
  const agent = createAgent({ random, machine, ask, problem, isCrowded });
  const parts = { random, machine, memory, clock, agent, book, ask, problem };
  const people: ReturnType<typeof createPeople> = createPeople(parts);

  /** What people and agents do for a saga that does not move by itself. Answers whether it is open. */
  const attend = async (sagaId: string): Promise<boolean> => {
    const state = memory.heads.get(sagaId)?.state;
    if (state === undefined || state.status === 'COMPLETED' || state.status === 'COMPENSATED') return false;
    if (state.status === 'COMPENSATION_FAILED') await people.mend(sagaId);
    else if (state.wait?.kind === 'approval') await people.answer(sagaId);
    else if (state.wait?.kind === 'next-step') {
      const place = isCalm() ? 0 : random.next();
      if (place < 0.2) await people.close(sagaId, 0.6);
      else if (place < 0.3) await people.park(sagaId);
      else if (place < 0.4) await clock.advance(IDLE_MS);
      else await agent.submit(sagaId);
    } else if (state.wait?.kind === 'parked') {
      if (isCalm() || random.chance(0.5)) await people.resume(sagaId);
      else await agent.submit(sagaId, 'other');
    }
    return true;
  };

  const checkChains = async (): Promise<void> => {
    for (const [sagaId, head] of memory.heads) {
      if (!isSound(head, await memory.store.listEntries(sagaId)))
        problem(`the ledger of ${sagaId} is not sound`);
    }
  };

  const roots = isCrowded ? random.between(3, 6) : random.between(1, 3);
  for (let place = 0; place < roots; place += 1) await agent.start(place);
  for (; round < MOST_ROUNDS; round += 1) {
    await machine.settle();
    let open = 0;
    for (const sagaId of memory.heads.keys()) open += Number(await attend(sagaId));
    await checkChains();
    for (const sagaId of memory.heads.keys()) if (random.chance(0.3)) await exported.exportSaga(sagaId);
    if (!isCalm() && random.chance(0.5)) await people.meddle();
    else if (open === 0 && (round > 3 || random.chance(0.5))) round = Math.max(round, CALM_AFTER);
    if (isCalm() && open === 0) break;
    // The sweeper waits longer and longer for a saga whose executions died.
    if (isCalm()) await clock.advance(IDLE_MS);
  }

  // What acts late has acted.
  await clock.advance(LATEST_MS);
  return [
    ...problems,
    ...(await compareWorld({ memory, clock, book, told: agent.told, tally, random, exported })),
  ];
};
