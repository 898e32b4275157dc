import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acceptedEncoding, namesMediaType } from './accept.ts';

describe('the Accept header', () => {
  const accepts = (header: string | undefined) => namesMediaType(header, 'text/html');

  it('names HTML where a browser opens a page', () => {
    assert.ok(accepts('text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'));
    assert.ok(accepts('application/json, TEXT/HTML;charset=utf-8;q=0.1'));
  });

  it('does not name it by a wildcard, with a weight of 0, or by something like it', () => {
    for (const header of [
      undefined,
      '',
      '*/*',
      'text/*',
      'application/json',
      'text/html;q=0',
      'text/html; q=0.000',
      'text/html;q=2',
      'text/html;q=',
      'text/html;q=-1',
      'x-text/html',
      'text/htmlx',
      ',,;;,',
    ])
      assert.ok(!accepts(header), header);
  });
});

describe('the Accept-Encoding header', () => {
  const chosen = (header: string | undefined) => acceptedEncoding(header, ['br', 'gzip']);

  it('gets the smaller variant of those it accepts', () => {
    assert.equal(chosen('gzip, deflate, br, zstd'), 'br');
    assert.equal(chosen('gzip;q=1.0, br;q=0.1'), 'br');
    assert.equal(chosen('GZIP'), 'gzip');
    assert.equal(chosen('br;q=0, gzip'), 'gzip');
    assert.equal(chosen('*'), 'br');
    assert.equal(chosen('br;q=0, *'), 'gzip');
    assert.equal(acceptedEncoding('br, gzip', ['gzip']), 'gzip');
  });

  it('gets none where it accepts none', () => {
    for (const header of [undefined, '', 'identity', 'deflate', 'br;q=0, gzip;q=0', '*;q=0', 'brotli', 'b r'])
      assert.equal(chosen(header), undefined, header);
  });
});
