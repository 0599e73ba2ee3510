import { html } from 'hono/html';
import type { OperatedSaga } from '../../contract/saga-answers.ts';
import type { Elsewhere } from '../context.ts';
import { link, path } from './markup.ts';
import type { Page } from './page.ts';
import { warningsPart } from './plan-parts.ts';

/** The page of the saga; first a page of warnings, when there are any. */
export const toldSaga = (answer: OperatedSaga): Page | Elsewhere => {
  const location = path('sagas', answer.sagaId);
  const { warnings = [] } = answer;
  if (warnings.length === 0) return { location };
  return {
    title: 'Recorded',
    body: html`${warningsPart(warnings)}<p>${link(location, 'The saga')}</p>`,
    data: answer,
  };
};
