/** The picture of the README as SVG: three moments side by side, in light and dark. Pure. */
import type { Moment, PictureRun } from './run.ts';

const COLUMN = { left: 24, width: 264, gap: 36 };
const ROW = { top: 96, height: 112, gap: 14 };
const LINE = 21;
const WIDTH = 2 * COLUMN.left + 3 * COLUMN.width + 2 * COLUMN.gap;
const HEIGHT = ROW.top + 3 * (ROW.height + ROW.gap) + 58;

const STYLE = `
.page { fill: #ffffff } .card { fill: #f6f8fa; stroke: #d0d7de }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328; white-space: pre }
.title { font-weight: 600; font-size: 15px } .soft { fill: #59636e } .name { font-weight: 600 }
.changed { fill: #b35900 } .back { fill: #1a7f37 } .arrow { stroke: #59636e; fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } .card { fill: #161b22; stroke: #3d444d }
text { fill: #e6edf3 } .soft { fill: #9198a1 } .changed { fill: #f0a35e } .back { fill: #56d364 } .arrow { stroke: #9198a1 }
}
`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const say = (x: number, y: number, text: string, kind = ''): string =>
  `<text x="${x}" y="${y}"${kind === '' ? '' : ` class="${kind}"`}>${escaped(text)}</text>`;

/** Cents as an amount. */
const amount = (cents: number): string => (cents / 100).toFixed(2);

interface Card {
  name: string;
  lines: readonly string[];
}

const cardsOf = ({ repositories, payments }: Moment): Card[] => {
  const sum = payments.reduce((total, { kind, cents }) => total + (kind === 'payment' ? cents : -cents), 0);
  return [
    ...repositories.map(({ path, head, status }) => ({
      name: `${path}/`,
      lines: [`HEAD: ${head}`, ...(status.length === 0 ? ['nothing to commit'] : status)],
    })),
    {
      name: 'payments (another system)',
      lines: [...payments.map(({ kind, cents }) => `${kind} ${amount(cents)}`), `balance ${amount(sum)}`],
    },
  ];
};

const column = (index: number): number => COLUMN.left + index * (COLUMN.width + COLUMN.gap);

/** What differs from the first moment stands out; in the last one, what is as it was does. */
const kindOf = (line: string, first: readonly string[], index: number): string => {
  if (index === 0) return '';
  if (index === 1) return first.includes(line) ? '' : 'changed';
  return first.includes(line) ? 'back' : '';
};

const drawMoment = (cards: readonly Card[], first: readonly Card[], index: number): string[] =>
  cards.flatMap(({ name, lines }, row) => {
    const [x, y] = [column(index), ROW.top + row * (ROW.height + ROW.gap)];
    return [
      `<rect class="card" x="${x}" y="${y}" width="${COLUMN.width}" height="${ROW.height}" rx="8"/>`,
      say(x + 14, y + 26, name, 'name'),
      ...lines.map((line, at) =>
        say(x + 14, y + 26 + (at + 1) * LINE, line, kindOf(line, first[row]?.lines ?? [], index)),
      ),
    ];
  });

const arrow = (index: number): string => {
  const [x, y] = [column(index) - COLUMN.gap + 3, 52];
  return `<path class="arrow" d="M${x} ${y}h20m-6 -5l6 5l-6 5"/>`;
};

/** One sentence for whoever does not see the picture. */
const described = ({ worked, rewound, answer }: PictureRun): string => {
  const last = (moment: Moment): string =>
    cardsOf(moment)
      .map(({ name, lines }) => `${name}: ${lines.join(', ')}`)
      .join('; ');
  return `After the agent's turn: ${last(worked)}. After the rewind (${answer.status}): ${last(rewound)}.`;
};

export const drawPicture = (run: PictureRun): string => {
  const moments = [run.before, run.worked, run.rewound].map(cardsOf);
  const first = moments[0] ?? [];
  const { plan, answer } = run;
  const files = plan.repositories
    .map(({ path, written, deleted }) => `${path}: ${written} written, ${deleted} deleted`)
    .join('; ');
  const heads = [
    ['msg-1', 'as this message left it'],
    ['msg-2', 'what the agent did'],
    ['walkback rewind --to msg-1', `${answer.status}: files and money`],
  ] as const;
  const bottom = HEIGHT - 46;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title desc">`,
    '<title id="title">A rewind takes back an agent\'s work in two repositories, and its payment</title>',
    `<desc id="desc">${escaped(described(run))}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${HEIGHT}" rx="12"/>`,
    ...heads.flatMap(([title, text], index) => [
      say(column(index), 46, title, 'title'),
      say(column(index), 70, text, 'soft'),
    ]),
    arrow(1),
    arrow(2),
    ...moments.flatMap((cards, index) => drawMoment(cards, first, index)),
    say(column(0), bottom + 6, `plan    undo ${plan.undo.join(', ')}; then ${files}`, 'soft'),
    say(column(0), bottom + 28, `answer  saga ${answer.sagas.join(', ')}; files ${answer.files}`, 'soft'),
    '</svg>',
    '',
  ].join('\n');
};
