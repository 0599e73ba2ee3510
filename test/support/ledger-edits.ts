/** Every attribute of every stored item of a saga, changed by hand in every way that makes sense for it. */
import { inflateRawSync } from 'node:zlib';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { stateText } from '../../adapters/aws/sagas/packed-state.ts';
import type { openTables, StoredItem } from './tampering.ts';

export interface Edit {
  what: string;
  before: StoredItem;
  /** Undefined: the item is deleted. */
  after: StoredItem | undefined;
}

/** Items and attributes of which docs/security.md says that verify does not look at them. */
const UNCOVERED: readonly (readonly [sk: RegExp, attribute: RegExp])[] = [
  [/^TOKEN$/, /./],
  [/^HEAD$/, /^(?:historyEvents|version|format)$/],
];

const inflated = (stored: StoredItem | undefined, name: string): string | undefined => {
  const bytes = stored?.item[name]?.B;
  try {
    return name === 'state' ? stateText(bytes) : inflateRawSync(bytes ?? new Uint8Array()).toString();
  } catch {
    return undefined;
  }
};

/** Bits behind the end of what is compressed mean nothing. */
const isSameCompressed = ({ before, after }: Edit, name: string): boolean =>
  inflated(before, name) === inflated(after, name);

export const isCovered = (edit: Edit): boolean => {
  const { before, what } = edit;
  const flipped = /^(effects|state) flipped/.exec(what)?.[1];
  if (flipped !== undefined && isSameCompressed(edit, flipped)) return false;
  const sk = before.item['sk']?.S ?? '';
  const [attribute = ''] = what.split(' ');
  return !UNCOVERED.some(([place, name]) => place.test(sk) && name.test(attribute));
};

/** One character of a text becomes another. */
const changed = (text: string, at: number): string => {
  const index = at % text.length;
  const other = text[index] === '0' ? '1' : '0';
  return text.slice(0, index) + other + text.slice(index + 1);
};

const otherValues = (value: AttributeValue, random: number): [string, AttributeValue][] => {
  const { S, N, B, L } = value;
  if (S !== undefined && S !== '') {
    return [
      ['changed', { S: changed(S, random) }],
      ['longer', { S: `${S} ` }],
      ['emptied', { S: '-' }],
      ['a number', { N: '7' }],
    ];
  }
  if (N !== undefined) {
    return [
      ['more', { N: String(Number(N) + 1) }],
      ['beyond all', { N: '1e30' }],
      ['a text', { S: N }],
    ];
  }
  if (B !== undefined) {
    const bytes = Uint8Array.from(B);
    bytes[random % bytes.length] = (bytes[random % bytes.length] ?? 0) ^ 1;
    return [
      ['flipped', { B: bytes }],
      ['cut', { B: B.slice(0, -1) }],
    ];
  }
  if (L !== undefined) return [['longer', { L: [...L, { S: '0' }] }]];
  return [['a text', { S: 'x' }]];
};

const ADDED: [string, AttributeValue][] = [
  ['expiresAt', { N: '1' }],
  ['external_ref', { S: 're_forged' }],
  ['day', { S: '2020-01-01' }],
  ['status', { S: 'COMPLETED' }],
  ['note', { S: 'x' }],
];

const KEYS = ['pk', 'sk'];

/** `random`: where texts and bytes are changed. */
export const editsOf = (stored: readonly StoredItem[], random: () => number): Edit[] =>
  stored.flatMap((before) => {
    const { table, item } = before;
    const place = item['sk']?.S ?? '?';
    const edits: Edit[] = [{ what: `item of ${place} deleted`, before, after: undefined }];
    const add = (what: string, after: StoredItem['item']) =>
      edits.push({ what: `${what} of ${place}`, before, after: { table, item: after } });
    for (const [name, value] of Object.entries(item).filter(([one]) => !KEYS.includes(one))) {
      for (const [how, other] of otherValues(value, random()))
        add(`${name} ${how}`, { ...item, [name]: other });
      const { [name]: _, ...rest } = item;
      add(`${name} removed`, rest);
    }
    for (const [name, value] of ADDED.filter(([one]) => item[one] === undefined)) {
      add(`${name} added`, { ...item, [name]: value });
    }
    return edits;
  });

/** False when DynamoDB itself takes no such item: a key of an index has its type. */
export const applyEdit = async (
  tables: ReturnType<typeof openTables>,
  { before, after }: Edit,
): Promise<boolean> => {
  if (after === undefined) await tables.remove(before);
  else {
    try {
      await tables.put(after);
    } catch (error) {
      if (error instanceof Error && error.name === 'ValidationException') return false;
      throw error;
    }
  }
  return true;
};
