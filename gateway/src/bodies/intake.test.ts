import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Intake } from './intake.ts';

const PIECE = 64 * 1024;
const MOMENT_MS = 10;

/** A connection that always has more to bring. */
class Endless {
  destroyed = false;
  bytes = 0;
  #isPaused = false;
  readonly #intake: Intake;
  readonly #owner: string;

  constructor(intake: Intake, owner: string) {
    this.#intake = intake;
    this.#owner = owner;
  }

  pause() {
    this.#isPaused = true;
  }

  resume() {
    this.#isPaused = false;
    this.read();
  }

  read() {
    while (!this.#isPaused) {
      this.bytes += PIECE;
      this.#intake.count(this.#owner, this, PIECE);
    }
  }
}

describe('Intake', () => {
  let intake: Intake;
  let moments: (() => void)[];
  beforeEach(() => {
    moments = [];
    intake = new Intake({
      after(ms, then) {
        assert.equal(ms, MOMENT_MS);
        moments.push(then);
        return () => undefined;
      },
    });
  });
  const open = (count: number, owner: (number: number) => string) => {
    const sources = Array.from({ length: count }, (_, number) => new Endless(intake, owner(number)));
    for (const source of sources) source.read();
    return sources;
  };
  const pass = (count: number) => {
    for (let n = 0; n < count; n += 1) moments.shift()?.();
  };
  const sum = (sources: readonly Endless[]) => sources.reduce((all, { bytes }) => all + bytes, 0);

  it('reads 16 MiB a second of one owner, however many connections it has', () => {
    for (const connections of [1, 4, 200]) {
      const sources = open(connections, () => `owner of ${connections}`);
      const before = sum(sources);
      pass(100);
      const readMb = (sum(sources) - before) / 1024 ** 2;
      assert.ok(readMb >= 15 && readMb <= 25, `${connections}: ${readMb}`);
      for (const source of sources) source.destroyed = true;
      pass(1);
    }
  });

  it('reads 64 MiB a second of all, and some of everybody', () => {
    const sources = open(200, (number) => `owner ${number}`);
    const before = sum(sources);
    pass(100);
    const readMb = (sum(sources) - before) / 1024 ** 2;
    assert.ok(readMb >= 60 && readMb <= 90, `${readMb}`);
    assert.ok(sources.every(({ bytes }) => bytes >= 2 * PIECE));
  });

  it('goes on at once where little comes', () => {
    const source = new Endless(intake, 'one');
    let wasPaused = false;
    source.pause = () => {
      wasPaused = true;
    };
    for (let moment = 0; moment < 10; moment += 1) {
      intake.count('one', source, PIECE);
      pass(1);
    }
    assert.equal(wasPaused, false);
  });

  it('has no timer running when nobody waits, and forgets who has gone', () => {
    const sources = open(3, () => 'one');
    for (const source of sources) source.destroyed = true;
    pass(1);
    assert.equal(moments.length, 0);
  });
});
