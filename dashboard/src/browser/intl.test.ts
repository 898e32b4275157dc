import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acceptedLocales, PAGE_LANGUAGE, zoneOf } from './intl.ts';

describe('the zone that a browser names', () => {
  for (const name of ['Asia/Karachi', 'UTC', 'Etc/GMT-5', 'EST5EDT', '+05:00'])
    it(`${name} is kept`, () => assert.deepEqual(zoneOf(name), { name }));

  for (const name of ['Etc/Unknown', 'PKT-5', 'Asia/Karachee', '../../etc/passwd', 'x'.repeat(100_000)])
    it(`${name.slice(0, 20)} is UTC, and said to be unknown`, () =>
      assert.deepEqual(zoneOf(name), { name: 'UTC', unknown: name }));

  for (const value of ['', undefined, null, 5, {}, ['UTC']])
    it(`${JSON.stringify(value)} is UTC`, () =>
      assert.deepEqual(zoneOf(value), { name: 'UTC', unknown: '' }));
});

describe('the language that a browser names', () => {
  for (const tag of ['en', 'ur-PK', 'zh-Hant-TW', ['de', 'en'], undefined, 5])
    it(`${JSON.stringify(tag)} is kept`, () => assert.equal(acceptedLocales(tag), tag));

  for (const tag of ['C', 'en-US@posix', 'en_US.UTF-8', '', null, ['en', 'C']])
    it(`${JSON.stringify(tag)} is the language of the page`, () =>
      assert.equal(acceptedLocales(tag), PAGE_LANGUAGE));
});
