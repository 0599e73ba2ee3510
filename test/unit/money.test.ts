/** Amounts stay exact: what was written is what is stored, and sums are those of whole numbers. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../contract/json.ts';
import { addDecimals, minorDigits, readMoney, subtractDecimals } from '../../core/saga/model/money.ts';

const EUR = (amount: string) => ({ amount, currency: 'EUR' });

describe('an amount', () => {
  test('is text or an exact number, and is written with the digits of its currency', () => {
    const written: [Json, Json, boolean, object][] = [
      ['12.50', 'EUR', false, EUR('12.50')],
      [12.5, 'eur', false, EUR('12.50')],
      [19.99, 'EUR', false, EUR('19.99')],
      ['+007', 'EUR', false, EUR('7.00')],
      ['-0.00', 'EUR', false, EUR('0.00')],
      [-0, 'EUR', false, EUR('0.00')],
      ['-3', 'EUR', false, EUR('-3.00')],
      ['1.0049', 'EUR', false, EUR('1.0049')],
      [9007199254740991, 'EUR', false, EUR('9007199254740991.00')],
      ['999999999999999999999999.123456789012', 'EUR', false, EUR('999999999999999999999999.123456789012')],
      [1999, 'EUR', true, EUR('19.99')],
      ['5', 'EUR', true, EUR('0.05')],
      [-5, 'EUR', true, EUR('-0.05')],
      [0, 'EUR', true, EUR('0.00')],
      [1999, 'JPY', true, { amount: '1999', currency: 'JPY' }],
      [1999, 'KWD', true, { amount: '1.999', currency: 'KWD' }],
    ];
    for (const [amount, currency, minorUnits, money] of written) {
      expect(readMoney(amount, currency, minorUnits), JSON.stringify(amount)).toEqual(money);
    }
  });

  test('is refused by name when it is anything else', () => {
    const refused: [Json, Json, boolean, string][] = [
      [0.1 + 0.2, 'EUR', false, 'AmountInvalid'],
      [0.1 + 0.7, 'EUR', false, 'AmountInvalid'],
      [2 ** 53, 'EUR', false, 'AmountInvalid'],
      [1e-7, 'EUR', false, 'AmountInvalid'],
      [1e21, 'EUR', false, 'AmountInvalid'],
      // 100000000000000000001 and 1500000000000000001, as a double keeps them.
      [1e20, 'EUR', true, 'AmountInvalid'],
      [1.5e18, 'ETH', false, 'AmountInvalid'],
      [2 ** 53, 'EUR', true, 'AmountInvalid'],
      ['1e3', 'EUR', false, 'AmountInvalid'],
      ['1,50', 'EUR', false, 'AmountInvalid'],
      ['', 'EUR', false, 'AmountInvalid'],
      ['.5', 'EUR', false, 'AmountInvalid'],
      ['5.', 'EUR', false, 'AmountInvalid'],
      ['٥', 'EUR', false, 'AmountInvalid'],
      ['1\n', 'EUR', false, 'AmountInvalid'],
      ['0x10', 'EUR', false, 'AmountInvalid'],
      ['1'.repeat(25), 'EUR', false, 'AmountInvalid'],
      [`0.${'1'.repeat(13)}`, 'EUR', false, 'AmountInvalid'],
      ['0'.repeat(30_000), 'E', false, 'CurrencyInvalid'],
      [null, 'EUR', false, 'AmountInvalid'],
      [true, 'EUR', false, 'AmountInvalid'],
      [['1'], 'EUR', false, 'AmountInvalid'],
      [19.99, 'EUR', true, 'AmountInvalid'],
      ['19.00', 'EUR', true, 'AmountInvalid'],
      [1, null, false, 'CurrencyInvalid'],
      [1, 'EURO', false, 'CurrencyInvalid'],
      [1, '€', false, 'CurrencyInvalid'],
      [1, 'ßa', false, 'CurrencyInvalid'],
    ];
    for (const [amount, currency, minorUnits, name] of refused) {
      const label = `${JSON.stringify(amount)?.slice(0, 40)} ${JSON.stringify(currency)}`;
      expect(readMoney(amount, currency, minorUnits), label).toMatchObject({ name });
    }
  });

  test('of whole minor units is the number that was given, whatever its currency', () => {
    const currencies = fc.constantFrom('EUR', 'JPY', 'KWD', 'CLF', 'XTS');
    fc.assert(
      fc.property(fc.maxSafeInteger(), currencies, (units, currency) => {
        const money = readMoney(units, currency, true);
        if (!('amount' in money)) throw new Error(money.message);
        expect(BigInt(money.amount.replace('.', ''))).toBe(BigInt(units));
        expect(money.amount.split('.')[1]?.length ?? 0).toBe(minorDigits(currency));
      }),
    );
  });

  test('divided by a hundred as a number is what the minor units say', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e14, max: 1e14 }), (cents) => {
        expect(readMoney(cents / 100, 'EUR', false)).toEqual(readMoney(cents, 'EUR', true));
      }),
    );
  });
});

test('sums and differences are exact, in any order', () => {
  const decimals = fc
    .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.integer({ min: 0, max: 12 }))
    .map(([value, digits]) => {
      const text = String(value < 0n ? -value : value).padStart(digits + 1, '0');
      const at = text.length - digits;
      const sign = value < 0n ? '-' : '';
      return {
        text: digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, at)}.${text.slice(at)}`,
        value,
        digits,
      };
    });
  const units = (text: string) => {
    const [whole = '', fraction = ''] = text.split('.');
    return BigInt(`${whole}${fraction.padEnd(12, '0')}`);
  };
  fc.assert(
    fc.property(fc.array(decimals, { minLength: 1, maxLength: 20 }), (list) => {
      const expected = list.reduce((sum, { value, digits }) => sum + value * 10n ** BigInt(12 - digits), 0n);
      const sum = list.reduce((total, { text }) => addDecimals(total, text), '0');
      expect(units(sum)).toBe(expected);
      expect(units(list.toReversed().reduce((total, { text }) => addDecimals(total, text), '0'))).toBe(
        expected,
      );
      expect(units(list.reduce((total, { text }) => subtractDecimals(total, text), sum))).toBe(0n);
    }),
  );
  expect(addDecimals('0.10', '0.20')).toBe('0.30');
});
