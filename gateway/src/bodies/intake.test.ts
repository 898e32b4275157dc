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
      pass(100);
      const readMb = sum(sources) / 1024 ** 2;
      assert.ok(readMb >= 15 && readMb <= 17, `${connections}: ${readMb}`);
      for (const source of sources) source.destroyed = true;
      pass(100);
    }
  });

  it('reads 64 MiB a second of all, and some of everybody', () => {
    const sources = open(200, (number) => `owner ${number}`);
    pass(100);
    const readMb = sum(sources) / 1024 ** 2;
    assert.ok(readMb >= 60 && readMb <= 66, `${readMb}`);
    assert.ok(sources.every(({ bytes }) => bytes >= 2 * PIECE));
  });

  it('lets nobody wait for what another has taken beyond its share', () => {
    const greedy = open(1, () => 'greedy');
    for (let piece = 0; piece < 1_000; piece += 1) intake.count('greedy', greedy[0] as Endless, PIECE);
    const [other] = open(1, () => 'other');
    pass(100);
    const otherMb = (other?.bytes ?? 0) / 1024 ** 2;
    assert.ok(otherMb >= 15, `${otherMb}`);
    // 62 MB are paid back at 16 a second.
    assert.ok(sum(greedy) <= 4 * PIECE);
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

  it('counts what costs more than its bytes in full', () => {
    const source = new Endless(intake, 'one');
    // A piece that costs 6.25 intervals of its owner, at whatever moment it comes.
    const cost = 1024 ** 2;
    let count = 0;
    source.resume = () => {
      count += 1;
      intake.count('one', source, cost);
    };
    source.resume();
    pass(625);
    assert.ok(count >= 99 && count <= 102, `${count}`);
  });

  it('has no timer running when nothing is left to pay back, and forgets sources that ended', () => {
    const sources = open(3, () => 'one');
    for (const source of sources) source.destroyed = true;
    pass(1);
    assert.equal(moments.length, 1);
    pass(1);
    assert.equal(moments.length, 0);
  });
});
