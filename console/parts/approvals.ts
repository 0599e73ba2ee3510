/** Who approved or declined the steps of a saga, and how they proved who they are. */
import { html } from 'hono/html';
import type { Observation } from '../../contract/saga-observation.ts';
import { plural } from '../../core/shared/plural.ts';
import { badge, type Markup, NOTHING, shown, table, time } from './markup.ts';

export const approvalsPart = ({ approvals = [], approvalsNotListed }: Observation): Markup =>
  approvals.length === 0
    ? NOTHING
    : html`<h2>Approvals</h2>${table(
        'Approvals, oldest first',
        [
          {
            title: 'Step',
            cell: ({ step, epoch }) =>
              html`${shown(step)}${epoch === undefined ? NOTHING : html` <span class="meta">epoch ${epoch}</span>`}`,
          },
          {
            title: 'Decision',
            cell: ({ decision }) => badge(decision, decision === 'approved' ? 'good' : 'bad'),
          },
          { title: 'Who', cell: ({ by }) => shown(by) },
          { title: 'Proof', cell: ({ proof }) => shown(proof) },
          { title: 'When', cell: ({ at }) => time(at) },
        ],
        approvals,
        '',
      )}${approvalsNotListed === undefined ? NOTHING : html`<p class="cut">Cut here: ${plural(approvalsNotListed, 'earlier approval')} in the ledger.</p>`}`;
