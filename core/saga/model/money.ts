/**
 * Amounts of money: exact decimals, written as text, with a currency of three letters. They are never floats.
 * A number that is not exact is refused by name, and so is a text that only looks like an amount. Pure.
 */
import type { Json } from '../../../contract/json.ts';
import { clip } from '../../shared/clip.ts';
import type { SagaError } from './ledger-entry.ts';

export interface Money {
  /** A plain decimal, as `-12.50`. */
  amount: string;
  /** Three capital letters, the form of ISO 4217. */
  currency: string;
}

/** With the sign and the decimal point, every query engine still takes this for an exact decimal. */
const WHOLE_DIGITS = 24;
const FRACTION_DIGITS = 12;
const DECIMAL = new RegExp(`^([+-]?)0*(\\d{1,${WHOLE_DIGITS}})(?:\\.(\\d{1,${FRACTION_DIGITS}}))?$`);
const CURRENCY = /^[A-Za-z]{3}$/;

/** Currencies that have another number of digits than two in ISO 4217 (list one). */
const MINOR_DIGITS: readonly (readonly [digits: number, currencies: string])[] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
];
const DIGITS_OF = new Map(
  MINOR_DIGITS.flatMap(([digits, currencies]) =>
    currencies.split(' ').map((name) => [name, digits] as const),
  ),
);

export const minorDigits = (currency: string): number => DIGITS_OF.get(currency) ?? 2;

const MAX_SHOWN = 60;
const shown = (value: Json): string => clip(JSON.stringify(value), MAX_SHOWN);

const invalid = (name: 'AmountInvalid' | 'CurrencyInvalid', message: string): SagaError => ({
  name,
  message,
});

/**
 * A double keeps 15 decimal digits. A number with more digits, or with an exponent, may not be what was meant.
 * A larger whole number may have been rounded when it was read, also when it ends in zeros.
 */
const isExact = (value: number): boolean =>
  Number.isInteger(value)
    ? Number.isSafeInteger(value)
    : Number(value.toPrecision(15)) === value && !String(value).includes('e');

const decimalText = (value: Json): string | SagaError => {
  if (typeof value === 'number' && !isExact(value)) {
    const message = `the amount ${shown(value)} is a number with more than 15 digits or an exponent, which is not exact; give it as text, or as a whole number with minorUnits`;
    return invalid('AmountInvalid', message);
  }
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && DECIMAL.test(text)) return text;
  const form = `a decimal of at most ${WHOLE_DIGITS} digits and ${FRACTION_DIGITS} after the point`;
  return invalid('AmountInvalid', `the amount ${shown(value)} is not ${form}`);
};

/** Turns a whole number of minor units into major units by moving digits, without arithmetic. */
const fromMinor = (text: string, digits: number): string => {
  const [, sign = '', whole = ''] = DECIMAL.exec(text) ?? [];
  const padded = whole.padStart(digits + 1, '0');
  const at = padded.length - digits;
  return digits === 0 ? `${sign}${padded}` : `${sign}${padded.slice(0, at)}.${padded.slice(at)}`;
};

/**
 * Written with at least the digits of the currency, so that amounts of one currency look alike. More digits
 * are kept.
 */
const written = (text: string, digits: number): string => {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  const padded = fraction.padEnd(digits, '0');
  const isZero = /^0*$/.test(`${whole}${fraction}`);
  return `${sign === '-' && !isZero ? '-' : ''}${whole}${padded === '' ? '' : `.${padded}`}`;
};

/** The money that two expressions gave, or why they do not give any. `minorUnits`: the amount counts cents. */
export const readMoney = (amount: Json, currency: Json, minorUnits: boolean): Money | SagaError => {
  if (typeof currency !== 'string' || !CURRENCY.test(currency)) {
    const message = `the currency ${shown(currency)} is not three letters, as ISO 4217 has them`;
    return invalid('CurrencyInvalid', message);
  }
  const text = decimalText(amount);
  if (typeof text !== 'string') return text;
  if (minorUnits && text.includes('.')) {
    const message = `the amount ${shown(amount)} is not a whole number of minor units; leave minorUnits out`;
    return invalid('AmountInvalid', message);
  }
  const code = currency.toUpperCase();
  const digits = minorDigits(code);
  return { amount: written(minorUnits ? fromMinor(text, digits) : text, digits), currency: code };
};

export const isMoney = (value: Money | SagaError): value is Money => 'amount' in value;

const ZERO = '0';

const scaled = (text: string, fractionDigits: number): bigint => {
  const [whole = ZERO, fraction = ''] = text.split('.');
  return BigInt(`${whole}${fraction.padEnd(fractionDigits, '0')}`);
};

const fractionOf = (text: string): number => text.split('.')[1]?.length ?? 0;

const unscaled = (value: bigint, fractionDigits: number): string => {
  const sign = value < 0n ? '-' : '';
  const digits = String(value < 0n ? -value : value).padStart(fractionDigits + 1, '0');
  const at = digits.length - fractionDigits;
  return fractionDigits === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, at)}.${digits.slice(at)}`;
};

/** Exact, for decimals as `readMoney` writes them. */
export const addDecimals = (one: string, other: string): string => {
  const digits = Math.max(fractionOf(one), fractionOf(other));
  return unscaled(scaled(one, digits) + scaled(other, digits), digits);
};

export const subtractDecimals = (one: string, other: string): string => {
  const digits = Math.max(fractionOf(one), fractionOf(other));
  return unscaled(scaled(one, digits) - scaled(other, digits), digits);
};
