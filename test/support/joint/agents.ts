/** What agents do in a session: they work, take checkpoints, pay, and send forks through the merge queue. */
import type { PlanStep } from '../../../core/saga/model/plan.ts';
import type { sagaMachine } from '../../../kit/testing/saga-machine.ts';
import { mergeQueue } from '../../../tools/templates/merge-queue.ts';
import type { Random } from '../book/random.ts';
import type { Stage } from '../fakes/stage.ts';
import { SESSION } from '../fakes/stage.ts';
import type { Processes } from './process.ts';
import type { Views } from './views.ts';

/** Undefined when it was refused, failed or died, which are fair answers. */
export type Ask = <Answer>(what: string, work: () => Promise<Answer>) => Promise<Answer | undefined>;

export interface Fork {
  sessionId: string;
  sandboxId: string;
  /** Of its file, which nobody else writes. */
  name: string;
  /** In so many repositories. */
  repositories: number;
}

/** One of the merge queue. */
export interface Entry {
  sagaId: string;
  forks: readonly Fork[];
}

interface AgentDependencies {
  random: Random;
  stage: Stage;
  views: Views;
  machine: ReturnType<typeof sagaMachine>;
  processes: Processes;
  ask: Ask;
  problem: (text: string) => void;
  /** Of its own kind, each only once. */
  fresh: (kind: string) => string;
  /** Nobody takes the session back, so that merges show. */
  isStill: boolean;
}

const MOST_FORKS = 4;
/** So that a world ends. */
const MOST_ENTRIES = 14;
const MOST_LIVE = 2;
const APPROVAL = { timeoutSeconds: 3_600 };
const PAYMENTS = [['pay'], ['pay', 'book'], ['pay', 'ask'], ['pay', 'ask', 'book'], ['pay', 'mail']] as const;
const FILES = ['mine.txt', 'other.txt', 'third.txt'];
const NUMBER = /\d+$/;

export const createAgents = (dependencies: AgentDependencies) => {
  const { random, stage, views, machine, processes, ask, problem, fresh, isStill } = dependencies;
  const forks: Fork[] = [];
  const entries: Entry[] = [];
  const live: string[] = [];
  /** Content that its owner wrote over. */
  const overwritten = new Set<string>();
  let message = 2;
  let epoch = stage.session().epoch;

  const turn = (): void => {
    message += 1;
    epoch = stage.session().epoch;
  };
  const place = () => ({
    sessionId: SESSION,
    messageId: `m${message}`,
    ...(random.chance(0.7) ? { epoch } : {}),
  });
  type CallFields = ReturnType<typeof place>;

  /** Nothing new begins in an epoch that is over (C9). */
  const fenced = async <Answer>(
    given: Partial<CallFields>,
    what: string,
    work: () => Promise<Answer>,
  ): Promise<void> => {
    const isStale = given.epoch !== undefined && given.epoch < stage.session().epoch;
    const told = await ask(`${what} ${JSON.stringify(given)}`, work);
    if (told !== undefined && isStale) problem(`${what} began in an epoch that is over`);
    if (isStale && random.chance(0.5)) turn();
  };

  const edit = (): void => {
    const path = random.pick(['api', 'web', 'notes']);
    const name = random.pick(FILES);
    const before = views.filesNow().get(`${path}/${name}`);
    if (before !== undefined) overwritten.add(`${path}/${name}\n${before}`);
    stage.edit(path, { [name]: fresh('work') });
  };

  const checkpoint = async (): Promise<void> => {
    const toolExecutionId = fresh('tool');
    const { sessionId: _, messageId, ...fence } = place();
    await fenced(fence, `checkpoint ${toolExecutionId}`, () =>
      processes.run((process) => stage.instance(process).checkpoint(messageId, toolExecutionId, fence)),
    );
  };

  const pay = async (): Promise<void> => {
    const sagaId = fresh('pay');
    const steps = random.pick(PAYMENTS).map((kind, index): PlanStep => {
      const step = { id: `s${index}`, tool: kind === 'ask' ? 'pay' : kind, arguments: {} };
      return kind === 'ask' ? { ...step, approval: APPROVAL } : step;
    });
    const given = place();
    await fenced(given, sagaId, () =>
      machine.start({ sagaId, plan: { steps }, input: {}, requestedBy: 'agent', ...given }),
    );
  };

  const openLive = async (): Promise<void> => {
    const sagaId = fresh('live');
    live.push(sagaId);
    const interactive = { onIdle: random.pick(['unwind', 'ask'] as const), allowIrreversible: ['mail'] };
    const given = { sessionId: SESSION, messageId: `m${message}` };
    await ask(sagaId, () => machine.start({ sagaId, interactive, requestedBy: 'agent', ...given }));
  };

  const submit = async (): Promise<void> => {
    if (live.length === 0 || (live.length < MOST_LIVE && random.chance(0.2))) return openLive();
    const [sagaId, stepId] = [random.pick(live), fresh('step')];
    const mail = random.chance(0.3) ? 'mail' : 'pay';
    const tool = random.pick(['pay', 'pay', 'book', mail, isStill ? 'pay' : 'begin_work']);
    const given = place();
    await fenced(given, `${sagaId} ${stepId} ${tool}`, () =>
      machine.submit({
        sagaId,
        stepId,
        tool,
        arguments: tool === 'begin_work' ? { sessionId: SESSION } : {},
        observe: false,
        waitSeconds: random.pick([0, 60]),
        ...given,
      }),
    );
  };

  /** One fork, or several that are merged in this order. */
  const enter = async (): Promise<void> => {
    if (forks.length === 0 || entries.length >= MOST_ENTRIES) return;
    const isAll = forks.length > 1 && random.chance(0.2);
    const chosen = isAll ? (random.chance(0.5) ? forks : forks.toReversed()) : [random.pick(forks)];
    const sagaId = fresh('merge');
    entries.push({ sagaId, forks: [...chosen] });
    const isAsked = random.chance(0.3);
    const steps = mergeQueue.plan.steps.map((step) =>
      isAsked && step.id === 'apply' ? { ...step, approval: APPROVAL } : step,
    );
    const from = chosen.map(({ sessionId }) => sessionId);
    const commitments = [{ id: 'kept', description: 'it is right', command: 'true' }];
    const given = random.chance(0.5) ? place() : {};
    await fenced(given, `${sagaId} of ${chosen.map(({ name }) => name).join()}`, () =>
      machine.start({
        sagaId,
        plan: { ...mergeQueue.plan, steps },
        input: { from: from.length === 1 ? (from[0] ?? '') : from, into: SESSION, commitments },
        project: 'p',
        requestedBy: 'agent',
        ...given,
      }),
    );
  };

  const openFork = async (): Promise<void> => {
    if (forks.length >= MOST_FORKS) return;
    const fork = await ask('fork', () => stage.instance().fork({ requestId: fresh('fork') }));
    if (fork === undefined) return;
    const { sessionId, sandboxId } = fork;
    const name = `fork-${forks.length}`;
    const paths = random.pick([['api', 'web'], ['api', 'notes'], ['web']]);
    for (const path of paths) stage.edit(path, { [`${name}.txt`]: `of ${name}` }, sandboxId);
    // Now and then it conflicts with work of the session.
    if (random.chance(0.15)) stage.edit('api', { 'mine.txt': `of ${name}` }, sandboxId);
    await stage.instance().checkpoint('work', 'work', { sessionId });
    forks.push({ sessionId, sandboxId, name, repositories: paths.length });
    await enter();
  };

  return {
    forks,
    entries,
    overwritten,
    turn,
    edit,
    checkpoint,
    pay,
    submit,
    enter,
    openFork,
    isWork: (text: string): boolean => text.startsWith('work') && NUMBER.test(text),
  };
};

export type Agents = ReturnType<typeof createAgents>;
