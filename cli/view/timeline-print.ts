import type { TimelineAnswer } from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { printableLine } from '../../present/text.ts';
import type { TargetFlags } from '../target/select.ts';
import { visibleLength } from '../terminal/columns.ts';
import type { Paint } from '../terminal/terminal.ts';
import { padEnd, truncate, widest } from '../terminal/text.ts';
import { withWhere } from '../where-words.ts';
import { settledLines } from './checkpoint-view.ts';
import type { Cell } from './graph.ts';
import { NODE } from './graph.ts';
import { buildTimeline, type Standing, type TimelineRow, type TimelineView } from './timeline-rows.ts';

const GLYPHS: Readonly<Record<Standing, string>> = { head: '◉', current: '●', abandoned: '○', copy: '◇' };

const paintLane = (paint: Paint, lane: number, text: string): string => {
  const colours = [paint.green, paint.magenta, paint.blue, paint.yellow, paint.cyan];
  return (colours[lane % colours.length] ?? paint.green)(text);
};

const drawCells = (paint: Paint, cells: readonly Cell[], standing: Standing): string =>
  cells
    .map(({ glyph, lane }) => {
      const shown = glyph === NODE ? GLYPHS[standing] : glyph;
      const painted = paintLane(paint, lane, shown);
      return shown.length >= 2 ? painted : `${painted} `;
    })
    .join('');

/** Least width for a checkpoint's reason and marks, beside the message. */
const LEAST_WHY_WIDTH = 24;

interface Layout {
  /** Columns right of the graph. */
  room: number;
  idWidth: number;
  /** A longer message id gets a line of its own, because an id that is cut cannot be given to another command. */
  messageWidth: number;
}

const isBeside = ({ message }: TimelineRow, messageWidth: number): boolean =>
  visibleLength(message) <= messageWidth;

/** The width of the widest message id that leaves room for the rest of its line. */
const messageWidthIn = (rows: readonly TimelineRow[], room: number): number => {
  const fitting = rows.map(({ message }) => message).filter((message) => visibleLength(message) <= room);
  return widest(fitting);
};

const headline = (paint: Paint, row: TimelineRow, { room, idWidth, messageWidth }: Layout): string => {
  const marks = [
    ...(row.standing === 'head' ? [paint.bold(paint.green('head'))] : []),
    ...(row.standing === 'copy' ? [paint.dim('review copy')] : []),
    ...(row.discarded ? [paint.dim('discarded')] : []),
  ].join(' ');
  const marksWidth = [row.standing === 'head' ? 4 : row.standing === 'copy' ? 11 : 0, row.discarded ? 9 : 0]
    .filter((width) => width > 0)
    .reduce((sum, width) => sum + width + 1, 0);
  const fixed = idWidth + messageWidth + 1 + visibleLength(row.time) + 1 + marksWidth;
  const why = truncate(row.why, Math.max(0, room - fixed));
  const message = isBeside(row, messageWidth) ? row.message : '';
  const off = row.standing === 'abandoned' || row.standing === 'copy';
  const id = padEnd(row.shortId, idWidth);
  return [
    off ? paint.dim(id) : paint.bold(id),
    padEnd(off ? paint.dim(message) : paint.yellow(message), messageWidth + 1),
    paint.dim(row.time),
    why === '' ? '' : ` ${off ? paint.dim(why) : why}`,
    marks === '' ? '' : ` ${marks}`,
  ].join('');
};

/** The lines of the tree, laid out for `width` columns. */
export const timelineLines = (view: TimelineView, paint: Paint, width: number): string[] => {
  const graphWidth = Math.min(view.graphWidth, Math.floor(width / 2));
  const room = width - graphWidth;
  const idWidth = widest(view.rows.map((row) => row.shortId)) + 2;
  const beside = idWidth + widest(view.rows.map((row) => row.time)) + 2 + LEAST_WHY_WIDTH;
  const layout = { room, idWidth, messageWidth: messageWidthIn(view.rows, room - beside) };
  const detailRoom = layout.room - layout.idWidth;
  const lines = view.rows.flatMap((row) => {
    const beside = padEnd(drawCells(paint, row.below, row.standing), graphWidth + layout.idWidth);
    const details = [
      ...(isBeside(row, layout.messageWidth) ? [] : [paint.yellow(row.message)]),
      ...(row.title === '' ? [] : [truncate(`“${row.title}”`, detailRoom)]),
      paint.dim(truncate(row.changes, detailRoom)),
      ...row.warnings.map((warning) => paint.yellow(truncate(warning, detailRoom))),
    ];
    return [
      ...row.above.map((cells) => drawCells(paint, cells, row.standing).trimEnd()),
      padEnd(drawCells(paint, row.node, row.standing), graphWidth) + headline(paint, row, layout),
      ...details.map((detail) => beside + detail),
    ];
  });
  if (view.open.length === 0) return lines;
  return [...lines, drawCells(paint, view.open, 'current').trimEnd()];
};

/** Header and tree of `walkback log`. */
export const timelineText = (
  timeline: TimelineAnswer,
  { paint, width, now, where = {} }: { paint: Paint; width: number; now: Date; where?: TargetFlags },
): string => {
  const { session } = timeline;
  const facts = [
    session.status,
    `epoch ${session.epoch}`,
    plural(session.seq, 'checkpoint'),
    plural(timeline.messages.length, 'message'),
  ];
  const header = [
    `${paint.bold(session.sessionId)}  ${facts.join(' · ')}`,
    paint.dim(
      `${printableLine(session.projectsRoot)}  in sandbox ${session.sandboxId}${session.project === undefined ? '' : `  of project ${printableLine(session.project)}`}`,
    ),
    ...settledLines(session.settledRollback, paint),
    '',
  ];
  const rest =
    timeline.cursor === undefined
      ? []
      : [
          paint.dim(
            withWhere(
              `older checkpoints: walkback log --session ${session.sessionId} --limit ${session.seq}`,
              where,
            ),
          ),
        ];
  return `${[...header, ...timelineLines(buildTimeline(timeline, now), paint, width), ...rest].join('\n')}\n`;
};
