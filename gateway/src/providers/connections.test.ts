import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as undici from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';

describe('the parts of the client library', () => {
  it('are those that its front door exports', () => {
    assert.deepEqual([buildConnector, Pool], [undici.buildConnector, undici.Pool]);
  });
});
