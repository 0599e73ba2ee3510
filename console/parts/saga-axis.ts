/**
 * What happened in a saga, on an axis of time: each call forward and back with its attempts, and each wait. The
 * spans are pure data.
 */
import { html, raw } from 'hono/html';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import { formatSpan } from '../../present/text.ts';
import { money } from './ledger-tables.ts';
import { badge, type Column, folded, type Markup, NOTHING, shown, table, time } from './markup.ts';

type SpanKind = 'forward' | 'undo' | 'probe' | 'wait';

export interface Span {
  kind: SpanKind;
  words: string;
  tool: string | null;
  fromMs: number;
  /** Null: it is not over. */
  toMs: number | null;
  /** The row that ended it. */
  end: LedgerRow | undefined;
  attempt: number;
}

const CALLS: ReadonlyMap<string, readonly [SpanKind, string]> = new Map([
  ['forward started', ['forward', '']],
  ['undo started', ['undo', 'Undo']],
  ['probe started', ['probe', 'Ask the provider about']],
  ['approval requested', ['wait', 'Waits for approval of']],
  ['lock waiting', ['wait', 'Waits for the resource of']],
  ['slot queued', ['wait', 'Waits for room in its project']],
  ['saga paused', ['wait', 'Pauses']],
  ['saga idle', ['wait', 'Waits for the next step']],
  ['saga parked', ['wait', 'Put aside']],
  ['undo delayed', ['wait', 'Waits before it undoes again']],
]);

/** These waits belong to the whole saga: whatever is recorded next ends them. */
const OF_SAGA = new Set(['saga', 'slot']);

const isEndOf = (row: LedgerRow, span: LedgerRow): boolean =>
  OF_SAGA.has(span.direction)
    ? row.seq > span.seq && row.direction !== 'alert'
    : row.seq > span.seq && row.direction === span.direction && row.step === span.step;

/** `rows`: oldest first. `isOver`: nothing of it goes on. */
export const spansOf = (rows: readonly LedgerRow[], isOver: boolean): Span[] =>
  rows.flatMap((row, at) => {
    const call = CALLS.get(`${row.direction} ${row.status}`);
    if (call === undefined) return [];
    const end = rows.slice(at + 1).find((one) => isEndOf(one, row));
    const last = rows.at(-1) ?? row;
    return [
      {
        kind: call[0],
        words: call[1],
        tool: row.tool,
        fromMs: Date.parse(row.at),
        toMs: end === undefined ? (isOver ? Date.parse(last.at) : null) : Date.parse(end.at),
        end,
        attempt: row.attempt ?? 1,
      },
    ];
  });

const WIDTH = 1000;
const LEAST = 6;
/** Below this, a gap is drawn as it is. */
const SHORT_MS = 50;

/** Long gaps take less room than their length, so that a wait of days leaves the calls in sight. */
const scaleOf = (times: readonly number[]): ((ms: number) => number) => {
  const sorted = [...new Set(times)].toSorted((one, other) => one - other);
  const places = new Map<number, number>();
  let place = 0;
  for (const [at, ms] of sorted.entries()) {
    const before = sorted[at - 1];
    if (before !== undefined) place += Math.log2(1 + (ms - before) / SHORT_MS);
    places.set(ms, place);
  }
  const factor = place === 0 ? 0 : (WIDTH - LEAST) / place;
  return (ms) => Math.round((places.get(ms) ?? 0) * factor);
};

const OUTCOMES: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['committed', ['done', 'good']],
  ['approved', ['approved', 'good']],
  ['declined', ['declined', 'bad']],
  ['expired', ['nobody answered', 'bad']],
  ['rejected', ['refused', 'bad']],
  ['unknown', ['not known', 'ask']],
  ['absent', ['did not happen', 'calm']],
  ['delayed', ['later again', 'ask']],
  ['failed', ['failed', 'bad']],
  ['blocked', ['blocked', 'bad']],
]);

const outcome = ({ kind, end, toMs }: Span): Markup => {
  if (end === undefined) return toMs === null ? badge('now', 'ask') : NOTHING;
  const known = OUTCOMES.get(end.status);
  if (known === undefined) return NOTHING;
  const [word, tone] = kind === 'undo' && end.status === 'committed' ? ['undone', 'calm'] : known;
  return html`${badge(word, tone)}${end.error === null ? NOTHING : html` ${folded(end.error)}`}`;
};

const took = ({ fromMs, toMs }: Span): string => {
  if (toMs === null) return '';
  const ms = toMs - fromMs;
  return ms < 1000 ? `${ms} ms` : formatSpan(Math.round(ms / 1000));
};

/** Everything that the bars show is in words beside them. */
export const axisPart = (rows: readonly LedgerRow[], isOver: boolean, now: Date): Markup => {
  const spans = spansOf(rows, isOver);
  if (spans.length === 0) return NOTHING;
  const endOf = ({ toMs }: Span): number => toMs ?? now.getTime();
  const scale = scaleOf(spans.flatMap((one) => [one.fromMs, endOf(one)]));
  const bar = (one: Span): Markup => {
    const from = scale(one.fromMs);
    const width = Math.max(LEAST, scale(endOf(one)) - from);
    return html`<svg class="axis" aria-hidden="true" viewBox="0 0 ${WIDTH} 12" preserveAspectRatio="none">${raw(`<rect class="${one.kind}" x="${from}" y="1" width="${width}" height="10" rx="2"/>`)}</svg>`;
  };
  const columns: Column<Span>[] = [
    {
      title: 'What',
      cell: ({ words, tool, attempt }) =>
        html`${words}${words === '' || tool === null ? NOTHING : ' '}${tool === null ? NOTHING : shown(tool)}${attempt > 1 ? html` <span class="hint">attempt ${attempt}</span>` : NOTHING}`,
    },
    { title: 'When', cell: ({ fromMs }) => time(new Date(fromMs).toISOString(), 'near') },
    { title: 'Axis', cell: bar },
    { title: 'Took', isNumber: true, cell: took },
    { title: 'Amount', isNumber: true, cell: ({ end }) => money(end?.amount, end?.currency) },
    { title: 'Outcome', cell: outcome },
  ];
  return html`<h2>What happened</h2>${table('What happened, oldest first', columns, spans, '')}<p class="hint">Long waits are drawn shorter than they were.</p>`;
};
