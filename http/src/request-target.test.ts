import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathOf, requestTarget } from './request-target.ts';

describe('requestTarget', () => {
  for (const [given, expected] of [
    ['/', '/'],
    ['/api/keys', '/api/keys'],
    ['/api/keys?a=%zz', '/api/keys?a=%zz'],
    ['/api/keys/%C3%A9', '/api/keys/%C3%A9'],
    ['/api/keys/%00', '/api/keys/%00'],
    ['/api/keys/%2Fx', '/api/keys/%2Fx'],
    ['*', '*'],
    ['//api/keys', '//api/keys'],
    // The form that proxies use.
    ['http://api.example/api/keys?a=1', '/api/keys?a=1'],
    ['HTTPS://api.example:8443/api/keys', '/api/keys'],
    ['http://api.example', '/'],
    ['http://api.example?a=1', '/?a=1'],
    ['http://user@api.example/', '/'],
    // What cannot be decoded stands for itself.
    ['/api/%zz', '/api/%25zz'],
    ['/api/%', '/api/%25'],
    ['/api/keys/%ff', '/api/keys/%25ff'],
    ['/api/keys/%C3', '/api/keys/%25C3'],
    ['/api/keys/%ED%A0%80', '/api/keys/%25ED%25A0%2580'],
    ['/api/%zz?b=%zz', '/api/%25zz?b=%zz'],
  ] satisfies [string, string][]) {
    it(`takes ${given} as ${expected}`, () => {
      const target = requestTarget(given);
      assert.equal(target, expected);
      assert.doesNotThrow(() => decodeURIComponent(pathOf(target)));
    });
  }
});

describe('pathOf', () => {
  it('is what comes before the query', () => {
    assert.equal(pathOf('/a/b'), '/a/b');
    assert.equal(pathOf('/a/b?c?d'), '/a/b');
    assert.equal(pathOf('?c'), '');
  });
});
