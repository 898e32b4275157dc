import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAmount } from './amount-text.ts';

describe('an amount that is typed', () => {
  for (const [text, decimal] of [
    ['100000', '100000'],
    ['1,000', '1000'],
    ['100,000', '100000'],
    ['1,00,000', '100000'],
    ['1,00,000.50', '100000.50'],
    ['12,34,567', '1234567'],
    ['1,234,567', '1234567'],
    ['1,00,00,000', '10000000'],
    ['10,000,000', '10000000'],
    ['99,99,99,99,999.999999', '99999999999.999999'],
    [' PKR 28,900.00 ', '28900.00'],
    ['28900.00 PKR', '28900.00'],
    ['Rs. 1,00,000', '100000'],
    ['rs 5', '5'],
    ['₨5', '5'],
    ['5.', '5'],
    ['0', '0'],
    ['0.000001', '0.000001'],
  ] as const)
    it(`${text} is ${decimal}`, () => assert.deepEqual(readAmount(text), { kind: 'decimal', decimal }));

  for (const text of [
    '1,0,0',
    '10,00',
    '1,00',
    '1,00,00',
    '1,0000',
    '1000,000',
    '100,00,000',
    '1,000,00,000',
    '12,34,5678',
    '1.000,00',
    '1,00,000,50',
    '0,500',
    '00,100',
    ',100',
    '1,,000',
    '1,000,',
  ])
    it(`${text} has commas in the wrong places`, () => {
      const read = readAmount(text);
      assert.match(read.kind === 'problem' ? read.sentence : '', /Enter 100000, 100,000 or 1,00,000/);
    });

  for (const text of [
    '',
    ' ',
    '-1',
    '+5',
    '1e3',
    '0x10',
    'NaN',
    '١٢',
    '１２',
    '1 000',
    '1_000',
    '1.2.3',
    '1.0000001',
  ])
    it(`${JSON.stringify(text)} is no amount`, () => assert.equal(readAmount(text).kind, 'problem'));

  it('may be of any length', () => {
    for (const text of [
      '9'.repeat(1_000_000),
      `1${' '.repeat(1_000_000)}x`,
      `1${',000'.repeat(300_000)}`,
      `1${',00'.repeat(300_000)}`,
    ])
      assert.match(JSON.stringify(readAmount(text)), /too long/);
  });
});
