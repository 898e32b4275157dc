import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { decodeLines, encodeLine } from './record-line.ts';
import { attempt, finished } from './testing/fixtures.ts';
import { randomFrom } from './testing/random.ts';
import { referenceLine } from './testing/reference-line.ts';

const account = { organizationId: randomUUID(), projectId: randomUUID(), keyIds: [randomUUID()] };

async function decode(text: string | Buffer) {
  return decodeLines(Buffer.from(text));
}

describe('a record line', () => {
  it('gives back every field, the largest amounts and names like __proto__ included', async () => {
    const request = finished(account, {
      costMicroPkr: 2n ** 63n - 1n,
      ttftMs: null,
      userAgent: 'café "quoted"\n\u2028😀',
      upstreamError: '',
      metadata: new Map([
        ['__proto__', 'polluted'],
        ['constructor', ''],
        ['b', '2'],
        ['a', '1'],
      ]),
    });
    const { requests, damaged, intactBytes } = await decode(encodeLine(request));
    assert.deepEqual(requests, [request]);
    assert.deepEqual([...(requests[0]?.metadata ?? [])], [...request.metadata]);
    assert.deepEqual(damaged, []);
    assert.equal(intactBytes, Buffer.byteLength(encodeLine(request)));
  });

  it('gives back the attempts, and has their texts, numbers and amounts bounded', async () => {
    const attempts = [
      attempt({ status: null, error: 'say "no"\n', costMicroPkr: 2n ** 63n - 1n, ending: 'unreachable' }),
      attempt({
        isByok: true,
        credential: 'own',
        ttftMs: 90.25,
        promptTokens: 3,
        error: null,
        ending: 'served',
      }),
    ];
    const request = finished(account, { attempts });
    assert.equal(request.attempts, attempts);
    assert.deepEqual((await decode(encodeLine(request))).requests[0]?.attempts, attempts);

    const hostile = attempt({
      provider: 'a\0\ud800',
      error: 'é'.repeat(1_000),
      totalMs: Number.NaN,
      ttftMs: Number.POSITIVE_INFINITY,
      costMicroPkr: 2n ** 63n,
    });
    const many = finished(account, { attempts: Array.from({ length: 40 }, () => hostile) });
    const line = encodeLine(many);
    const { requests } = await decode(line);
    assert.deepEqual(
      requests[0]?.attempts,
      Array.from({ length: 16 }, () =>
        attempt({
          provider: 'a\ufffd\ufffd',
          error: 'é'.repeat(512),
          totalMs: 0,
          costMicroPkr: 2n ** 63n - 1n,
        }),
      ),
    );
    assert.ok(Buffer.byteLength(line) < 20_000);
  });

  it('has what no store can hold replaced: NUL, lone surrogates, numbers that are not finite', async () => {
    const request = finished(account, {
      upstreamError: 'a\0b\ud800c',
      metadata: new Map([['x\0', '\udfff']]),
      totalMs: Number.NaN,
      tpotMs: Number.POSITIVE_INFINITY,
    });
    const { requests } = await decode(encodeLine(request));
    assert.equal(requests[0]?.upstreamError, 'a\ufffdb\ufffdc');
    assert.deepEqual(requests[0]?.metadata, new Map([['x\ufffd', '\ufffd']]));
    assert.equal(requests[0]?.totalMs, 0);
    assert.equal(requests[0]?.tpotMs, null);
  });

  it('keeps how many rejected requests it stands for, of one key or of several', async () => {
    const counted = { costMicroPkr: 0n, requestCount: 4_294_967_295 };
    const ofOne = finished(account, counted);
    const ofSeveral = { ...ofOne, keyId: null, projectId: null };
    const { requests } = await decode(encodeLine(ofOne) + encodeLine(ofSeveral));
    assert.deepEqual(requests, [ofOne, ofSeveral]);
    // What costs something or holds credit is a key's.
    for (const changes of [{ costMicroPkr: 1n }, { isHeld: true }])
      assert.throws(() => encodeLine({ ...ofSeveral, ...changes }), TypeError);
  });

  it('is the line written by hand', () => {
    const random = randomFrom(29);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const texts = ['', 'gpt-5-mini', 'say "a"', '\\', '\n\u001f', 'é😀\u2028\x7f', '__proto__', 'a\0\ud800'];
    const numbers = [0, -0, 3, 812.5, 1e21, 1.25e-7, Number.NaN];
    for (let round = 0; round < 2_000; round += 1) {
      const [text, number] = [() => pick(texts), () => pick(numbers)];
      const request = finished(account, {
        requestId: pick([randomUUID(), randomUUID().toUpperCase()]),
        startedAtMicros: pick([0n, 1_795_000_000_123_456n, 2n ** 63n - 1n]),
        costMicroPkr: pick([0n, 1n, 2n ** 63n - 1n]),
        model: text(),
        isStream: pick([true, false]),
        totalMs: number(),
        ttftMs: pick([null, number()]),
        promptTokens: pick([null, number()]),
        refusal: text(),
        upstreamError: pick([null, text()]),
        upstreamModel: pick([null, text()]),
        userAgent: text(),
        metadata: new Map(Array.from({ length: Math.floor(random() * 4) }, () => [text(), text()])),
        attempts: Array.from({ length: Math.floor(random() * 4) }, () =>
          attempt({
            provider: text(),
            isByok: pick([true, false]),
            status: pick([null, 200]),
            totalMs: number(),
            ttftMs: pick([null, number()]),
            promptTokens: pick([null, number()]),
            costMicroPkr: pick([0n, 2n ** 63n - 1n, -1n]),
            error: pick([null, text()]),
          }),
        ),
        isHeld: pick([true, false]),
        ...(random() < 0.5 ? { requestCount: 7 } : {}),
      });
      assert.equal(encodeLine(request), referenceLine(request));
    }
  });

  it('is not written when the ledger could never accept it', () => {
    const id = '01985d7e-3c2a-7b41-9f60-5a1c2e8d4b73';
    for (let at = 0; at < id.length; at += 1) {
      for (const wrong of ['g', '`', '@', '/', ':', '-', '0', 'é', '']) {
        const requestId = `${id.slice(0, at)}${wrong}${id.slice(at + 1)}`;
        const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(requestId);
        const encode = () => encodeLine(finished(account, { requestId }));
        if (isUuid) encode();
        else assert.throws(encode, TypeError, requestId);
      }
    }
    for (const changes of [
      { requestId: 'not-a-uuid' },
      { keyId: '' },
      { costMicroPkr: -1n },
      { costMicroPkr: 2n ** 63n },
      { startedAtMicros: 1 as unknown as bigint },
    ]) {
      assert.throws(() => encodeLine(finished(account, changes)), TypeError);
    }
  });

  it('is not read when cut short at any byte, and what stands before it is', async () => {
    const first = finished(account);
    const whole = Buffer.from(encodeLine(first) + encodeLine(finished(account, { userAgent: 'é😀' })));
    const firstLength = Buffer.byteLength(encodeLine(first));
    for (let length = firstLength; length < whole.length; length += 1) {
      const { requests, intactBytes, damaged } = await decode(whole.subarray(0, length));
      assert.deepEqual(requests, [first], `cut at ${length}`);
      assert.equal(intactBytes, firstLength);
      assert.deepEqual(damaged, []);
    }
  });

  it('is not read when any one byte of it is wrong, and the lines around it are', async () => {
    const [before, victim, after] = [finished(account), finished(account), finished(account)];
    const start = Buffer.byteLength(encodeLine(before));
    const length = Buffer.byteLength(encodeLine(victim));
    const text = Buffer.from(encodeLine(before) + encodeLine(victim) + encodeLine(after));
    for (let at = start; at < start + length - 1; at += 1) {
      const garbled = Buffer.from(text);
      garbled[at] = (garbled[at] ?? 0) ^ 0x01;
      const { requests, damaged } = await decode(garbled);
      assert.deepEqual(requests, [before, after], `garbled at ${at}`);
      assert.ok(damaged.length >= 1);
    }
  });

  it('is found again after a hole of zeros that a power failure left', async () => {
    const [before, after] = [finished(account), finished(account)];
    const { requests, damaged } = await decode(
      `${encodeLine(before)}${'\0'.repeat(4096)}\n${encodeLine(after)}`,
    );
    assert.deepEqual(requests, [before, after]);
    assert.equal(damaged.length, 1);
  });
});
