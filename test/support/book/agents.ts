/** What agents do: they start sagas, submit steps, and call tools one by one. */
import type { StepAnswer } from '../../../contract/saga-answers.ts';
import type { CallToolInput, SubmitStepInput } from '../../../contract/saga-inputs.ts';
import type { sagaMachine } from '../../../kit/testing/saga-machine.ts';
import { argumentsOf, finalToolOf, planOf, toolOf } from './plans.ts';
import type { Random } from './random.ts';

/** Undefined when it was refused, which is a fair answer. */
export type Ask = <Answer>(work: Promise<Answer>) => Promise<Answer | undefined>;

/** What an agent was told about a step. */
export interface Told {
  sagaId: string;
  step: string;
  status: StepAnswer['status'];
}

interface AgentDependencies {
  random: Random;
  machine: ReturnType<typeof sagaMachine>;
  ask: Ask;
  problem: (text: string) => void;
  /** Sagas get into each other's way. */
  isCrowded: boolean;
}

export const createAgent = ({ random, machine, ask, problem, isCrowded }: AgentDependencies) => {
  const told: Told[] = [];
  const before = new Map<string, SubmitStepInput[]>();
  let steps = 0;

  const newStep = (sagaId: string): SubmitStepInput => {
    steps += 1;
    return {
      sagaId,
      stepId: `i${steps}`,
      tool: random.chance(0.12) ? finalToolOf(random) : toolOf(random, isCrowded),
      arguments: argumentsOf(random),
      waitSeconds: random.pick([0, 1, 60, 60]),
      observe: false,
    };
  };

  /** A new step, or one from before again. */
  const submit = async (sagaId: string, sessionId?: string): Promise<void> => {
    const known = before.get(sagaId) ?? [];
    before.set(sagaId, known);
    const isAgain = known.length > 0 && random.chance(0.15);
    const request = isAgain ? random.pick(known) : { ...newStep(sagaId), ...(sessionId && { sessionId }) };
    if (!isAgain) known.push(request);
    const answer = await ask(machine.submit(request));
    if (answer === undefined) return;
    told.push({ sagaId, step: request.stepId, status: answer.step.status });
    if (!random.chance(0.1)) return;
    const other = { ...request, arguments: { ...request.arguments, account: 'other' } };
    if ((await ask(machine.submit(other))) !== undefined) {
      problem(`${sagaId}/${request.stepId} was accepted with other arguments`);
    }
  };

  const callTool = async (requestId: string): Promise<void> => {
    const request: CallToolInput = {
      requestId,
      tool: random.chance(0.2) ? finalToolOf(random) : toolOf(random),
      arguments: argumentsOf(random),
      requestedBy: 'agent',
      waitSeconds: random.pick([0, 60]),
      ...(random.chance(0.4) ? { allowIrreversible: true } : {}),
    };
    for (const _ of ['first', 'again']) {
      const answer = await ask(machine.callTool(request));
      if (answer === undefined || answer.sagaId === null) return;
      told.push({ sagaId: answer.sagaId, step: 'call', status: answer.step.status });
    }
  };

  const start = async (place: number): Promise<void> => {
    const kind = random.pick(['plan', 'inline', 'interactive', 'call']);
    const sagaId = `${kind}${place}`;
    if (kind === 'call') return callTool(sagaId);
    const maxConcurrent = isCrowded ? random.between(1, 3) : 1;
    const limit = random.chance(isCrowded ? 0.9 : 0.4) ? { maxConcurrent } : {};
    const project = random.chance(isCrowded ? 0.8 : 0.5) ? { project: 'p', ...limit } : {};
    const onIdle = random.pick(['unwind', 'ask'] as const);
    const work =
      kind === 'interactive'
        ? { interactive: { onIdle, idleTimeoutSeconds: 3600 } }
        : { plan: planOf(random, { isCrowded }), input: {} };
    const inline = kind === 'inline' ? { drive: 'inline' as const } : {};
    await ask(machine.start({ sagaId, requestedBy: 'agent', ...project, ...work, ...inline }));
  };

  return { told, submit, start, lastStep: () => steps };
};

export type Agent = ReturnType<typeof createAgent>;
