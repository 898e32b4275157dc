import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyObject } from './body-object.ts';
import { Losses } from './losses.ts';
import { documentSource, imageSource, mediaTypeOf } from './part-members.ts';

const PNG = 'iVBORw0KGgo=';
const WORDS = Buffer.from('Some words').toString('base64');

describe('the media type of data', () => {
  for (const [named, data, type] of [
    ['image/png', PNG, 'image/png'],
    ['application/octet-stream', PNG, 'image/png'],
    ['binary/octet-stream', '/9j/4AAQSkZJRg==', 'image/jpeg'],
    ['application/octet-stream', 'UklGRhoAAABXRUJQ', 'image/webp'],
    ['application/octet-stream', 'AAAA', 'application/octet-stream'],
    ['image/jpg', 'AAAA', 'image/jpeg'],
    ['IMAGE/PNG', 'AAAA', 'image/png'],
    ['image/heic', 'AAAA', 'image/heic'],
    ['image/jpeg', PNG, 'image/png'],
    ['', PNG, 'image/png'],
    ['text/plain', PNG, 'text/plain'],
  ] as const) {
    it(`is ${type} for ${named} and ${data}`, () => assert.equal(mediaTypeOf(named, data), type));
  }
});

describe('the source of a document', () => {
  const text = { kind: 'text', text: 'Some words' };
  for (const [url, source] of [
    [`data:text/csv;charset=utf-8;base64,${WORDS}`, text],
    [`data:application/ld+json;base64,${WORDS}`, text],
    ['data:text/plain,Some%20words', text],
    ['data:,Some words', text],
    ['data:text/plain,100%', { kind: 'text', text: '100%' }],
    ['data:application/pdf;base64,AAAA', { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' }],
    [
      'data:application/pdf;name=my_file%20(1).pdf;base64,AAAA',
      { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' },
    ],
    ['data:;base64,JVBERi0x', { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0x' }],
    ['https://example.com/a.pdf', { kind: 'url', url: 'https://example.com/a.pdf' }],
    ['AAAA', { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' }],
  ] as const) {
    it(`is read from ${url.slice(0, 40)}`, () => assert.deepEqual(documentSource(url), source));
  }
});

describe('the source of a picture', () => {
  for (const image of ['https://example.com/a.png', { url: 'https://example.com/a.png' }]) {
    it(`is read from ${JSON.stringify(image)}`, () => {
      const part = new BodyObject({ image_url: image }, 'part', new Losses('chat', 'messages'));
      assert.deepEqual(imageSource(part), { kind: 'url', url: 'https://example.com/a.png' });
    });
  }
});
