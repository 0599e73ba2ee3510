/** Rewinds of the session, and what must hold when one is through. */

import type { Asked } from '../../../contract/identity.ts';
import type { RewindAnswer, SessionRewind } from '../../../contract/rewind.ts';
import type { Checkpoint } from '../../../core/checkpoint/model.ts';
import { createRewindSession } from '../../../core/rewind/rewind-session.ts';
import type { SagaHead } from '../../../core/saga/model/head.ts';
import { idempotencyKey } from '../../../core/saga/model/keys.ts';
import type { memorySagaStore } from '../../../kit/testing/memory-saga-store.ts';
import type { sagaMachine } from '../../../kit/testing/saga-machine.ts';
import type { VirtualClock } from '../../../kit/testing/virtual-clock.ts';
import type { Random } from '../book/random.ts';
import type { Tally } from '../book/tally.ts';
import type { Stage } from '../fakes/stage.ts';
import { SESSION } from '../fakes/stage.ts';
import type { Ask } from './agents.ts';
import type { Processes } from './process.ts';
import type { Provider } from './tools.ts';
import type { Views } from './views.ts';

interface RewindDependencies {
  random: Random;
  stage: Stage;
  views: Views;
  memory: ReturnType<typeof memorySagaStore>;
  machine: ReturnType<typeof sagaMachine>;
  clock: VirtualClock;
  provider: Provider;
  processes: Processes;
  tally: Tally;
  ask: Ask;
  problem: (text: string) => void;
  fresh: (kind: string) => string;
  /** How often others have come between so far. */
  interruptions: () => number;
}

interface Rewind {
  request: Asked<SessionRewind>;
  target: Checkpoint;
  isThrough: boolean;
}

const MOST = 4;
const INVOCATION_MS = 900_000;
/** Somebody let it stand, or took it back by hand. */
const DECIDED = ['skipped', 'resolved'];

export const createRewinds = (dependencies: RewindDependencies) => {
  const { random, stage, views, memory, machine, clock, provider, processes } = dependencies;
  const { tally, ask, problem, fresh, interruptions } = dependencies;
  const rewinds: Rewind[] = [];

  /** Whether what belongs to a message, or began then, came after the target. */
  const afterOf = (target: Checkpoint) => {
    const known = new Set(views.checkpoints().map(({ messageId }) => messageId));
    const kept = new Set(views.wayTo(target.seq).map(({ messageId }) => messageId));
    return (messageId: string | undefined, at: string): boolean =>
      messageId !== undefined && known.has(messageId) ? !kept.has(messageId) : at > target.createdAt;
  };

  /** Effects that may not stand any more. Of an interactive saga that began before, its last one. */
  const goneOf = async (head: SagaHead, isAfter: ReturnType<typeof afterOf>): Promise<number[]> => {
    const { state, sagaId } = head;
    const all = state.effects.map((_, index) => index);
    if (isAfter(head.messageId, head.createdAt)) return all;
    const last = state.effects.findLastIndex(({ status }) => status === 'committed');
    const step = state.effects[last]?.step;
    const submitted = (await memory.store.listEntries(sagaId)).findLast(
      (entry) => entry.direction === 'step' && entry.status === 'submitted' && entry.stepIndex === step,
    );
    if (submitted?.direction !== 'step' || submitted.status !== 'submitted') return [];
    const isMine = (submitted.sessionId ?? head.sessionId) === SESSION;
    return isMine && isAfter(submitted.messageId, submitted.at) ? [last] : [];
  };

  const checkEffects = async ({ request, target }: Rewind): Promise<void> => {
    const isAfter = afterOf(target);
    for (const head of memory.heads.values()) {
      if (head.sessionId !== SESSION) continue;
      for (const index of await goneOf(head, isAfter)) {
        const effect = head.state.effects[index];
        if (effect === undefined || DECIDED.includes(effect.status)) continue;
        // Nothing takes it back, and whoever rewound accepted that.
        if (effect.kind === 'irreversible' && request.acceptResidue === true) continue;
        const key = idempotencyKey(head.sagaId, effect.step, effect.epoch);
        if (provider.stands(key))
          problem(`${request.requestId} is through and ${key} stands (${effect.status})`);
      }
    }
  };

  const checkFiles = ({ request, target }: Rewind): void => {
    const [wanted, now] = [views.filesAt(target), views.filesNow()];
    for (const name of new Set([...(wanted?.keys() ?? []), ...now.keys()])) {
      if (wanted?.get(name) === now.get(name)) continue;
      problem(`${request.requestId} is through and ${name} is ${now.get(name)}, not ${wanted?.get(name)}`);
    }
  };

  /** Once through, it touches nothing that came after it. So each brings the files once. */
  const broughtBy = ({ request, target }: Rewind): number =>
    views
      .journals()
      .filter(
        ({ requestId, phase, targetSeq, by }) =>
          requestId.startsWith('rewind-') &&
          phase === 'done' &&
          targetSeq === target.seq &&
          by?.name === request.by,
      ).length;

  /** Its status, or undefined when nobody heard one. */
  const carryOn = async (rewind: Rewind): Promise<RewindAnswer['status'] | undefined> => {
    const { request } = rewind;
    const before = {
      interruptions: interruptions(),
      brought: broughtBy(rewind),
      isThrough: rewind.isThrough,
    };
    const answer = await ask(`rewind ${JSON.stringify(request)}`, () =>
      processes.run((process) => {
        const { deps, rollback } = stage.instance(process);
        const call = createRewindSession({
          store: process.wrap('sagas', memory.store),
          engine: process.wrap('engine', machine.engine),
          clock,
          sessions: deps.store,
          rollback: (input) => rollback(input),
        });
        return call(request, { deadlineMs: clock.nowMs() + INVOCATION_MS });
      }),
    );
    if (answer === undefined) return undefined;
    const { scope = 'all', requestId, guidance } = request;
    tally.count(`rewind ${answer.status}`);
    if (answer.guidance !== guidance) problem(`${requestId} lost its guidance`);
    if (answer.status !== 'REWOUND') return answer.status;
    tally.count(`rewound ${scope}`);
    if ((await memory.store.getRewind(SESSION, requestId))?.doneAt === undefined)
      problem(`${requestId} is through and is not recorded so`);
    const isFirst = !before.isThrough && before.interruptions === interruptions();
    if (isFirst && scope !== 'conversation') await checkEffects(rewind);
    const isBrought = before.brought === 0 && scope !== 'effects' && scope !== 'conversation';
    if (isFirst && isBrought) checkFiles(rewind);
    if (broughtBy(rewind) > 1) problem(`${requestId} brought the files twice`);
    rewind.isThrough = true;
    return answer.status;
  };

  const begin = async (): Promise<void> => {
    const way = views.wayTo(stage.session().headSeq);
    const targets = views.targets();
    const near = targets.filter((one) => way.some(({ seq }) => seq === one.seq)).slice(-6);
    const target = random.pick(random.chance(0.8) ? near : targets);
    const scope = random.pick(['all', 'all', 'all', 'effects', 'conversation'] as const);
    const requestId = fresh('rewind');
    const rewind: Rewind = {
      request: {
        sessionId: SESSION,
        requestId,
        to: { checkpointId: target.checkpointId },
        acceptResidue: random.chance(0.6),
        reason: 'it may stay',
        // So that its rollback is told from others.
        by: `rita ${requestId}`,
        waitSeconds: 0,
        ...(scope === 'all' ? {} : { scope }),
        ...(random.chance(0.5) ? { guidance: 'another way' } : {}),
      },
      target,
      isThrough: false,
    };
    rewinds.push(rewind);
    await carryOn(rewind);
  };

  return {
    /** A new one, or one that was asked before, also one that is through. */
    ask: async (): Promise<void> => {
      if (rewinds.length > 0 && (rewinds.length >= MOST || random.chance(0.4)))
        await carryOn(random.pick(rewinds));
      else await begin();
    },
    /** In peace: all that were begun. Answers how many are not through. */
    carryOut: async (): Promise<number> => {
      let open = 0;
      for (const rewind of rewinds) {
        const { requestId } = rewind.request;
        if (rewind.isThrough || (await memory.store.getRewind(SESSION, requestId)) === undefined) continue;
        const status = await carryOn(rewind);
        if (status === 'REWOUND') continue;
        open += 1;
        if (status !== 'STOPPED') continue;
        // Nothing takes back what one of them did meanwhile, and somebody lets it stand.
        tally.count('stopped in peace');
        const completed = [...memory.heads.values()].filter(({ state }) => state.status === 'COMPLETED');
        const isAfter = afterOf(rewind.target);
        // An interactive one may have begun before, and only its last steps are asked back.
        const mayStop = ({ messageId, createdAt, state }: SagaHead): boolean =>
          state.interactive !== undefined || isAfter(messageId, createdAt);
        for (const { sagaId } of completed.filter(mayStop))
          await ask(`undo ${sagaId}`, () =>
            machine.operate({
              sagaId,
              action: 'undo',
              acceptResidue: true,
              evidence: 'it may stay',
              by: 'olga',
            }),
          );
      }
      return open;
    },
  };
};
