import assert from 'node:assert/strict';
import { it } from 'node:test';
import { editsBetween, MAX_COMPARED_LENGTH } from './edits-between.ts';

it('counts characters added, removed, replaced and swapped', () => {
  for (const [from, to, edits] of [
    ['', '', 0],
    ['', 'ab', 2],
    ['port', 'port', 0],
    ['prot', 'port', 1],
    ['pot', 'port', 1],
    ['porrt', 'port', 1],
    ['part', 'port', 1],
    ['opor', 'poor', 1],
    ['ca', 'abc', 3],
  ] as const) {
    assert.equal(editsBetween(from, to, 3), edits, `${from} to ${to}`);
    assert.equal(editsBetween(to, from, 3), edits, `${to} to ${from}`);
  }
});

it('is as a table of all cells says, and infinite beyond the most', () => {
  const letters = 'abc';
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  const text = () => Array.from({ length: random(8) }, () => letters[random(3)]).join('');
  for (let round = 0; round < 20_000; round += 1) {
    const [from, to, most] = [text(), text(), random(6)];
    const edits = ofAllCells(from, to);
    assert.equal(
      editsBetween(from, to, most),
      edits <= most ? edits : Number.POSITIVE_INFINITY,
      JSON.stringify([from, to, most]),
    );
  }
});

it('does not compare what is longer than a name', () => {
  const longest = 'a'.repeat(MAX_COMPARED_LENGTH);
  assert.equal(editsBetween(longest, longest.slice(1), 3), 1);
  assert.equal(editsBetween(`${longest}a`, longest, 3), Number.POSITIVE_INFINITY);
});

function ofAllCells(from: string, to: string): number {
  const cells = Array.from({ length: from.length + 1 }, () => new Array<number>(to.length + 1).fill(0));
  const at = (row: number, column: number) => cells[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 0; row <= from.length; row += 1)
    for (let column = 0; column <= to.length; column += 1) {
      const isSwapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const least = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1),
        isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      (cells[row] as number[])[column] = row === 0 && column === 0 ? 0 : least;
    }
  return at(from.length, to.length);
}
