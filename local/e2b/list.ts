/** `GET /v2/sandboxes` as pure code: filter, order and page. */
import * as z from 'zod';
import type { Sandbox } from './registry.ts';

export interface ListQuery {
  metadata: Record<string, string>;
  states: string[];
  order: 'asc' | 'desc';
  limit: number;
  nextToken: string | undefined;
}

const parameters = z.object({
  metadata: z.string().default(''),
  state: z.string().default('running,paused'),
  order: z.enum(['asc', 'desc']).default('desc'),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  nextToken: z.string().optional(),
});

/** A query string inside the query string. The SDK encodes names and values twice. */
const parseMetadata = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...new URLSearchParams(text)].map(([name, value]) => [
      decodeURIComponent(name),
      decodeURIComponent(value),
    ]),
  );

export const parseListQuery = (search: URLSearchParams): ListQuery => {
  const { metadata, state, ...rest } = parameters.parse(Object.fromEntries(search));
  return { metadata: parseMetadata(metadata), states: state.split(','), nextToken: rest.nextToken, ...rest };
};

/** Sorts by start, then by id, so that every sandbox has a definite place. */
const listPosition = ({ record }: Sandbox): string =>
  `${String(record.startedAtMs).padStart(16, '0')}/${record.sandboxId}`;

const matches = ({ record }: Sandbox, query: ListQuery): boolean =>
  query.states.includes(record.state) &&
  Object.entries(query.metadata).every(([name, value]) => record.metadata[name] === value);

export const listSandboxes = (
  all: readonly Sandbox[],
  query: ListQuery,
): { page: Sandbox[]; nextToken: string | undefined } => {
  const direction = query.order === 'asc' ? 1 : -1;
  const after = query.nextToken;
  const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -direction : direction);
  const rest = all
    .filter((sandbox) => matches(sandbox, query))
    .filter((sandbox) => after === undefined || compare(listPosition(sandbox), after) > 0)
    .sort((a, b) => compare(listPosition(a), listPosition(b)));
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  return {
    page,
    nextToken: rest.length > page.length && last !== undefined ? listPosition(last) : undefined,
  };
};
