/** The book of a provider: every effect by its key, and whether it stands. The ledger is compared with it. */
import type { Json } from '../../../contract/json.ts';
import type { ToolRequest } from '../../../contract/tool-request.ts';

/** Of these the provider knows the key, so that a second call with it does nothing. */
const KEYED = ['charge', 'transfer', 'part', 'alone'];
export const knowsKeys = (tool: string): boolean => KEYED.includes(tool);

export interface BookedEffect {
  key: string;
  tool: string;
  sagaId: string;
  step: string;
  stands: boolean;
  /** A decimal, or `null`. */
  amount: string;
  /** What its undo gave back. */
  undone?: string;
  acts: number;
  undos: number;
}

/** Half of an amount, down to the last digit that the ledger keeps. The rest is the residue of `part`. */
const halfOf = (amount: string): string => {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  const half = BigInt(`${whole}${fraction.padEnd(12, '0')}`) / 2n;
  const digits = String(half).padStart(13, '0');
  return `${sign}${digits.slice(0, -12)}.${digits.slice(-12)}`;
};

const textOf = (amount: Json = null): string =>
  typeof amount === 'string' ? amount : JSON.stringify(amount);

export const createBook = (problem: (text: string) => void) => {
  const effects = new Map<string, BookedEffect>();
  const byHand = new Set<string>();

  const act = ({ forwardKey: key, tool, sagaId, step, arguments: given }: ToolRequest): void => {
    const known = effects.get(key);
    if (known !== undefined && knowsKeys(tool)) return;
    if (known !== undefined) {
      problem(`${key} (${tool}) acted ${known.acts + 1} times, with ${known.undos} undos before`);
    }
    const amount = textOf(given['amount']);
    const [acts, undos] = [(known?.acts ?? 0) + 1, known?.undos ?? 0];
    effects.set(key, { key, tool, sagaId, step, stands: true, amount, acts, undos });
  };

  const takeBack = (key: string): void => {
    const effect = effects.get(key);
    if (effect === undefined) return;
    effect.undos += 1;
    if (!effect.stands) return;
    effect.stands = false;
    effect.undone = effect.tool === 'part' ? halfOf(effect.amount) : effect.amount;
  };

  return {
    effects,
    act,
    takeBack,
    /** A person took it back at the provider. Counts once, as later calls may do it again. */
    takeBackByHand: (key: string): void => {
      const effect = effects.get(key);
      if (byHand.has(key) || effect === undefined) return;
      byHand.add(key);
      effect.stands = false;
    },
  };
};

export type Book = ReturnType<typeof createBook>;
