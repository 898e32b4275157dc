import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UpstreamRequest } from '../upstream.ts';
import { CloudUpstream } from './cloud-upstream.ts';

const REQUEST: UpstreamRequest = {
  ...{ owner: 'o', path: '/p', query: {}, headers: { a: 'b' }, body: Buffer.from('{}') },
  ...{ timeoutMs: 1_000, onBodySent: () => undefined },
};

describe('an upstream whose headers take a moment', () => {
  const start = () => {
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, string>>();
    const told: string[] = [];
    const upstream = new CloudUpstream(
      {
        send({ headers }) {
          told.push(`sent ${JSON.stringify(headers)}`);
          const tell = (word: string) => () => void told.push(word);
          return { pause: tell('pause'), resume: tell('resume'), abort: tell('abort') };
        },
      },
      () => promise,
    );
    const call = upstream.send(REQUEST, {
      ...{ onStart() {}, onHead() {}, onData() {}, onEnd() {} },
      onFailure: ({ message }) => told.push(message),
    });
    return { call, told, resolve, reject };
  };

  it('is sent once they are there, paused as it was left', async () => {
    const { call, told, resolve } = start();
    call.pause();
    resolve({ signed: 'yes' });
    await new Promise(setImmediate);
    call.resume();
    call.abort();
    assert.deepEqual(told, ['sent {"signed":"yes"}', 'pause', 'resume', 'abort']);
  });

  it('is not sent where its caller has left, and says nothing', async () => {
    for (const isSigned of [true, false]) {
      const { call, told, resolve, reject } = start();
      call.abort();
      if (isSigned) resolve({});
      else reject(new Error('no credential'));
      await new Promise(setImmediate);
      assert.deepEqual(told, []);
    }
  });

  it('fails where they cannot be made, also at once', async () => {
    const { told, reject } = start();
    reject(new Error('no credential'));
    await new Promise(setImmediate);
    assert.deepEqual(told, ['no credential']);
    const failed: string[] = [];
    new CloudUpstream({ send: () => assert.fail() }, () => {
      throw new Error('it has ended');
    }).send(REQUEST, {
      ...{ onStart() {}, onHead() {}, onData() {}, onEnd() {} },
      onFailure: ({ message }) => failed.push(message),
    });
    await new Promise(setImmediate);
    assert.deepEqual(failed, ['it has ended']);
  });
});
