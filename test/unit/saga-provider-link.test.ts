/** Where people see an effect at its provider: declared by its tool, in the ledger, in answers, and a link for people. */
import { html } from 'hono/html';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { observationText } from '../../cli/view/saga-views.ts';
import { reference } from '../../console/parts/ledger-tables.ts';
import { isWebAddress } from '../../contract/web-address.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import { effectsCsv, toCsv } from '../../core/saga/ledger/csv.ts';
import { createSagaEffects } from '../../core/saga/ledger/effect-rows.ts';
import { exportObjects } from '../../core/saga/ledger/export-lines.ts';
import { fromRow, toRow } from '../../core/saga/ledger/ledger-row.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import { parseTool } from '../../core/saga/plan/catalog.ts';
import type { Invoked } from '../../core/saga/ports.ts';
import { noticeOf } from '../../core/saga/view/notice.ts';
import { testToolIsSafe } from '../../kit/conformance.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { lost, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const URL_OF = '"https://pay.example/payments/" & result.id';
const LINK = 'https://pay.example/payments/p-1';

const ONCE = { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 };
const payTool = (more: Partial<ToolManifest> = {}): ToolManifest =>
  scriptedTool('pay', 'compensatable', {
    externalUrl: URL_OF,
    compensation: { name: 'undo_pay', timeoutSeconds: 10, retry: ONCE },
    ...more,
  });

const paid = (id: unknown = 'p-1'): Invoked => ({
  Payload: { outcome: 'committed', result: { id }, externalRef: 'ref-1' },
});

/** `pay`, then a step that is refused, and a compensator that cannot take `pay` back. */
const stuck = async (pay: ToolManifest, first: Invoked = paid(), probed: Invoked = paid()) => {
  const saga = await scriptedSaga({
    tools: [pay, scriptedTool('fail', 'compensatable')],
    answer: ({ operation, step }) => {
      if (step === 'fail' || operation === 'compensate') return rejected();
      return operation === 'probe' ? probed : first;
    },
  });
  await saga.run();
  const seen = await saga.seen();
  expect(seen.isSound).toBe(true);
  return { ...seen, saga };
};

const linksOf = (entries: readonly LedgerEntry[]) =>
  entries.flatMap((entry) =>
    'externalUrl' in entry || 'externalUrlProblem' in entry
      ? [`${entry.direction} ${entry.externalUrl ?? entry.externalUrlProblem?.name}`]
      : [],
  );

describe('the address of an effect', () => {
  test('is in the entry that says that it took effect, also of a probe', async () => {
    expect(linksOf((await stuck(payTool())).entries)).toEqual([`forward ${LINK}`]);
    expect(linksOf((await stuck(payTool({ probe: true }), lost)).entries)).toEqual([`probe ${LINK}`]);
  });

  test('may be made of the arguments and of the reference', async () => {
    const { entries } = await stuck(payTool({ externalUrl: '"https://pay.example/" & externalRef' }));
    expect(linksOf(entries)).toEqual(['forward https://pay.example/ref-1']);
  });

  test.each([
    ['a script', '"javascript:alert(1)"', 'UrlInvalid'],
    ['http', '"http://pay.example/" & result.id', 'UrlInvalid'],
    ['no host', '"https:///etc"', 'UrlInvalid'],
    ['a name and a password', '"https://pay.example@evil.example/"', 'UrlInvalid'],
    ['a line break', '"https://pay.example/\\n" & result.id', 'UrlInvalid'],
    ['a mark that cannot be seen', '"https://pay.example/\\u202e" & result.id', 'UrlInvalid'],
    ['too much', '"https://pay.example/" & $pad("x", 500, "x")', 'UrlInvalid'],
    ['no text', 'result', 'UrlInvalid'],
    ['what is not there', 'result.nothing', 'UrlUnresolved'],
    ['more than anybody evaluates', '$pad("x", 1000000000)', 'UrlUnresolved'],
  ])('that is %s is left out, told by name, and stops nothing', async (_, externalUrl, problem) => {
    const { entries, observation } = await stuck(payTool({ externalUrl }));
    expect(linksOf(entries)).toEqual([`forward ${problem}`]);
    expect(observation.notCompensated[0]).toMatchObject({ step: 'pay', externalRef: 'ref-1' });
    expect(observation.notCompensated[0]).not.toHaveProperty('externalUrl');
  });

  test('is beside the amount of the same call', async () => {
    const { entries } = await stuck(payTool({ amount: '"1.50"', currency: '"EUR"', amountDirection: 'out' }));
    expect(entries).toContainEqual(expect.objectContaining({ externalUrl: LINK, amount: '1.50' }));
  });
});

describe('whoever works a saga', () => {
  test('has the link on a line of its own, however long', async () => {
    const { observation } = await stuck(payTool());
    const lines = observationText(observation, createPaint(false), 80).split('\n');
    const at = lines.indexOf('  ✖ pay pay  ref-1');
    expect(lines[at + 1]).toBe(`    ${LINK}`);
  });

  test('is told it by the observation and the notice', async () => {
    const { observation } = await stuck(payTool());
    expect(observation.notCompensated).toMatchObject([{ step: 'pay', externalUrl: LINK }]);
    const notice = noticeOf(observation, undefined);
    expect(notice?.references).toMatchObject([{ externalRef: 'ref-1', externalUrl: LINK }]);
    expect(notice?.text).toContain(`ref ref-1 ${LINK}:`);
  });

  test('is told it by the alert', async () => {
    const { saga } = await stuck(payTool());
    expect(JSON.stringify(saga.machine.alerts)).toContain(`ref ref-1 ${LINK}`);
  });

  test('is told it of a submitted step', async () => {
    const saga = await scriptedSaga({ tools: [payTool()], answer: () => paid() });
    await saga.beginInteractive();
    const { step } = await saga.machine.submit({ sagaId: SAGA, stepId: 's', tool: 'pay', arguments: {} });
    expect(step).toMatchObject({ externalRef: 'ref-1', externalUrl: LINK });
  });

  test('gets a link on the console, with the reference as its text', async () => {
    const htmlOf = async (...given: Parameters<typeof reference>) =>
      (await html`${reference(...given)}`).toString();
    const rel = 'rel="noreferrer noopener"';
    expect(await htmlOf('<b>', LINK)).toBe(`<a href="${LINK}" ${rel}><bdi class="whole">&lt;b&gt;</bdi></a>`);
    expect(await htmlOf(null, LINK)).toContain(`<a href="${LINK}" ${rel}>`);
    expect(await htmlOf('https://a.example/"x')).toContain('href="https://a.example/&quot;x"');
    // What was stored by hand is no link either.
    expect(await htmlOf('ref-1', 'javascript:alert(1)')).not.toContain('href');
    expect(isWebAddress('https://a.example')).toBe(true);
  });
});

describe('the ledger', () => {
  const columnsOf = (csv: string) => csv.slice(0, csv.indexOf('\r\n')).split(',');

  test('has it as a late column, and an entry comes back from its row', async () => {
    const { entries, head } = await stuck(payTool());
    const rows = entries.map(toRow);
    expect(rows.flatMap((row) => row.external_url ?? [])).toEqual([LINK]);
    expect(columnsOf(toCsv(rows)).slice(-3)).toEqual(['amount_direction', 'external_url', 'proof']);
    expect(toCsv(rows)).toContain(`"${LINK}"`);
    expect(rows.map(fromRow)).toEqual(entries);
    expect(findChainBreak(rows.map(fromRow), head)).toBeUndefined();
  });

  test('of a tool that declares none is as it was', async () => {
    const { externalUrl: _, ...plain } = payTool();
    const { entries } = await stuck(plain);
    expect(JSON.stringify(entries)).not.toContain('externalUrl');
    expect(entries.map(toRow).every((row) => row.external_url === null)).toBe(true);
  });

  test('has it in the rows of effects and in the export, as a late column', async () => {
    const { entries } = await stuck(payTool());
    const reader = createSagaEffects();
    for (const entry of entries) reader.add(entry);
    const effects = reader.end();
    expect(effects.committed.map(({ row }) => row.external_url)).toEqual([LINK]);
    expect(columnsOf(effectsCsv(effects.committed.map(({ row }) => row))).slice(-2)).toEqual([
      'external_url',
      'undone_by_proof',
    ]);
    expect(exportObjects(effects)[0]?.body).toContain(`"external_url":"${LINK}"`);
  });
});

describe('a tool', () => {
  test.each([
    ['that differs each time', '"https://a.example/" & $random()', 'answers differently'],
    ['that is no JSONata', '"https://', 'JSONata'],
    ['that names what is not there', '"https://a.example/" & nothing.id', 'names nothing.id'],
  ])('with an address %s is refused by the catalog', (_, externalUrl, words) => {
    const schemas = { ...payTool().schemas };
    expect(() => parseTool(payTool({ externalUrl, schemas }))).toThrow(words);
  });

  const made = new Map<string, string>();
  const book = (externalUrl: string) =>
    defineTool({
      name: 'book',
      version: '1',
      description: '',
      effect: 'compensatable',
      idempotencyWindowSeconds: 3600,
      input: z.strictObject({}),
      output: z.object({ id: z.string() }),
      externalRef: ({ id }) => id,
      externalUrl,
      execute: async (_, { forwardKey }) => {
        made.set(forwardKey, 'b');
        return { id: forwardKey };
      },
      compensate: { name: 'unbook', execute: async (_, { forwardKey }) => void made.delete(forwardKey) },
    });
  const subject = { arguments: {}, observe: async () => [...made] };

  test('of the kit has it in its manifest, and the check of a tool looks at it', async () => {
    const tool = book('"https://a.example/" & result.id');
    expect(manifestOf(tool, 'fn').externalUrl).toBe(tool.definition.externalUrl);
    expect(parseTool(manifestOf(tool, 'fn')).externalUrl).toBe(tool.definition.externalUrl);
    expect(await testToolIsSafe(tool, subject)).toContain('its link is an https address');
    await expect(testToolIsSafe(book('"http://a.example/" & result.id'), subject)).rejects.toThrow(
      /its link is an https address \(got .*http:.*externalUrl/,
    );
  });
});
