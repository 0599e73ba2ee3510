/** What a plan of a rollback, a revert or a rewind shows, and how a plan is recognised. */
import { html } from 'hono/html';
import type { AskedBy } from '../../contract/identity.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { plural } from '../../core/shared/plural.ts';
import { hostLines } from '../../present/host-lines.ts';
import type { Ask, Elsewhere, Visit } from '../context.ts';
import { badge, list, type Markup, NOTHING, path, query, repositoryName, shown } from './markup.ts';

/** The digest of what a person confirms. A plan that would do anything else has another digest. */
export const digestOf = ({
  checkpointId,
  repositories,
  effects,
  discardedMessageIds,
  conflicts,
  epoch,
}: RollbackAnswer): string =>
  sha256Hex(JSON.stringify({ checkpointId, repositories, effects, discardedMessageIds, conflicts, epoch }));

type Repository = RollbackAnswer['repositories'][number];

const MOST = 40;

const repositoryPart = ({ path: name, action, written, deleted, host, paths = [] }: Repository): Markup =>
  html`<section class="card"><h2>${repositoryName(name)} ${badge(action, 'ask')}</h2>
    <p>${plural(written, 'file')} written, ${plural(deleted, 'file')} deleted</p>
    ${list(hostLines(host).map((line) => shown(line)))}
    ${
      paths.length === 0
        ? NOTHING
        : html`<details><summary>${plural(paths.length, 'path')}${written + deleted > paths.length ? ' (the first ones)' : ''}</summary>${list(
            paths.map((one) => html`<code>${one.change}</code> ${shown(one.path)}`),
          )}</details>`
    }</section>`;

/** The repositories that change, and the names of the others in one line. */
export const repositoriesPart = (repositories: readonly Repository[]): Markup => {
  const moved = repositories.filter(({ action }) => action !== 'unchanged');
  const same = repositories.filter(({ action }) => action === 'unchanged');
  return html`${moved.slice(0, MOST).map((one) => repositoryPart(one))}${
    moved.length > MOST
      ? html`<p class="cut">Cut here: ${plural(moved.length - MOST, 'more repository', 'more repositories')}.</p>`
      : NOTHING
  }${
    same.length === 0
      ? NOTHING
      : html`<p class="hint">As they are: ${same.slice(0, MOST).map(({ path: name }, index) => html`${index === 0 ? '' : ', '}${repositoryName(name)}`)}${same.length > MOST ? ` and ${same.length - MOST} more` : ''}</p>`
  }`;
};

export const warningsPart = (warnings: readonly string[]): Markup =>
  warnings.length === 0
    ? NOTHING
    : html`<section class="card warn">${list(warnings.map((line) => shown(line)))}</section>`;

/**
 * Shown above the plan of `now` when another plan was confirmed, or when the same one was confirmed while
 * somebody else was at work.
 */
export const refusedPart = (confirmed: string | undefined, now: string): Markup =>
  confirmed === undefined
    ? NOTHING
    : html`<p class="card warn" role="alert">${confirmed === now ? 'Somebody else was at work.' : 'Something changed since you looked.'} Nothing was done. This is the plan now.</p>`;

/**
 * Acts on exactly the plan that was confirmed. If somebody else was faster, the page of the plan
 * (`otherwise`) shows the present state, and asks again.
 */
export const unlessOvertaken = async <T, Otherwise extends Elsewhere | undefined>(
  { isOvertaken }: Pick<Visit, 'isOvertaken'>,
  act: () => Promise<T>,
  otherwise: Otherwise,
): Promise<T | Otherwise> => {
  try {
    return await act();
  } catch (error) {
    if (isOvertaken(error)) return otherwise;
    throw error;
  }
};

/**
 * Whether the request has begun and is not finished. The same request then continues, whatever is left of its
 * plan.
 */
export const isBegun = async (ask: Ask, sessionId: string, requestId: string): Promise<boolean> => {
  const { session } = await ask('timeline', { sessionId, limit: 1, brief: true });
  return session.busy?.requestId === requestId;
};

/**
 * For a request that was done before and is sent again: it does nothing, and its work may have been undone
 * since.
 */
export const movedSince = async (ask: Ask, sessionId: string, done: RollbackAnswer): Promise<Markup> => {
  if (done.status !== 'APPLIED') return NOTHING;
  const { session } = await ask('timeline', { sessionId, limit: 1, brief: true });
  return session.epoch === done.epoch
    ? NOTHING
    : html`<p class="card warn" role="alert">This was done before. The session was moved again since then, so nothing was done now, and files may be others than these.</p>`;
};

/** A name without a proof is marked. */
const whoPart = ({ name, person }: AskedBy): Markup =>
  html`${shown(name)}${person === undefined ? html` <span class="hint">(claimed)</span>` : NOTHING}`;

/** What was done to files, and the way back from it. */
export const doneFiles = (sessionId: string, done: RollbackAnswer): Markup =>
  html`${warningsPart(done.warnings)}
  ${done.by === undefined ? NOTHING : html`<p class="meta">Asked for by ${whoPart(done.by)}</p>`}
  ${done.lateWrites === undefined ? NOTHING : html`<p class="card warn">Another process wrote meanwhile. Checkpoint ${shown(done.lateWrites.checkpointId)} has its files: ${done.lateWrites.files.map((name) => html`${shown(name)} `)}${done.lateWrites.filesNotListed === undefined ? NOTHING : `and ${done.lateWrites.filesNotListed} more`}</p>`}
  ${repositoriesPart(done.repositories)}
  ${done.undoCheckpointId === null ? NOTHING : html`<p><a class="button" href="${path('sessions', sessionId, 'plan')}${query({ checkpoint: done.undoCheckpointId })}">Undo this</a></p>`}
  <p><a href="${path('sessions', sessionId)}">Back to the session</a></p>`;
