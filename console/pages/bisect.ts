/** Searches for the message that broke something: a form, and what the search found. */
import { html } from 'hono/html';
import type { BisectSessionAnswer, SearchProgress, Suspect, TriedCheckpoint } from '../../contract/bisect.ts';
import type { ChangesAnswer } from '../../contract/change-answers.ts';
import {
  callWords,
  endWords,
  foundWords,
  POINT_ERRORS,
  pointWords,
  shortId,
  suspectTitle,
} from '../../present/bisect-words.ts';
import type { Act, Show, Visit } from '../context.ts';
import { roomFor } from '../diff/markup.ts';
import { adviceOf, messageOf } from '../failure-words.ts';
import { type Further, failedData, failedPart, further } from '../further.ts';
import { callsPart } from '../parts/calls.ts';
import {
  badge,
  block,
  form,
  ident,
  link,
  type Markup,
  NOTHING,
  path,
  query,
  said,
  shown,
  table,
  time,
} from '../parts/markup.ts';
import type { Page } from '../parts/page.ts';
import { POINTS, pointsOf } from '../parts/points.ts';
import { fileLinks } from '../parts/wider.ts';

const TONES = { good: 'good', bad: 'bad', skipped: 'ask' } as const;

const backTo = (sessionId: string): Markup =>
  html`<p>${link(path('sessions', sessionId), 'Back to the session')}</p>`;

export const showBisect: Show = async (visit) => {
  const { ask, params, query: asked, formToken } = visit;
  const sessionId = params['id'] ?? '';
  const timeline = await ask('timeline', { sessionId, limit: POINTS, brief: true });
  const field = (name: string, label: string, more: Markup): Markup =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${asked[name] ?? ''}"${more} /></div>`;
  const list = (placeholder: string): Markup => html` list="points" placeholder="${placeholder}"`;
  const body = html`<p>A command says which checkpoints are good: it runs in fresh copies of some of them, and the message and tool call that broke it are found. Exit code 0 is good, 125 skips the checkpoint, any other is bad. The copies are killed.</p>
    ${form(
      path('sessions', sessionId, 'bisect'),
      formToken,
      { request: `console-${crypto.randomUUID()}` },
      html`<label for="command">Command (bash)</label><textarea id="command" name="command" required maxlength="8192" spellcheck="false">${asked['command'] ?? ''}</textarea>
      <div class="filters">${field('good', 'Good: here it succeeds', list('where it began'))}
      ${field('bad', 'Bad: here it fails', list('where it stands'))}
      ${field('repository', 'Repository to run it in', html` placeholder="the projects root"`)}
      ${field('timeout', 'Seconds at most, at one checkpoint', html` type="number" min="1" max="600" placeholder="300"`)}</div>
      <div class="acts"><button class="main" type="submit">Find what broke it</button></div>`,
    )}${pointsOf(timeline, { withNow: false })}${backTo(sessionId)}`;
  return { title: `What broke ${sessionId}?`, body, data: timeline };
};

const pointLink = ({ sessionId, checkpointId }: TriedCheckpoint, of: string): Markup => {
  const name = link(
    `${path('sessions', sessionId)}/plan${query({ checkpoint: checkpointId })}`,
    shortId(checkpointId),
  );
  return sessionId === of ? name : html`${name} of ${shown(sessionId)}`;
};

const outputPart = (
  title: string,
  one: Pick<
    SearchProgress['tried'][number],
    'sessionId' | 'checkpointId' | 'exitCode' | 'note' | 'output' | 'isCut'
  >,
  of: string,
): Markup => {
  const { output = '', isCut } = one;
  return html`<section><h2>${title}: ${shown(pointWords(one, of))}, ${said(endWords(one))}</h2>
    ${output.trim() === '' ? html`<p class="empty">No output.</p>` : block(output.trimEnd())}
    ${isCut === true ? html`<p class="cut">Cut in the middle: it was longer than 8 KiB.</p>` : NOTHING}</section>`;
};

const suspectPart = (suspect: Suspect, of: string): Markup => {
  const { sessionId, checkpointId, messageId, createdAt } = suspect;
  const title = suspectTitle(suspect);
  const call = callWords(suspect);
  return html`<p><strong>${
    messageId === null
      ? shown(title)
      : link(`${path('sessions', sessionId)}${query({ message: messageId })}`, title)
  }</strong> ${time(createdAt)} ${sessionId === of ? NOTHING : html`in ${link(path('sessions', sessionId), sessionId)}`}<br />
    ${call === '' ? NOTHING : shown(call)} ${ident(checkpointId)}</p>`;
};

const triedPart = ({ tried, sessionId }: Pick<BisectSessionAnswer, 'tried' | 'sessionId'>): Markup =>
  table(
    'Checkpoints that were tried',
    [
      { title: 'Checkpoint', cell: (one) => pointLink(one, sessionId) },
      { title: 'Verdict', cell: ({ verdict }) => badge(verdict, TONES[verdict]) },
      { title: 'Ended', cell: (one) => said(endWords(one)) },
      { title: 'Seconds', cell: ({ milliseconds }) => (milliseconds / 1000).toFixed(1), isNumber: true },
    ],
    tried,
    'None.',
  );

/** What the found checkpoint changed, as it was kept. */
const foundChanges = async (
  visit: Visit,
  { outcome, suspects: [suspect] }: BisectSessionAnswer,
): Promise<Further<ChangesAnswer>> => {
  if (outcome !== 'found' || suspect === undefined) return {};
  const { sessionId, checkpointId } = suspect;
  return further(visit, visit.ask('changes', { sessionId, checkpointId }));
};

const changedPart = (
  changes: Further<ChangesAnswer>,
  { suspects: [suspect] }: BisectSessionAnswer,
): Markup => {
  if (changes.read === undefined || suspect === undefined) return failedPart('What it changed', changes);
  const { sessionId, messageId } = suspect;
  // No checkpoint is the head here: what comes next is not shown.
  return html`<h2>What it changed</h2>${callsPart(changes.read.checkpoints, {
    room: roomFor(),
    links: (points, repository, file) => fileLinks(sessionId, points, repository, file),
    back: (checkpoint) => `${path('sessions', sessionId)}/plan${query({ checkpoint })}`,
    messageId: messageId ?? '',
    headSeq: 0,
  })}`;
};

const foundPage = (answer: BisectSessionAnswer, changes: Further<ChangesAnswer>): Page => {
  const { sessionId, suspects, suspectsNotListed, through, good, bad, note } = answer;
  const body = html`<section class="card ${answer.outcome === 'found' ? 'done' : 'warn'}" role="status"><p>${said(foundWords(answer))}</p>
    ${suspects.map((suspect) => suspectPart(suspect, sessionId))}
    ${suspectsNotListed === undefined ? NOTHING : html`<p class="hint">and ${suspectsNotListed} more</p>`}
    ${through.length === 0 ? NOTHING : html`<p class="hint">It came into the session with:</p>${through.map((merge) => suspectPart(merge, sessionId))}`}
    ${note === undefined ? NOTHING : html`<p>${said(note)}</p>`}</section>
    ${outputPart('Last good', good, answer.sessionId)}${outputPart('First bad', bad, answer.sessionId)}
    ${changedPart(changes, answer)}
    <h2>Tried</h2>${triedPart(answer)}${backTo(sessionId)}`;
  return {
    title: 'What broke it',
    body,
    data: { ...answer, changes: changes.read?.checkpoints ?? [], ...failedData({ changes }) },
    isWide: true,
  };
};

/** What the command wrote at an end that is not what it was said to be. */
const wrongEndPage = async (
  visit: Visit,
  sessionId: string,
  requestId: string,
  error: unknown,
): Promise<Page> => {
  const failure = visit.failureOf(error);
  const progress = await further(visit, visit.ask('progress', { sessionId, requestId }));
  const tried = progress.read?.search?.tried ?? [];
  return {
    title: 'That did not work',
    body: html`<section class="card stop" role="alert"><p>${said(messageOf(failure))}</p><p class="hint">What to do: ${adviceOf(failure.name)}</p>
      <p class="meta">Error <code>${shown(failure.name)}</code></p></section>
      ${failedPart('What the command wrote there', progress)}${tried.filter(({ output, checkpointId }) => output !== undefined && failure.message.includes(checkpointId)).map((one) => outputPart(one.verdict, one, sessionId))}${backTo(sessionId)}`,
    data: { error: { name: failure.name, message: failure.message }, tried, ...failedData({ progress }) },
  };
};

export const bisect: Act = async (sent) => {
  const { ask, fields, failureOf, params } = sent;
  const sessionId = params['id'] ?? '';
  const { command = '', good, bad, repository, timeout, request: requestId = '' } = fields;
  try {
    const answer = await ask('bisect-session', {
      sessionId,
      command,
      requestId,
      ...(good ? { good } : {}),
      ...(bad ? { bad } : {}),
      ...(repository ? { repository } : {}),
      ...(timeout ? { timeoutSeconds: Number(timeout) } : {}),
    });
    return foundPage(answer, await foundChanges(sent, answer));
  } catch (error) {
    if (!POINT_ERRORS.includes(failureOf(error).name)) throw error;
    return wrongEndPage(sent, sessionId, requestId, error);
  }
};
