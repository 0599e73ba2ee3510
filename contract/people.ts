/** Which callers are people, and which functions they may call: derived from the rows. */
import type { Caller } from './function-row.ts';
import { type CallableName, FUNCTION_ROWS, FUNCTIONS, type NamedRow } from './functions.ts';

/** Groups of an issuer give a person these. */
export const PERSON_ROLES = ['reviewer', 'operator', 'finance'] as const satisfies readonly Caller[];
export type PersonRole = (typeof PERSON_ROLES)[number];

export const isPersonRole = (caller: string): caller is PersonRole =>
  PERSON_ROLES.some((role) => role === caller);

/** A row with an input that a person of some role may call: what the HTTP API and the console reach. */
export const isForPeople = ({ callers, input }: Pick<NamedRow, 'callers' | 'input'>): boolean =>
  input !== undefined && callers.some(isPersonRole);

export const PEOPLE_ROWS: readonly NamedRow[] = FUNCTION_ROWS.filter(isForPeople);

const NAMES: ReadonlySet<string> = new Set(PEOPLE_ROWS.map(({ name }) => name));

export const isPeopleFunction = (name: string): name is CallableName => NAMES.has(name);

/** Who of them may call it. */
export const rolesFor = (name: CallableName): readonly PersonRole[] =>
  FUNCTIONS[name].callers.filter(isPersonRole);
