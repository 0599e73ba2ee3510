/**
 * Every function, as data: one Lambda per row, deployed as `<prefix>-<name>` from `functions/<name>.ts`.
 * The rows determine what CDK deploys and grants, what handlers parse, what the command may call, and the
 * tables in the docs. test/infra/grants.test.ts checks them against the calls that the functions really
 * make.
 */
import type * as z from 'zod';
import { CHECKPOINT_FUNCTIONS } from './checkpoint-functions.ts';
import type { FunctionRow } from './function-row.ts';
import { API_SECONDS } from './http-api.ts';
import { SAGA_FUNCTIONS } from './saga-functions.ts';

/** The functions behind the HTTP API. They are deployed where people can sign in. */
const HTTP_FUNCTIONS = {
  api: {
    description: 'Answers the HTTP API: calls functions for people who are signed in',
    callers: ['internal'],
    timeoutSeconds: API_SECONDS,
    grants: { servesPeople: true, identifiesPeople: true },
  },
  console: {
    description: 'Serves the console: signs people in, and shows them what functions answer',
    callers: ['internal'],
    timeoutSeconds: API_SECONDS,
    grants: { servesPeople: true, identifiesPeople: true, signsPeopleIn: true },
  },
} as const satisfies Record<string, FunctionRow>;

export const FUNCTIONS = { ...CHECKPOINT_FUNCTIONS, ...SAGA_FUNCTIONS, ...HTTP_FUNCTIONS } as const;

type Functions = typeof FUNCTIONS;
type FunctionName = keyof Functions;

/** Functions that take an input of ours, not an event from AWS. */
export type CallableName = {
  [Name in FunctionName]: Functions[Name] extends { input: () => z.ZodType } ? Name : never;
}[FunctionName];

/** The input after its schema has parsed it. */
export type InputOf<Name extends CallableName> = z.output<ReturnType<Functions[Name]['input']>>;

/** `unknown` where no caller reads it. */
export type AnswerOf<Name extends FunctionName> = Functions[Name] extends {
  answer: () => infer Answer extends z.ZodType;
}
  ? z.output<Answer>
  : unknown;

const INPUTS: { readonly [Name in CallableName]: { input: () => z.ZodType<InputOf<Name>> } } = FUNCTIONS;

export const inputOf = <Name extends CallableName>(name: Name): z.ZodType<InputOf<Name>> =>
  INPUTS[name].input();

export interface NamedRow extends FunctionRow {
  name: string;
}

export const FUNCTION_ROWS: readonly NamedRow[] = Object.entries<FunctionRow>(FUNCTIONS).map(
  ([name, row]) => ({
    name,
    ...row,
  }),
);
