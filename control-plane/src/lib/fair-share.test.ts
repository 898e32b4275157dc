import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seeded } from '../testing/seeded.ts';
import { createFairShare, type FairShare, LineFull } from './fair-share.ts';

const SEED = 20_261_123;
const never = new AbortController().signal;

/** Whatever was waiting for a promise that is settled has gone on. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Enters, and notes it in the order in which turns begin. */
function start(share: FairShare, order: string[], organizationId: string, name: string, signal = never) {
  const entered = share.enter(organizationId, signal);
  entered.then(
    () => order.push(name),
    () => undefined,
  );
  return entered;
}

describe('a fair share', () => {
  it('gives a turn at once while there are any', async () => {
    const share = createFairShare({ atOnce: 3, each: 2, waiting: 10 });
    const order: string[] = [];
    for (const [organization, name] of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((text) => [text[0], text])) {
      void start(share, order, String(organization), String(name));
    }
    await settle();
    // The third of a waits though there is room, and then there is none.
    assert.deepEqual(order, ['a1', 'a2', 'b1']);
  });

  it('gives the next turn to whom has the fewest, and among those to whose last one is longest ago', async () => {
    const share = createFairShare({ atOnce: 2, each: 2, waiting: 300 });
    const order: string[] = [];
    const turns = [await start(share, order, 'a', 'a1'), await start(share, order, 'a', 'a2')];
    const later: Promise<Disposable>[] = [];
    for (let count = 3; count <= 200; count += 1) later.push(start(share, order, 'a', `a${count}`));
    later.push(
      start(share, order, 'b', 'b1'),
      start(share, order, 'c', 'c1'),
      start(share, order, 'b', 'b2'),
    );
    turns[0]?.[Symbol.dispose]();
    turns[1]?.[Symbol.dispose]();
    await settle();
    // Whoever comes second waits for one turn of the crowd, not for two hundred.
    assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1']);
    (await later[198])?.[Symbol.dispose]();
    await settle();
    assert.deepEqual(order.slice(4), ['a3']);
    (await later[199])?.[Symbol.dispose]();
    await settle();
    assert.deepEqual(order.slice(5), ['b2']);
  });

  it('gives it to whom has none rather than to whom has had to wait longer for another', async () => {
    const share = createFairShare({ atOnce: 3, each: 2, waiting: 10 });
    const order: string[] = [];
    await start(share, order, 'a', 'a1');
    const turn = await start(share, order, 'b', 'b1');
    await start(share, order, 'b', 'b2');
    void start(share, order, 'a', 'a2');
    void start(share, order, 'c', 'c1');
    turn[Symbol.dispose]();
    await settle();
    assert.deepEqual(order.slice(3), ['c1']);
  });

  it('gives a turn back once, however often it is disposed', async () => {
    const share = createFairShare({ atOnce: 1, each: 1, waiting: 10 });
    const order: string[] = [];
    const first = await start(share, order, 'a', 'a1');
    for (const name of ['b1', 'c1', 'd1']) void start(share, order, String(name[0]), name);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await settle();
    first[Symbol.dispose]();
    await settle();
    assert.deepEqual(order, ['a1', 'b1']);
  });

  it('throws the reason of a signal that aborts before the turn comes, and asks nothing more of that one', async () => {
    const share = createFairShare({ atOnce: 1, each: 1, waiting: 10 });
    const order: string[] = [];
    const first = await start(share, order, 'a', 'a1');
    const gone = new AbortController();
    const waiting = start(share, order, 'b', 'b1', gone.signal);
    const next = start(share, order, 'c', 'c1');
    const reason = new Error('gone');
    gone.abort(reason);
    await assert.rejects(waiting, reason);
    await assert.rejects(share.enter('b', gone.signal), reason);
    first[Symbol.dispose]();
    (await next)[Symbol.dispose]();
    assert.deepEqual(order, ['a1', 'c1']);
    (await share.enter('b', never))[Symbol.dispose]();
  });

  it('keeps the turn of a signal that aborts afterwards until it is given back', async () => {
    const share = createFairShare({ atOnce: 1, each: 1, waiting: 10 });
    const order: string[] = [];
    const gone = new AbortController();
    const first = await share.enter('a', never);
    const second = share.enter('a', gone.signal);
    first[Symbol.dispose]();
    gone.abort();
    const turn = await second;
    void start(share, order, 'b', 'b1');
    await settle();
    assert.deepEqual(order, []);
    turn[Symbol.dispose]();
    await settle();
    assert.deepEqual(order, ['b1']);
  });

  it('throws LineFull at once where too many of the organisation wait, and of no other', async () => {
    const share = createFairShare({ atOnce: 1, each: 1, waiting: 2 });
    const turn = await share.enter('a', never);
    const waiting = [share.enter('a', never), share.enter('a', never)];
    await assert.rejects(share.enter('a', never), LineFull);
    const other = share.enter('b', never);
    turn[Symbol.dispose]();
    (await other)[Symbol.dispose]();
    (await waiting[0])?.[Symbol.dispose]();
    (await waiting[1])?.[Symbol.dispose]();
  });

  it('remembers nobody who neither has a turn nor waits', async () => {
    for (const waiting of [0, 1]) {
      const share = createFairShare({ atOnce: 1, each: 1, waiting });
      const gone = new AbortController();
      const turn = await share.enter('a', never);
      await Promise.allSettled(
        Array.from({ length: 100 }, (_, index) => {
          const entering = share.enter(`o${index}`, gone.signal);
          if (index === 99) gone.abort();
          return entering;
        }),
      );
      assert.equal(share.organizations(), 1);
      turn[Symbol.dispose]();
      assert.equal(share.organizations(), 0);
    }
  });

  it(`keeps every limit and starves nobody, in random histories (seed ${SEED})`, async () => {
    const { below, pick, random } = seeded(SEED);
    for (let history = 0; history < 40; history += 1) {
      const options = { atOnce: 1 + below(5), each: 1 + below(3), waiting: 1 + below(6) };
      const share = createFairShare(options);
      const organizations = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, 1 + below(6));
      const what = `seed ${SEED}, history ${history}: ${JSON.stringify(options)}`;
      // The model: who has a turn, who waits in which order, and how many turns began since.
      const running: { organization: string; turn: Disposable }[] = [];
      const lines = new Map(organizations.map((name) => [name, [] as Waiting[]]));
      const runningOf = (name: string) => running.filter(({ organization }) => organization === name).length;

      const check = () => {
        assert.ok(running.length <= options.atOnce, what);
        for (const [name, line] of lines) {
          assert.ok(runningOf(name) <= options.each && line.length <= options.waiting, what);
          // Nobody waits for no reason.
          const isFree = running.length < options.atOnce && runningOf(name) < options.each;
          assert.ok(line.length === 0 || !isFree, `${what}: ${name} waits while there is room`);
        }
      };

      for (let step = 0; step < 150; step += 1) {
        const organization = pick(organizations);
        const line = lines.get(organization) ?? assert.fail();
        const choice = random();
        if (choice < 0.5) {
          const gone = new AbortController();
          const waiting: Waiting = { gone, since: 0 };
          line.push(waiting);
          share.enter(organization, gone.signal).then(
            (turn) => {
              // First come, first served, within an organisation.
              assert.equal(line.shift(), waiting, what);
              running.push({ organization, turn });
              for (const [name, others] of lines) {
                if (name === organization || others.length === 0 || runningOf(name) > 0) continue;
                const [first] = others;
                if (!first) continue;
                first.since += 1;
                // Everybody else has at most one turn before one that has none.
                assert.ok(first.since < organizations.length, `${what}: ${name} starves`);
              }
            },
            (error) => {
              const isFull = error instanceof LineFull;
              assert.ok(isFull || error === gone.signal.reason, what);
              line.splice(line.indexOf(waiting), 1);
              if (isFull) assert.equal(line.length, options.waiting, what);
            },
          );
        } else if (choice < 0.9) {
          const [ended] = running.splice(below(running.length), 1);
          ended?.turn[Symbol.dispose]();
        } else {
          pick(line)?.gone.abort(new Error('gone'));
        }
        await settle();
        check();
      }

      for (let rounds = 0; running.length > 0; rounds += 1) {
        assert.ok(rounds < 1_000, what);
        running.pop()?.turn[Symbol.dispose]();
        await settle();
        check();
      }
      assert.ok(
        [...lines.values()].every((line) => line.length === 0),
        what,
      );
      assert.equal(share.organizations(), 0, what);
    }
  });
});

interface Waiting {
  readonly gone: AbortController;
  /** Turns of others that began while it was the first of an organisation without a turn. */
  since: number;
}
