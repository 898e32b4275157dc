import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Certificate } from '@gatehouse/http';
import { createCertificate } from '@gatehouse/http/testing';
import { pino } from 'pino';
import { readCertificate } from './tls-files.ts';
import { renewCertificate } from './tls-renewal.ts';

const DAY_MS = 86_400_000;

describe('the renewal of a certificate', () => {
  let root: string;
  let directory: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'gatehouse-renewal-'));
  });
  beforeEach(async () => {
    directory = await mkdtemp(join(root, 'case-'));
  });
  after(() => rm(root, { recursive: true }));

  const write = async (folder: string, { cert, key }: Certificate) => {
    await writeFile(join(folder, 'cert.pem'), cert);
    await writeFile(join(folder, 'key.pem'), key);
  };

  /** Starts it on what is in the folder, with a clock that the test moves. */
  const start = async (folder: string) => {
    const files = { tlsCert: join(folder, 'cert.pem'), tlsKey: join(folder, 'key.pem') };
    const used: Certificate[] = [];
    const events: string[] = [];
    const delays: number[] = [];
    let nowMs = Date.now();
    const renewal = renewCertificate({
      files,
      current: await readCertificate(files),
      use: (certificate) => used.push(certificate),
      log: pino({ base: null }, { write: (line) => events.push(JSON.parse(line).event) }),
      clock: {
        epochMs: () => nowMs,
        after: (ms) => {
          delays.push(ms);
          return () => delays.push(-ms);
        },
      },
    });
    return { renewal, used, events, delays, later: (ms: number) => (nowMs += ms) };
  };

  it('uses changed files, once', async () => {
    await write(directory, createCertificate());
    const { renewal, used, events, delays } = await start(directory);
    await renewal.check();
    assert.deepEqual(used, []);
    const next = createCertificate();
    await write(directory, next);
    await renewal.check();
    await renewal.check();
    assert.deepEqual(
      used.map(({ cert, key }) => [cert, key]),
      [[next.cert, next.key]],
    );
    assert.deepEqual(events, ['tls.certificate_renewed']);
    renewal[Symbol.dispose]();
    assert.deepEqual(delays, [10_000, -10_000]);
  });

  it('sees a folder that is replaced by a symbolic link, as Kubernetes and certbot do', async () => {
    const [older, newer, link] = ['older', 'newer', 'live'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const next = createCertificate();
    for (const [folder, certificate] of [
      [older, createCertificate()],
      [newer, next],
    ] as const) {
      await mkdir(folder);
      await write(folder, certificate);
    }
    await symlink(older, link);
    const { renewal, used } = await start(link);
    await symlink(newer, `${link}.new`);
    await rename(`${link}.new`, link);
    await renewal.check();
    assert.deepEqual(
      used.map(({ cert }) => cert),
      [next.cert],
    );
    renewal[Symbol.dispose]();
  });

  it('keeps the certificate while a pair is half written, and reports one that stays so', async () => {
    await write(directory, createCertificate());
    const { renewal, used, events } = await start(directory);
    const next = createCertificate();
    await writeFile(join(directory, 'cert.pem'), next.cert);
    await renewal.check();
    assert.deepEqual([used.length, events], [0, []]);
    for (let look = 0; look < 3; look += 1) await renewal.check();
    assert.deepEqual([used.length, events], [0, ['tls.certificate_rejected']]);
    await writeFile(join(directory, 'key.pem'), next.key);
    await renewal.check();
    assert.equal(used.length, 1);
    // A later failure is reported again.
    await rm(join(directory, 'key.pem'));
    for (let look = 0; look < 3; look += 1) await renewal.check();
    assert.deepEqual(events, [
      'tls.certificate_rejected',
      'tls.certificate_renewed',
      'tls.certificate_rejected',
    ]);
    renewal[Symbol.dispose]();
  });

  it('warns once a day from 14 days before the end', async () => {
    await write(directory, createCertificate({ validTo: new Date(Date.now() + 15 * DAY_MS) }));
    const { renewal, events, later } = await start(directory);
    await renewal.check();
    assert.deepEqual(events, []);
    for (const [ms, warnings] of [
      [1.5 * DAY_MS, 1],
      [1_000, 1],
      [DAY_MS, 2],
      [30 * DAY_MS, 3],
    ] as const) {
      later(ms);
      await renewal.check();
      assert.deepEqual(events, Array(warnings).fill('tls.certificate_expires'));
    }
    renewal[Symbol.dispose]();
  });
});
