/**
 * The page of every plan to go back: what goes back is chosen on it, and the button that does it stays in sight.
 */
import { html } from 'hono/html';
import type { DiffAnswer } from '../../contract/change-answers.ts';
import { shortCheckpointId } from '../../present/checkpoint-words.ts';
import type { Visit } from '../context.ts';
import { diffMarkup, roomFor } from '../diff/markup.ts';
import { type Further, failedPart, further, never } from '../further.ts';
import { choice } from './choice.ts';
import { fileTreePart } from './file-tree.ts';
import { link, type Markup, NOTHING, path, query, repositoryName } from './markup.ts';
import { fileLinks } from './wider.ts';

interface Scope {
  name: string;
  explained: string;
}

const BACK_SCOPES = {
  files: {
    name: 'Files',
    explained: 'All repositories go back, or none. What sagas did outside stays.',
  },
  all: {
    name: 'Files and effects',
    explained:
      'Effects of later sagas are undone, the last one first; then files go back, then the conversation.',
  },
  message: {
    name: 'Only this message',
    explained: 'What this message changed in files is taken back. Later work stays, and so do effects.',
  },
  effects: { name: 'Effects only', explained: 'Effects of later sagas are undone. Files stay.' },
  conversation: {
    name: 'Conversation only',
    explained: 'The agent forgets what came later. Files and effects stay.',
  },
} as const satisfies Readonly<Record<string, Scope>>;

export type BackScope = keyof typeof BACK_SCOPES;

const NAMES = ['files', 'all', 'message', 'effects', 'conversation'] as const;

export const backScope = (asked: string | undefined): BackScope =>
  asked ? choice('scope', asked, NAMES) : 'files';

export interface BackPoint {
  sessionId: string;
  message?: string | undefined;
  checkpoint?: string | undefined;
}

/** Where the plan of this scope is. */
export const backPath = (
  { sessionId, message, checkpoint }: BackPoint,
  scope: BackScope,
  more: Readonly<Record<string, string | undefined>> = {},
): string => `${path('sessions', sessionId, 'plan')}${query({ message, checkpoint, scope, ...more })}`;

const scopesPart = (point: BackPoint, chosen: BackScope): Markup => {
  // A checkpoint alone names no message.
  const offered = NAMES.filter((name) => name !== 'message' || Boolean(point.message));
  return html`<nav class="scopes" aria-label="What goes back">${offered.map(
    (name) =>
      html`<a href="${backPath({ ...point, checkpoint: point.message ? undefined : point.checkpoint }, name)}"${name === chosen ? html` aria-current="true"` : NOTHING}>${BACK_SCOPES[name].name}</a>`,
  )}</nav><p class="hint">${BACK_SCOPES[chosen].explained}</p>`;
};

/** What people know the point by. */
const pointTitle = async (
  visit: Visit,
  { sessionId, message, checkpoint }: BackPoint,
): Promise<[string, Markup]> => {
  if (!message) {
    const short = checkpoint?.replace(/^cp-0*(\d+)-.*$/, (_, seq) => shortCheckpointId(Number(seq)));
    return [short ?? '', NOTHING];
  }
  const timeline = await further(visit, visit.ask('timeline', { sessionId, limit: 1, brief: true }));
  const meant = timeline.read?.messages.find(({ messageId }) => messageId === message);
  return [meant?.title ?? message, failedPart('The title of this message', timeline)];
};

/** The id of the form of a plan, whose button is in the bar. */
export const CONFIRM_FORM = 'confirm';

/** `button`: the words of the one that does it; undefined: nothing can be done. */
const confirmBar = (sessionId: string, button: string | undefined, what: string): Markup =>
  html`<div class="confirm">${button === undefined ? NOTHING : html`<button class="main" type="submit" form="${CONFIRM_FORM}">${button}</button>`}${link(path('sessions', sessionId), 'Cancel')}<span class="hint">${what}</span></div>`;

export const backBody = (
  point: BackPoint,
  scope: BackScope,
  { body, button, what = '' }: { body: Markup; button: string | undefined; what?: string },
): Markup => html`${scopesPart(point, scope)}${body}${confirmBar(point.sessionId, button, what)}`;

/** What becomes of the lines: from what is there now to the target. */
export const linesTo = (
  visit: Visit,
  sessionId: string,
  checkpointId: string,
): Promise<Further<DiffAnswer>> =>
  further(visit, visit.ask('diff', { sessionId, from: 'now', to: checkpointId }), never);

/** `to`: the checkpoint of the plan. */
export const linesPart = (lines: Further<DiffAnswer>, { sessionId }: BackPoint, to: string): Markup => {
  const { read: answer } = lines;
  // The plan names every path, also where its lines cannot be read.
  if (answer === undefined)
    return failedPart('The lines that change', lines, 'The paths above are what changes.');
  const room = roomFor();
  const changed = answer.repositories.filter(({ diff }) => diff !== '');
  if (changed.length === 0) return NOTHING;
  const parts = changed.map(
    (one) =>
      html`<section class="repository"><h3>${repositoryName(one.path)} <span class="counts"><ins>+${one.added}</ins> <del>−${one.deleted}</del></span></h3>${room.lines > 0 ? diffMarkup(one.diff, one.path, room, (file) => fileLinks(sessionId, { from: 'now', to }, one.path, file)) : html`<p class="cut">Cut here, so that the page stays small.</p>`}${one.truncated ? html`<p class="cut">Cut where it was made.</p>` : NOTHING}</section>`,
  );
  return html`<h2>What changes in the files</h2>${fileTreePart(room.files)}${parts}`;
};

/** The title of a page about the point, and what to say when it could not be read. */
export const pageTitle = async (
  visit: Visit,
  point: BackPoint,
  words: string,
): Promise<{ title: string; untitled: Markup }> => {
  const [name, untitled] = await pointTitle(visit, point);
  return { title: `${words} ${name}`, untitled };
};
