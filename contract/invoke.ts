import type * as z from 'zod';
import type { AnswerOf, CallableName, FUNCTIONS } from './functions.ts';

/** As it is deployed, unless the deployment has another prefix. */
export type DeployedName<Name extends CallableName = CallableName> = `walkback-${Name}`;

/** As a caller writes it, before its schema normalises it. */
export type RequestOf<Name extends CallableName> = z.input<ReturnType<(typeof FUNCTIONS)[Name]['input']>>;

/** Calls a function. Throws the error that it was refused or failed with. */
export type Invoke = <Name extends CallableName>(
  name: DeployedName<Name>,
  input: RequestOf<Name>,
) => Promise<AnswerOf<Name>>;
