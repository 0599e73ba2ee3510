/**
 * A deployed definition, made fit for the engine we run it on. The only place where local and deployed differ, and all of
 * it is the engine's, none the saga's:
 *
 * 1. `${Name}` placeholders get their values, as CloudFormation's `DefinitionSubstitutions` do.
 * 2. AWS resolves `TimeoutSecondsPath` against the state's input; the engine against what `Parameters` made of it. So the
 *    value is carried through `Parameters` under a name of ours, and taken out again before the task sees it.
 * 3. A task without a timeout has 60 s in the engine and practically none on AWS: it gets the longest a timer can do.
 * 4. `QueryLanguage: JSONPath` is the default and unknown to the engine.
 */
import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import * as z from 'zod';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { Takes } from './task-error.ts';

/** The largest signed 32-bit number of milliseconds, as whole seconds. */
const LONGEST_SECONDS = 2_147_483;

/** The name under which a task's timeout travels through its `Parameters`. */
export const TIMEOUT_MEMBER = 'walkbackTimeoutSeconds';

interface Rule {
  ErrorEquals: string[];
}

interface State {
  Type: string;
  Retry?: Rule[] | undefined;
  Catch?: Rule[] | undefined;
  Resource?: string | undefined;
  Parameters?: Record<string, unknown> | undefined;
  TimeoutSeconds?: number | undefined;
  TimeoutSecondsPath?: string | undefined;
  HeartbeatSeconds?: unknown;
  HeartbeatSecondsPath?: unknown;
  Branches?: Definition[] | undefined;
  Iterator?: Definition | undefined;
  ItemProcessor?: Definition | undefined;
}

interface Definition {
  StartAt: string;
  States: Record<string, State>;
}

const rules = z.array(z.looseObject({ ErrorEquals: z.array(z.string()) })).optional();

const stateSchema: z.ZodType<State> = z.looseObject({
  Type: z.string(),
  Retry: rules,
  Catch: rules,
  Resource: z.string().optional(),
  Parameters: z.record(z.string(), z.unknown()).optional(),
  TimeoutSeconds: z.number().optional(),
  TimeoutSecondsPath: z.string().optional(),
  HeartbeatSeconds: z.unknown().optional(),
  HeartbeatSecondsPath: z.unknown().optional(),
  get Branches() {
    return z.array(definitionSchema).optional();
  },
  get Iterator() {
    return definitionSchema.optional();
  },
  get ItemProcessor() {
    return definitionSchema.optional();
  },
});

const definitionSchema: z.ZodType<Definition> = z.looseObject({
  StartAt: z.string(),
  States: z.record(z.string(), stateSchema),
});

const substitute = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value !== undefined) return value;
    throw new WalkbackError('ConfigurationError', `The state machine needs a value for ${name}.`, {
      details: { name },
    });
  });

const adaptTask = (state: State): State => {
  if (state.HeartbeatSeconds !== undefined || state.HeartbeatSecondsPath !== undefined) {
    throw new WalkbackError(
      'ConfigurationError',
      'The embedded cloud does not watch heartbeats, so a task may not have HeartbeatSeconds. Use TimeoutSeconds.',
    );
  }
  const { TimeoutSecondsPath: path, ...rest } = state;
  if (path === undefined) return { ...rest, TimeoutSeconds: state.TimeoutSeconds ?? LONGEST_SECONDS };
  if (state.Parameters === undefined) return state;
  return {
    ...rest,
    Parameters: { ...state.Parameters, [`${TIMEOUT_MEMBER}.$`]: path },
    TimeoutSecondsPath: `$.${TIMEOUT_MEMBER}`,
  };
};

/** The definitions inside a state: branches, and what a Map does with each item. */
const inside = ({ Branches = [], Iterator, ItemProcessor }: State): Definition[] =>
  [...Branches, Iterator, ItemProcessor].filter((one) => one !== undefined);

const adaptState = (state: State): State => ({
  ...(state.Type === 'Task' ? adaptTask(state) : state),
  ...(state.Branches && { Branches: state.Branches.map(adapt) }),
  ...(state.Iterator && { Iterator: adapt(state.Iterator) }),
  ...(state.ItemProcessor && { ItemProcessor: adapt(state.ItemProcessor) }),
});

const adapt = (definition: Definition): Definition => ({
  ...definition,
  States: Object.fromEntries(
    Object.entries(definition.States).map(([name, state]) => [name, adaptState(state)]),
  ),
});

/** The service that each task of a definition calls, by state name. */
export type TaskResources = ReadonlyMap<string, string>;

/**
 * The names that catch data that are too large. `States.ALL` does not. `States.TaskFailed` catches everything
 * except a timeout.
 */
const BY_NAME = ['States.DataLimitExceeded', 'States.TaskFailed'];
const takesByName = (list: readonly Rule[] = []): boolean =>
  list.some(({ ErrorEquals }) => ErrorEquals.some((name) => BY_NAME.includes(name)));

/** All states by name. Names are unique in the whole machine, including nested states. */
const statesOf = (definition: Definition): [string, State][] =>
  Object.entries(definition.States).flatMap(([name, state]) => [
    [name, state] satisfies [string, State],
    ...inside(state).flatMap(statesOf),
  ]);

/**
 * Parses, substitutes and adapts. Throws `ConfigurationError` when a placeholder has no value, or a task
 * needs something that is not offered here.
 */
export const adaptDefinition = (
  text: string,
  substitutions: Readonly<Record<string, string>>,
): { definition: StateMachineDefinition; tasks: TaskResources; largeResults: ReadonlyMap<string, Takes> } => {
  const parsed = definitionSchema.parse(JSON.parse(substitute(text, substitutions)));
  const { QueryLanguage: _, ...made } = { QueryLanguage: undefined, ...adapt(parsed) };
  const unchecked: unknown = made;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine validates it on construction
  const engineDefinition = unchecked as StateMachineDefinition;
  const states = statesOf(parsed);
  return {
    definition: engineDefinition,
    tasks: new Map(
      states.flatMap(([name, { Resource }]) => (Resource === undefined ? [] : [[name, Resource]])),
    ),
    largeResults: new Map(
      states.map(([name, { Retry, Catch }]) => [
        name,
        { retry: takesByName(Retry), catch: takesByName(Catch) },
      ]),
    ),
  };
};
