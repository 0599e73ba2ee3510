/** Finds what a saga is about, for its title: what it moved, and by which reference people know it. */
import type { SagaSubject } from '../../../contract/saga-observation.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaStore } from '../ports.ts';

/** The first entries tell it. A saga may have thousands. */
const MOST_ENTRIES = 40;
const LONGEST_REFERENCE = 64;

/** `orderId`, `payment_intent_id`, `invoiceNumber`, `ref`. */
const REFERENCE_NAME = /(?:^|[a-z]_?)(?:id|ref|reference|number|no)$/i;

const argumentsIn = (entry: LedgerEntry): object =>
  'arguments' in entry && typeof entry.arguments === 'object' ? entry.arguments : {};

const aboutIn = (entry: LedgerEntry): SagaSubject['about'] =>
  Object.entries(argumentsIn(entry)).flatMap(([name, value]: [string, unknown]) => {
    const isText = typeof value === 'string' || typeof value === 'number';
    const text = isText ? String(value) : '';
    return text !== '' && text.length <= LONGEST_REFERENCE && REFERENCE_NAME.test(name)
      ? [{ name, value: text }]
      : [];
  })[0];

type Told = Omit<SagaSubject, 'about'> & { rank: number };

/** What moved money tells most, then what took effect, then what was tried or asked for. */
const toldBy = (entry: LedgerEntry): Told[] => {
  if (!('tool' in entry) || entry.direction === 'undo') return [];
  const { tool } = entry;
  const isDone = entry.status === 'committed' && entry.direction !== 'probe';
  const { amount, currency, externalRef } = {
    amount: undefined,
    currency: undefined,
    externalRef: undefined,
    ...entry,
  };
  return [
    {
      tool,
      ...(amount !== undefined && currency !== undefined && { amount, currency }),
      ...(externalRef !== undefined && { externalRef }),
      rank: (amount === undefined ? 0 : 4) + (isDone ? 2 : 0) + (externalRef === undefined ? 0 : 1),
    },
  ];
};

/** Undefined: it has begun nothing yet. `entries`: oldest first. */
export const subjectOf = (entries: readonly LedgerEntry[]): SagaSubject | undefined => {
  const told = entries.flatMap(toldBy);
  const most = Math.max(...told.map(({ rank }) => rank));
  const found = told.find(({ rank }) => rank === most);
  if (found === undefined) return undefined;
  const { rank: _, ...subject } = found;
  const about = entries.map(aboutIn).find((one) => one !== undefined);
  return { ...subject, ...(about && { about }) };
};

export const readSubject = async (
  store: Pick<SagaStore, 'pageEntries'>,
  sagaId: string,
): Promise<{ subject?: SagaSubject }> => {
  const subject = subjectOf((await store.pageEntries(sagaId, 0, MOST_ENTRIES)).items);
  return subject === undefined ? {} : { subject };
};
