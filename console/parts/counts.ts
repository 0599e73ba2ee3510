/** Lines that were added and deleted. */
import { html } from 'hono/html';
import { type Markup, NOTHING } from './markup.ts';

export interface Lines {
  added: number;
  deleted: number;
}

/** Nothing where no line changed. */
export const counts = ({ added, deleted }: Lines): Markup =>
  added + deleted === 0
    ? NOTHING
    : html`<span class="counts"><ins>+${added}</ins> <del>−${deleted}</del></span>`;

interface Counted {
  counts: { added: number | null; deleted: number | null } | null;
}

/** All lines that were counted. */
export const countsOf = (repositories: readonly Counted[]): Markup =>
  counts({
    added: repositories.reduce((sum, one) => sum + (one.counts?.added ?? 0), 0),
    deleted: repositories.reduce((sum, one) => sum + (one.counts?.deleted ?? 0), 0),
  });
