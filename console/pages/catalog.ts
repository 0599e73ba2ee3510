import { html } from 'hono/html';
import type { Show } from '../context.ts';
import { badge, NOTHING, shown, table } from '../parts/markup.ts';

const EFFECT_TONES = { read: 'plain', compensatable: 'good', partial: 'ask', irreversible: 'bad' } as const;

/** A tool need not have a review date. */
const reviewCell = ({
  reviewBy = '',
  daysToReview = 0,
}: {
  reviewBy?: string | undefined;
  daysToReview?: number | undefined;
}) =>
  html`<span class="whole">${shown(reviewBy)}</span>${daysToReview < 0 ? html` ${badge('overdue', 'bad')}` : NOTHING}`;

export const showCatalog: Show = async ({ ask }) => {
  const answer = await ask('list-catalog', {});
  const tools = table(
    'Tools',
    [
      { title: 'Tool', cell: ({ name }) => shown(name) },
      { title: 'Version', cell: ({ version }) => shown(version) },
      { title: 'Effect', cell: ({ effect }) => badge(effect, EFFECT_TONES[effect]) },
      {
        title: 'Taken back by',
        cell: ({ compensator, effect }) => shown(compensator ?? (effect === 'read' ? '' : 'nothing')),
      },
      { title: 'Review by', cell: reviewCell },
      { title: 'Does', cell: ({ description }) => shown(description) },
    ],
    answer.tools,
    'No tool yet. walkback catalog put stores some.',
  );
  const definitions = table(
    'Templates',
    [
      { title: 'Template', cell: ({ name }) => shown(name) },
      { title: 'Version', cell: ({ version }) => shown(version) },
      { title: 'Steps', cell: ({ steps }) => shown(steps.join(', ')) },
      { title: 'Review by', cell: reviewCell },
      { title: 'Does', cell: ({ description }) => shown(description) },
    ],
    answer.definitions,
    'No template yet.',
  );
  return {
    title: 'Catalog',
    body: html`<h2>Tools</h2>${tools}<h2>Templates</h2>${definitions}`,
    data: answer,
  };
};
