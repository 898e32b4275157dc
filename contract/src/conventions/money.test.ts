import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AmountError,
  decimalFromMicroPkr,
  MAX_AMOUNT_MICRO_PKR,
  microPkrCeiling,
  microPkrFromDecimal,
  pkrInWords,
  pkrNumber,
} from './money.ts';

const MAX_INT64 = 9_223_372_036_854_775_807n;

describe('microPkrFromDecimal', () => {
  const table: [text: string, expected: bigint | AmountError][] = [
    ['0', 0n],
    ['-0', 0n],
    ['0.000', 0n],
    ['-0.0e9', 0n],
    ['0e9999', 0n],
    ['1', 1_000_000n],
    ['12.50', 12_500_000n],
    // Each of these loses a unit when it is multiplied as a binary float and cut.
    ['8.2', 8_200_000n],
    ['1.005', 1_005_000n],
    ['4.35', 4_350_000n],
    ['1.1', 1_100_000n],
    ['0.000001', 1n],
    ['1e-6', 1n],
    ['0.1e-5', 1n],
    ['1E+3', 1_000_000_000n],
    ['1.0000000', 1_000_000n],
    ['10e-7', 1n],
    ['9007199254.740991', MAX_AMOUNT_MICRO_PKR],
    ['9007199254.740992', 'too-large'],
    ['1e21', 'too-large'],
    ['1e9999', 'too-large'],
    ['9'.repeat(400), 'too-large'],
    // Rounded, these would be 0, and 0 means no limit.
    ['0.0000004', 'too-precise'],
    ['0.0000009', 'too-precise'],
    ['1e-7', 'too-precise'],
    ['5e-324', 'too-precise'],
    ['1e-9999', 'too-precise'],
    ['1.0000001', 'too-precise'],
    [`1.${'0'.repeat(399)}1`, 'too-precise'],
    ['-1', 'negative'],
    ['-0.0000001', 'negative'],
    ['-1e9999', 'negative'],
    ...[
      '',
      ' ',
      '5 ',
      ' 5',
      ...'5\n \n5 5\u0000 +5 --5 .5 5. - . e5 1e 1e+ 1e1.5 1e99999 05 -00 0x1 0b1 1_000 1,5'.split(' '),
      ...'1.2.3 \u0665 \uff15 5\u0660 NaN Infinity -Infinity null five 1n'.split(' '),
      '9'.repeat(401),
      `0.${'1'.repeat(401)}`,
    ].map((text): [string, AmountError] => [text, 'not-a-decimal']),
  ];
  for (const [text, expected] of table) {
    it(`reads ${shown(text)} as ${expected}`, () => assert.equal(microPkrFromDecimal(text), expected));
  }

  it('agrees with moving the point in the text, for 20,000 numbers of every shape', () => {
    const random = seeded(20_260_824);
    for (let n = 0; n < 20_000; n += 1) {
      const text = randomDecimal(random);
      assert.equal(microPkrFromDecimal(text), slowly(text), text);
    }
  });

  it('reads every amount that it writes', () => {
    const random = seeded(7);
    for (let n = 0; n < 5_000; n += 1) {
      const amount = BigInt(random(9_007_199_254)) * 1_000_000n + BigInt(random(740_991));
      assert.equal(microPkrFromDecimal(decimalFromMicroPkr(amount)), amount);
      // A JSON number carries up to fifteen digits unharmed.
      assert.equal(pkrNumber(amount), Number(decimalFromMicroPkr(amount)));
      const modest = amount % 1_000_000_000_000_000n;
      assert.equal(microPkrFromDecimal(String(pkrNumber(modest))), modest);
    }
  });
});

describe('microPkrCeiling', () => {
  const table: [text: string, expected: bigint | undefined][] = [
    ['0', 0n],
    ['-0', 0n],
    ['0.1', 100_000n],
    ['8.2', 8_200_000n],
    ['0.000001', 1n],
    ['0.0000011', 2n],
    ['1e-7', 1n],
    ['5e-324', 1n],
    ['1e-9999', 1n],
    ['1.0000000', 1_000_000n],
    ['9223372036854.775807', MAX_INT64],
    ['9223372036854.7758071', MAX_INT64],
    ['1e300', MAX_INT64],
    ['1e400', undefined],
    ['1e9999', undefined],
    ['-1', undefined],
    ['-1e-9', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['0x1', undefined],
    ['1 ', undefined],
    ['1\n', undefined],
    ['\u0661', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of table) {
    it(`reads ${shown(text)} as ${expected}`, () => assert.equal(microPkrCeiling(text), expected));
  }

  it('is the exact amount where there is one, and otherwise the next above', () => {
    const random = seeded(99);
    for (let n = 0; n < 5_000; n += 1) {
      const text = randomDecimal(random);
      const exact = slowly(text);
      const ceiling = microPkrCeiling(text);
      if (exact === 'negative') assert.equal(ceiling, undefined, text);
      else if (typeof exact === 'bigint') assert.equal(ceiling, exact, text);
      else if (exact === 'too-precise') assert.ok(ceiling !== undefined && ceiling > 0n, text);
    }
  });
});

describe('writing money', () => {
  for (const [amount, decimal, words, number] of [
    [0n, '0', '0.00 PKR', 0],
    [1n, '0.000001', '0.000001 PKR', 0.000001],
    [10n, '0.00001', '0.00001 PKR', 0.00001],
    [100_000n, '0.1', '0.10 PKR', 0.1],
    [8_200_000n, '8.2', '8.20 PKR', 8.2],
    [12_500_000n, '12.5', '12.50 PKR', 12.5],
    [2_500_500_000n, '2500.5', '2500.50 PKR', 2500.5],
    [1_000_000n, '1', '1.00 PKR', 1],
    [10_000_000n, '10', '10.00 PKR', 10],
    [-3_000_000n, '-3', '-3.00 PKR', -3],
    [-1n, '-0.000001', '-0.000001 PKR', -0.000001],
    [-1_500_000n, '-1.5', '-1.50 PKR', -1.5],
    [MAX_AMOUNT_MICRO_PKR, '9007199254.740991', '9007199254.740991 PKR', Number('9007199254.740991')],
    [MAX_INT64, '9223372036854.775807', '9223372036854.775807 PKR', 9223372036854.775],
  ] satisfies [bigint, string, string, number][]) {
    it(`writes ${amount} micro-PKR as ${words}`, () => {
      assert.equal(decimalFromMicroPkr(amount), decimal);
      assert.equal(pkrInWords(amount), words);
      assert.equal(pkrNumber(amount), number);
    });
  }
});

// The reference: no powers and no division, only characters that are moved past a point.
function slowly(text: string): bigint | AmountError {
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').toLowerCase().split(/e(.*)/s);
  let [whole = '', fraction = ''] = mantissa.split('.');
  for (let shift = Number(exponent); shift > 0; shift -= 1) {
    whole += fraction.charAt(0) || '0';
    fraction = fraction.slice(1);
  }
  for (let shift = Number(exponent); shift < 0; shift += 1) {
    fraction = (whole.at(-1) ?? '0') + fraction;
    whole = whole.slice(0, -1);
  }
  if (!/[1-9]/.test(whole + fraction)) return 0n;
  if (text.startsWith('-')) return 'negative';
  if (/[1-9]/.test(fraction.slice(6))) return 'too-precise';
  const digits = `${whole}${fraction.slice(0, 6).padEnd(6, '0')}`.replace(/^0+/, '');
  const limit = '9007199254740991';
  const isTooLarge = digits.length > limit.length || (digits.length === limit.length && digits > limit);
  return isTooLarge ? 'too-large' : BigInt(digits);
}

// Whole numbers from 0 to `max`, the same in every run (mulberry32).
function seeded(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * (max + 1));
  };
}

function randomDecimal(random: (max: number) => number): string {
  const digits = (length: number) => Array.from({ length }, () => random(9)).join('');
  const sign = random(9) === 0 ? '-' : '';
  const whole = digits(random(11)).replace(/^0+/, '') || '0';
  const fraction = random(3) === 0 ? '' : `.${digits(1 + random(8))}${'0'.repeat(random(3))}`;
  const exponent = random(2) === 0 ? `${random(1) ? 'e' : 'E'}${['', '+', '-'][random(2)]}${random(14)}` : '';
  return `${sign}${whole}${fraction}${exponent}`;
}

function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 10)}... (${text.length} characters)` : JSON.stringify(text);
}
