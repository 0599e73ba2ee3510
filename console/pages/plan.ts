/** A rollback: the plan first, then exactly that plan, then the way back from it. */
import { html } from 'hono/html';
import { plural } from '../../cli/terminal/text.ts';
import { hostLines } from '../../cli/view/host-lines.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import type { Act, Ask, Show, Visit } from '../context.ts';
import { badge, form, link, list, type Markup, NOTHING, path, query, shown, table } from '../parts/markup.ts';
import type { Page } from '../parts/page.ts';

interface Target {
  sessionId: string;
  message?: string | undefined;
  checkpoint?: string | undefined;
}

const targetOf = ({ message, checkpoint }: Target) =>
  checkpoint === undefined || checkpoint === '' ? { messageId: message ?? '' } : { checkpointId: checkpoint };

/** What a person confirms. A plan that would do anything else has another digest. */
const digestOf = ({
  checkpointId,
  repositories,
  effects,
  discardedMessageIds,
  epoch,
}: RollbackAnswer): string =>
  sha256Hex(JSON.stringify({ checkpointId, repositories, effects, discardedMessageIds, epoch }));

const makePlan = (ask: Ask, target: Target, requestId: string): Promise<RollbackAnswer> =>
  ask('rollback', { sessionId: target.sessionId, ...targetOf(target), requestId, dryRun: true });

type Repository = RollbackAnswer['repositories'][number];

const repositoryPart = ({ path: name, action, written, deleted, host, paths = [] }: Repository): Markup =>
  html`<section class="card"><h2>${shown(name)} ${badge(action, action === 'unchanged' ? 'plain' : 'ask')}</h2>
    ${action === 'unchanged' ? NOTHING : html`<p>${plural(written, 'file')} written, ${plural(deleted, 'file')} deleted</p>`}
    ${list(hostLines(host).map((line) => shown(line)))}
    ${
      paths.length === 0
        ? NOTHING
        : html`<details><summary>${plural(paths.length, 'path')}${written + deleted > paths.length ? ' (the first ones)' : ''}</summary>${list(
            paths.map((one) => html`<code>${one.change}</code> ${shown(one.path)}`),
          )}</details>`
    }</section>`;

const effectsPart = (effects: RollbackAnswer['effects'] = []): Markup =>
  effects.length === 0
    ? NOTHING
    : html`<section class="card stop"><h2>What stands, whatever the files do</h2>
    <p>These effects came after the target. A rollback of files does not take them back.</p>${table(
      'Effects that stand',
      [
        { title: 'Saga', cell: ({ sagaId }) => link(path('sagas', sagaId), sagaId) },
        { title: 'Tool', cell: ({ tool }) => shown(tool) },
        { title: 'Reference', cell: ({ externalRef }) => shown(externalRef) },
        { title: 'Message', cell: ({ messageId }) => shown(messageId) },
        { title: 'Can be undone', cell: ({ reversible }) => (reversible ? 'yes' : 'no') },
      ],
      effects,
      '',
    )}</section>`;

const planBody = (
  plan: RollbackAnswer,
  { sessionId, message, checkpoint }: Target,
  visit: Visit,
  requestId: string,
): Markup =>
  html`<p>Back to ${shown(message === undefined || message === '' ? plan.checkpointId : message)}. All repositories, or none. A checkpoint of what is there now is taken first, so that it can be undone.</p>
  ${list(plan.warnings.map((line) => html`<strong>${shown(line)}</strong>`))}
  ${plan.repositories.map((one) => repositoryPart(one))}
  ${effectsPart(plan.effects)}
  ${plan.discardedMessageIds.length === 0 ? NOTHING : html`<p>${plural(plan.discardedMessageIds.length, 'message')} would be left behind: ${plan.discardedMessageIds.slice(0, 20).map((id) => html`${shown(id)} `)}</p>`}
  ${form(
    path('sessions', sessionId, 'rollback'),
    visit.formToken,
    { message, checkpoint, request: requestId, digest: digestOf(plan) },
    html`<button class="main" type="submit">Roll back exactly this</button>`,
  )} ${link(path('sessions', sessionId), 'Leave it')}`;

const planPage = async (visit: Visit, target: Target, before?: string): Promise<Page> => {
  const requestId = `console-${crypto.randomUUID()}`;
  const plan = await makePlan(visit.ask, target, requestId);
  const changed =
    before === undefined || before === digestOf(plan)
      ? NOTHING
      : html`<p class="card warn" role="alert">Something changed since you looked. Nothing was done. This is the plan now.</p>`;
  return {
    title: 'Rollback: the plan',
    body: html`${changed}${planBody(plan, target, visit, requestId)}`,
    data: plan,
  };
};

export const showPlan: Show = (visit) => {
  const { message, checkpoint } = visit.query;
  return planPage(visit, { sessionId: visit.params['id'] ?? '', message, checkpoint });
};

export const rollBack: Act = async (sent) => {
  const { message, checkpoint, request = '', digest = '' } = sent.fields;
  const sessionId = sent.params['id'] ?? '';
  const target = { sessionId, message, checkpoint };
  const now = await makePlan(sent.ask, target, `${request}-check`);
  if (digestOf(now) !== digest) return planPage(sent, target, digest);
  // The very checkpoint of the plan: a message may have got another one meanwhile.
  const done = await sent.ask('rollback', { sessionId, checkpointId: now.checkpointId, requestId: request });
  const undo = done.undoCheckpointId;
  return {
    title: 'Rolled back',
    body: html`<p class="card done" role="status">All repositories are as they were at ${shown(message ?? done.checkpointId)}.</p>
      ${list(done.warnings.map((line) => shown(line)))}
      ${done.lateWrites === undefined ? NOTHING : html`<p class="card warn">Another process wrote meanwhile. Checkpoint ${shown(done.lateWrites.checkpointId)} has its files: ${done.lateWrites.files.map((name) => html`${shown(name)} `)}</p>`}
      ${done.repositories.map((one) => repositoryPart(one))}
      ${effectsPart(done.effects)}
      ${undo === null ? NOTHING : html`<p><a href="${path('sessions', sessionId, 'plan')}${query({ checkpoint: undo })}">Undo this rollback</a></p>`}
      <p>${link(path('sessions', sessionId), 'Back to the session')}</p>`,
    data: done,
  };
};
