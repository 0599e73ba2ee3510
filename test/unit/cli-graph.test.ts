import { array, assert, nat, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cell, type GraphNode, layOutTree, NODE } from '../../cli/view/graph.ts';

const draw = (cells: Cell[], node = '*'): string =>
  cells
    .map(({ glyph }) => (glyph === NODE ? node : glyph).padEnd(2))
    .join('')
    .trimEnd();

const picture = (nodes: GraphNode[], headSeq: number): string[] => {
  const graph = layOutTree(nodes, headSeq);
  const lines = graph.rows.flatMap((row) => [...row.above.map((cells) => draw(cells)), draw(row.node)]);
  return graph.open.length === 0 ? lines : [...lines, draw(graph.open)];
};

const node = (seq: number, parentSeq: number | null): GraphNode => ({ seq, parentSeq });

describe('the graph of a timeline', () => {
  test('draws nothing for an empty timeline', () => {
    expect(layOutTree([], 1)).toEqual({ rows: [], open: [], width: 0 });
  });

  test('draws a straight line in one lane', () => {
    expect(picture([node(1, null), node(2, 1), node(3, 2)], 3)).toEqual(['*', '*', '*']);
  });

  test('keeps the way to the head in the left lane when a newer branch was left behind', () => {
    const nodes = [node(1, null), node(2, 1), node(3, 2), node(4, 3)];
    expect(picture(nodes, 2)).toEqual(['  *', '  *', '╭─╯', '*', '*']);
  });

  test('draws the new path beside the branch left behind', () => {
    const nodes = [node(1, null), node(2, 1), node(3, 2), node(4, 3), node(5, 2)];
    expect(picture(nodes, 5)).toEqual(['*', '│ *', '│ *', '├─╯', '*', '*']);
  });

  test('joins several branches at once', () => {
    const nodes = [node(1, null), node(2, 1), node(3, 1), node(4, 1), node(5, 1)];
    expect(picture(nodes, 5)).toEqual(['*', '│ *', '│ │ *', '│ │ │ *', '├─┴─┴─╯', '*']);
  });

  test('crosses a lane that runs on below', () => {
    const nodes = [node(1, null), node(2, 1), node(3, 2), node(4, 3), node(5, 2), node(6, 3)];
    expect(picture(nodes, 6)).toEqual(['*', '│ *', '│ │ *', '├─┼─╯', '* │', '├─╯', '*', '*']);
  });

  test('says that there is more below when parents were cut off', () => {
    expect(picture([node(8, 7), node(9, 8)], 9)).toEqual(['*', '*', '┊']);
  });

  test('draws a page that the head is not on', () => {
    expect(picture([node(8, 2), node(9, 8)], 2)).toEqual(['*', '*', '┊']);
  });

  test('draws every node once, above its parent, with a joined lane for every branch (property)', () => {
    const trees = array(nat(), { minLength: 1, maxLength: 40 }).map((choices) =>
      choices.map((choice, index) => node(index + 1, index === 0 ? null : (choice % index) + 1)),
    );
    assert(
      property(trees, nat(), (nodes, choice) => {
        const headSeq = (choice % nodes.length) + 1;
        const graph = layOutTree(nodes, headSeq);
        expect(graph.rows.map((row) => row.seq)).toEqual(nodes.map(({ seq }) => seq).toReversed());
        for (const row of graph.rows) {
          expect(row.node.filter(({ glyph }) => glyph === NODE)).toHaveLength(1);
        }
        const laneOf = new Map(
          graph.rows.map((row) => [row.seq, row.node.find(({ glyph }) => glyph === NODE)?.lane]),
        );
        expect(laneOf.get(headSeq)).toBe(0);
        expect(laneOf.get(1)).toBe(0);
        expect(graph.open).toEqual([]);
        const leaves = nodes.filter(({ seq }) => !nodes.some(({ parentSeq }) => parentSeq === seq));
        const joins = graph.rows.flatMap((row) => row.above.flat()).filter(({ glyph }) => /[╯┴]/.test(glyph));
        // The head has a lane even when nothing starts in it.
        expect(joins).toHaveLength(
          leaves.some(({ seq }) => seq === headSeq) ? leaves.length - 1 : leaves.length,
        );
      }),
    );
  });
});
