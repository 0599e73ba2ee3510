/** Takes back a completed saga: first the plan, then exactly that plan. */
import { html } from 'hono/html';
import type { OperatedSaga, UndoPlan } from '../../contract/saga-answers.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { sagaTitle } from '../../present/saga-words.ts';
import type { Act, Show, Visit } from '../context.ts';
import { failedData, failedPart, further } from '../further.ts';
import { badge, form, link, path } from '../parts/markup.ts';
import type { Page } from '../parts/page.ts';
import { refusedPart } from '../parts/plan-parts.ts';
import { toldSaga } from '../parts/told-saga.ts';
import { residueTick, undoPlanTable, whyField } from '../parts/undo-plan.ts';

const EMPTY: UndoPlan = { undo: [], stands: [] };

/** A plan that would take back or leave anything else has another digest. */
const digestOf = ({ undo, stands }: UndoPlan): string => sha256Hex(JSON.stringify([undo, stands]));

const planned = ({ ask, by, params }: Visit): Promise<OperatedSaga> =>
  ask('operate-saga', { sagaId: params['id'] ?? '', action: 'undo', by, dryRun: true });

const planPage = async (
  visit: Visit,
  { sagaId, status, plan = EMPTY }: OperatedSaga,
  before?: string,
): Promise<Page> => {
  const { formToken } = visit;
  const digest = digestOf(plan);
  const seen = await further(visit, visit.ask('describe-saga', { sagaId, subject: true }));
  const saga = link(path('sagas', sagaId), sagaTitle(seen.read ?? { sagaId }));
  return {
    title: 'Undo: the plan',
    body: html`${refusedPart(before, digest)}${failedPart('What it is about', seen)}
      <p>${saga} ${badge(status)} Effects are undone one after the other, in this order. When one cannot be undone, ${link('/queue', 'the queue')} has it.</p>
      ${undoPlanTable(`What ${sagaId} did`, plan, 'Nothing is left to take back.')}
      ${
        status === 'COMPLETED'
          ? form(
              path('sagas', sagaId, 'undo'),
              formToken,
              { digest },
              html`${plan.stands.length === 0 ? whyField('evidence', false) : residueTick(plan.stands.length, 'undo the rest', whyField('evidence', true))}
              <div class="acts"><button class="main" type="submit">Undo exactly this</button>${link(path('sagas', sagaId), 'Cancel')}</div>`,
            )
          : html`<p class="hint">Its undo was asked for already, and this is what was left of it.</p>`
      }`,
    data: { sagaId, status, plan, ...failedData({ saga: seen }) },
  };
};

export const showUndo: Show = async (visit) => planPage(visit, await planned(visit));

/** Sent twice, it is one undo. */
export const undo: Act = async (sent) => {
  const { ask, by, fields } = sent;
  const { digest = '', residue } = fields;
  const evidence = fields['evidence']?.trim() ?? '';
  const now = await planned(sent);
  if (now.status === 'COMPLETED' && digestOf(now.plan ?? EMPTY) !== digest) {
    return planPage(sent, now, digest);
  }
  const undone = await ask('operate-saga', {
    sagaId: now.sagaId,
    action: 'undo',
    by,
    ...(evidence === '' ? {} : { evidence }),
    ...(residue === 'accepted' ? { acceptResidue: true, residue: now.residue } : {}),
  });
  return toldSaga(undone);
};
