/**
 * One session, its forks and its sagas. Agents work, pay and send forks through the merge queue; people rewind the session, roll it
 * back, cancel and undo; functions die between any two calls. Then there is peace, and everything is compared.
 */
import { ERRORS } from '../../../contract/errors.ts';
import { createCheckEpoch } from '../../../core/checkpoint/session/check-epoch.ts';
import type { ToolManifest } from '../../../core/saga/model/tool.ts';
import { isWalkbackError } from '../../../core/shared/errors.ts';
import { memorySagaStore } from '../../../kit/testing/memory-saga-store.ts';
import { Crash, sagaMachine } from '../../../kit/testing/saga-machine.ts';
import { virtualClock } from '../../../kit/testing/virtual-clock.ts';
import catalog from '../../../tools/catalog.json' with { type: 'json' };
import { createBetween } from '../book/between.ts';
import { randomOf } from '../book/random.ts';
import type { Tally } from '../book/tally.ts';
import { coarseClock } from '../coarse-clock.ts';
import { everythingHeld } from '../fakes/abandoned.ts';
import { Death } from '../fakes/faults.ts';
import { createWorkingStage } from '../fakes/stage.ts';
import { type Ask, createAgents } from './agents.ts';
import { compareJoint } from './compare.ts';
import { createPeople } from './people.ts';
import { createProcesses } from './process.ts';
import { createRewinds } from './rewinds.ts';
import { createProvider, createWorkspaceFunction, PROVIDER_TOOLS } from './tools.ts';
import { createViews } from './views.ts';

/** The evening before the last day of a month. */
const BEGIN = '2026-02-27T22:00:00Z';
/** From then on nothing fails and nobody interferes. */
const CALM_AFTER = 14;
/** From then on nobody tries again what could not be taken back. */
const GIVEN_UP_AFTER = 20;
const MOST_ROUNDS = 60;
const SECOND_MS = 1_000;
/** In every third world the clock stands still for many calls. */
const COARSE_MS = 20_000;
/** By then a call that died does not hold the session any more. */
const HELD_MS = 1_000_000;
const WORKSPACES = 'walkback-workspace-tools';

/** Answers what differs. */
export const playJoint = async (seed: number, tally: Tally): Promise<string[]> => {
  const problems: string[] = [];
  const problem = (text: string) => void problems.push(text);
  const random = randomOf(seed);
  const clock = coarseClock(virtualClock(Date.parse(BEGIN)), seed % 3 === 0 ? COARSE_MS : 1);
  const stage = await createWorkingStage(clock);
  const memory = memorySagaStore({
    inEpoch: ({ sessionId, epoch }) => stage.store.tables.sessions.get(sessionId)?.epoch === epoch,
  });
  for (const tool of [...(catalog.tools as unknown as ToolManifest[]), ...PROVIDER_TOOLS])
    await memory.store.putTool(tool);
  const views = createViews(stage);
  let round = 0;
  const isCalm = () => round > CALM_AFTER;
  let ids = 0;
  const fresh = (kind: string): string => {
    ids += 1;
    return `${kind}${ids}`;
  };

  const isStill = random.chance(0.3);
  const beside = random.pick([0, 0.03, 0.1]);
  let isInterrupted = false;
  let interruptions = 0;
  const interrupt = async (share: number): Promise<void> => {
    if (isInterrupted || isCalm() || !random.chance(share)) return;
    tally.count('interrupted');
    interruptions += 1;
    isInterrupted = true;
    await people.meddle();
    isInterrupted = false;
  };
  const processes = createProcesses({ random, tally, isCalm, interrupt });
  stage.world.duringWrite = processes.atFile;
  const provider = createProvider({ random, isCalm });
  const workspaces = createWorkspaceFunction({ random, stage, clock, processes });

  const between = createBetween({ random, tally, isCalm, interrupt });
  const machine: ReturnType<typeof sagaMachine> = between.callers(
    sagaMachine({
      store: between.store(memory.store),
      clock,
      checkEpoch: createCheckEpoch(stage.store),
      invoke: async (functionName, request) => {
        await interrupt(beside);
        const answer = functionName === WORKSPACES ? await workspaces(request) : provider.invoke(request);
        await clock.advance(SECOND_MS);
        await interrupt(beside);
        return answer;
      },
      onAwait: async ({ sagaId }) => {
        if (isCalm() || random.chance(0.7)) return people.answer(sagaId);
        await people.meddle();
        return false;
      },
    }),
  );

  let epoch = stage.session().epoch;
  /** What people and agents wrote is kept, whatever is done. */
  const checkKept = (what: string, before: ReadonlySet<string>): void => {
    const after = everythingHeld(stage);
    for (const content of before) {
      const [file = '', text = ''] = content.split('\n');
      if (!agents.isWork(text) || agents.overwritten.has(content) || after.has(content)) continue;
      problem(`${what}: ${file} with ${text} is lost`);
    }
    if (stage.session().epoch < epoch) problem(`${what}: the epoch fell`);
    epoch = stage.session().epoch;
  };
  const ask: Ask = async (what, work) => {
    await clock.advance(SECOND_MS);
    const before = everythingHeld(stage);
    try {
      return await work();
    } catch (error) {
      if (error instanceof Death || error instanceof Crash) return undefined;
      const name = isWalkbackError(error) ? error.name : undefined;
      const isFair =
        isWalkbackError(error) && (ERRORS[error.name].kind === 'refusal' || (error.retryable && !isCalm()));
      if (isFair) tally.count(`refused ${name}`);
      else problem(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
      return undefined;
    } finally {
      checkKept(what, before);
    }
  };

  const parts = {
    random,
    stage,
    views,
    memory,
    machine,
    clock,
    processes,
    provider,
    tally,
    ask,
    problem,
    fresh,
    isStill,
  };
  const agents = createAgents(parts);
  const rewinds = createRewinds({ ...parts, interruptions: () => interruptions });
  const people: ReturnType<typeof createPeople> = createPeople({ ...parts, agents, rewinds, isCalm });

  const actions: (() => void | Promise<void>)[] = [
    agents.edit,
    agents.edit,
    agents.checkpoint,
    agents.checkpoint,
    agents.turn,
    agents.turn,
    agents.openFork,
    agents.openFork,
    agents.enter,
    agents.pay,
    agents.pay,
    agents.submit,
    agents.submit,
    ...(isStill ? [agents.enter, people.undoMerge] : [rewinds.ask, people.rollBack]),
    people.meddle,
  ];
  /** What people and agents do for a saga that does not move by itself. Answers whether it is open. */
  const attend = async (sagaId: string): Promise<boolean> => {
    const state = memory.heads.get(sagaId)?.state;
    if (state === undefined || state.status === 'COMPLETED' || state.status === 'COMPENSATED') return false;
    const isIdle = state.wait?.kind === 'next-step' || state.wait?.kind === 'parked';
    if (state.status === 'COMPENSATION_FAILED')
      await (round > GIVEN_UP_AFTER ? people.giveUp : people.retry)(sagaId);
    else if (state.wait?.kind === 'approval') await people.answer(sagaId);
    else if (isIdle && isCalm())
      await ask(`close ${sagaId}`, () => machine.close({ sagaId, outcome: 'complete' }));
    return true;
  };

  for (; round < MOST_ROUNDS; round += 1) {
    for (let left = isCalm() ? 0 : random.between(1, 5); left > 0; left -= 1) await random.pick(actions)();
    await machine.settle();
    let open = 0;
    for (const sagaId of memory.heads.keys()) open += Number(await attend(sagaId));
    if (isCalm() || random.chance(0.3)) await clock.advance(HELD_MS);
    if (!isCalm()) continue;
    open += await rewinds.carryOut();
    if (open === 0) break;
  }
  if (round === MOST_ROUNDS) problem('it never comes to an end');

  await ask('the end', () => stage.instance().checkpoint('end', 'end'));
  const { forks, entries } = agents;
  return [...problems, ...(await compareJoint({ ...parts, forks, entries }))];
};
