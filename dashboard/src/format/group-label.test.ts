import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groupLabel } from './group-label.ts';

describe('the label of a group', () => {
  it('is its name, or says what became of it', () => {
    const id = '996d46ce-0c7a-43ff-9a13-ef995ee0736f';
    assert.equal(groupLabel('key', { group: id, name: 'Chat widget' }), 'Chat widget');
    assert.equal(groupLabel('key', { group: id, name: null }), 'revoked key 996d46ce');
    assert.equal(groupLabel('project', { group: id, name: null }), 'deleted project 996d46ce');
    assert.equal(groupLabel('model', { group: 'demo/echo', name: null }), 'demo/echo');
    assert.equal(groupLabel('model', { group: null, name: null }), 'unattributed');
  });
});
