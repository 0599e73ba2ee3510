/** One file of a comparison, with as many lines around its changes as are asked for. */
import { html } from 'hono/html';
import type { FileLinks } from '../diff/markup.ts';
import { type Markup, NOTHING, path, query } from './markup.ts';

export interface Points {
  from: string;
  to: string;
  /** A review copy, when the sandbox of the session does not hold both. */
  sandbox?: string | undefined;
}

/** The last one has all lines of nearly every file. */
const CONTEXTS = [3, 25, 100, 2_000] as const;
const [FEWEST, MORE, , MOST] = CONTEXTS;

/** Lines around each change; an address may say anything. */
export const contextIn = (asked: string | undefined): number =>
  Math.min(MOST, Math.max(0, Math.trunc(Number(asked ?? MORE)) || 0));

export const widerPath = (
  sessionId: string,
  { from, to, sandbox }: Points,
  repository: string,
  file: string,
  context: number = MORE,
): string =>
  `${path('sessions', sessionId, 'compare')}${query({ from, to, sandbox, repository, file, context: String(context) })}`;

const WORDS = new Map<number, string>([
  [FEWEST, '3 lines around'],
  [MOST, 'All lines'],
]);

/** Who wrote the lines of a file, at a point. */
export const blamePath = (
  sessionId: string,
  asked: {
    file: string;
    repository: string | undefined;
    at?: string | undefined;
    sandbox?: string | undefined;
    from?: string | undefined;
  },
): string => `${path('sessions', sessionId, 'blame')}${query(asked)}`;

/** Where a file of a comparison leads to. */
export const fileLinks = (
  sessionId: string,
  points: Points,
  repository: string,
  file: string,
): FileLinks => ({
  wider: widerPath(sessionId, points, repository, file),
  blame: blamePath(sessionId, { file, repository, at: points.to, sandbox: points.sandbox }),
});

export const contextsPart = (at: (context: number) => string, chosen: number): Markup =>
  html`<nav class="scopes" aria-label="Lines around each change">${CONTEXTS.map(
    (one) =>
      html`<a href="${at(one)}"${one === chosen ? html` aria-current="true"` : NOTHING}>${WORDS.get(one) ?? `${one} lines`}</a>`,
  )}</nav>`;
