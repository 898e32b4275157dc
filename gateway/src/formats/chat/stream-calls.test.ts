import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { notesWith } from '../translation/testing.fixture.ts';
import { readDelta } from './pieces.ts';
import { StreamedCalls } from './stream-calls.ts';

type Piece = readonly [members: object, name?: string | undefined, args?: unknown];

/** The calls that the pieces are, as an SDK puts them together. */
function callsOf(pieces: readonly Piece[]): (readonly [id: string, name: string, args: string])[] {
  const streamed = new StreamedCalls(notesWith());
  const deltas = pieces.map(([members, name, args]) => ({ ...members, function: { name, arguments: args } }));
  const read = (delta: object) => streamed.read(readDelta({ delta: { tool_calls: [delta] } }).calls);
  const events = [...deltas.flatMap(read), ...streamed.end()];
  return events.flatMap((event) => {
    if (event.type !== 'toolCall') return [];
    const text = events.map((one) =>
      one.type === 'toolArguments' && one.index === event.index ? one.text : '',
    );
    assert.equal(events.filter((one) => one.type === 'toolCallEnd' && one.index === event.index).length, 1);
    return [[event.id, event.name, text.join('')] as const];
  });
}

const at = (index: number) => ({ index });
const [lahore, murree] = ['{"city":"Lahore"}', '{"city":"Murree"}'];

describe('the pieces of streamed calls', () => {
  for (const [title, pieces, expected] of [
    [
      'with indexes, in turns',
      [
        [{ ...at(0), id: 'a' }, 'f', '{"city"'],
        [{ ...at(1), id: 'b' }, 'g', '{"city"'],
        [at(0), undefined, ':"Lahore"}'],
        [at(1), undefined, ':"Murree"}'],
      ],
      [
        ['a', 'f', lahore],
        ['b', 'g', murree],
      ],
    ],
    [
      'with ids alone, in turns',
      [
        [{ id: 'a' }, 'f', '{"city"'],
        [{ id: 'b' }, 'f', '{"city"'],
        [{ id: 'a' }, undefined, ':"Lahore"}'],
        [{ id: 'b' }, undefined, ':"Murree"}'],
      ],
      [
        ['a', 'f', lahore],
        ['b', 'f', murree],
      ],
    ],
    [
      'with ids and the index 0 throughout, in turns',
      [
        [{ ...at(0), id: 'a' }, 'f', '{"city"'],
        [{ ...at(0), id: 'b' }, 'f', '{"city"'],
        [{ ...at(0), id: 'a' }, undefined, ':"Lahore"}'],
        [{ ...at(0), id: 'b' }, undefined, ':"Murree"}'],
      ],
      [
        ['a', 'f', lahore],
        ['b', 'f', murree],
      ],
    ],
    [
      'with all of their arguments so far',
      [
        [{ ...at(0), id: 'a' }, 'f', ''],
        [at(0), undefined, '{"ci'],
        [at(0), undefined, ''],
        [at(0), undefined, '{"city":"La'],
        [at(0), undefined, '{"city":"La'],
        [at(0), undefined, lahore],
        [at(0), undefined, lahore],
      ],
      [['a', 'f', lahore]],
    ],
    [
      'with an object that begins as the one around it',
      [
        [{ ...at(0), id: 'a' }, 'f', '{"a":'],
        [at(0), undefined, '{"a":1}}'],
      ],
      [['a', 'f', '{"a":{"a":1}}']],
    ],
    [
      'without index and id',
      [
        [{}, 'f', lahore],
        [{}, 'f', murree],
      ],
      [
        ['call_1_0', 'f', lahore],
        ['call_1_1', 'f', murree],
      ],
    ],
    [
      'with the index 0 and no id, in pieces',
      [
        [at(0), 'f', '{"city":'],
        [at(0), undefined, '"Lahore"}'],
        [at(0), 'g', '{"city":'],
        [at(0), undefined, '"Murree"}'],
      ],
      [
        ['call_1_0', 'f', lahore],
        ['call_1_1', 'g', murree],
      ],
    ],
    [
      'without arguments, of two functions',
      [
        [{}, 'f', ''],
        [{}, 'g', ''],
      ],
      [
        ['call_1_0', 'f', ''],
        ['call_1_1', 'g', ''],
      ],
    ],
    [
      'with the name in each',
      [
        [at(0), 'f', '{"city":'],
        [at(0), 'f', '"Lahore"}'],
        [at(0), 'f', ''],
      ],
      [['call_1_0', 'f', lahore]],
    ],
    [
      'with another id in each piece',
      [
        [{ ...at(0), id: 'a' }, 'f', '{"city":'],
        [{ ...at(0), id: 'b' }, undefined, '"Lahore"}'],
        [{ ...at(0), id: 'c' }, 'f', murree],
      ],
      [
        ['a', 'f', lahore],
        ['c', 'f', murree],
      ],
    ],
    [
      'whose id comes later',
      [
        [at(0), 'f', ''],
        [{ ...at(0), id: 'a' }, undefined, lahore],
      ],
      [['call_1_0', 'f', lahore]],
    ],
    [
      'with one id at two indexes',
      [
        [{ ...at(0), id: 'a' }, 'f', lahore],
        [{ ...at(1), id: 'a' }, 'f', murree],
      ],
      [
        ['a', 'f', lahore],
        ['call_1_1', 'f', murree],
      ],
    ],
    [
      'whose arguments come once more when they are whole',
      [
        [{ ...at(0), id: 'a' }, 'f', '{"city":'],
        [at(0), undefined, '"Lahore"}'],
        [{ ...at(0), id: 'a' }, undefined, lahore],
      ],
      [['a', 'f', lahore]],
    ],
    [
      'with indexes that are texts',
      [
        [{ index: '0', id: 'a' }, 'f', ''],
        [{ index: '1', id: 'b' }, 'f', ''],
        [{ index: '0' }, undefined, lahore],
        [{ index: '1' }, undefined, murree],
      ],
      [
        ['a', 'f', lahore],
        ['b', 'f', murree],
      ],
    ],
    [
      'with an object in place of its text',
      [[{ ...at(0), id: 'a' }, 'f', { city: 'Lahore' }]],
      [['a', 'f', lahore]],
    ],
    [
      'with an empty object before the text',
      [
        [{ ...at(0), id: 'a' }, 'f', {}],
        [at(0), undefined, lahore],
      ],
      [['a', 'f', lahore]],
    ],
  ] as const satisfies readonly (readonly [string, readonly Piece[], unknown])[]) {
    it(title, () => assert.deepEqual(callsOf(pieces), expected));
  }
});
