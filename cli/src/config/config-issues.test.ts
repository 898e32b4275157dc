import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, readConfig } from './config.ts';

describe('an invalid configuration', () => {
  const messageOf = (environment: Record<string, string>) => {
    try {
      readConfig(environment);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.message.split('\n');
    }
    return assert.fail('accepted');
  };

  it('has one line for each issue, also of those between settings', () => {
    const [first, ...lines] = messageOf({
      HOST: '0.0.0.0',
      PORT: 'eighty',
      SIGNUP_CREDIT_PKR: 'much',
      LOG_LEVEL: 'loud',
      GATEHOUSE_NEW_MASTER_KEY_FILE: '/k',
      GATEHOUSE_NEW_MASTER_KEY_COMMAND: 'cat /k',
      REDIS_URL: 'http://cache',
    });
    assert.equal(first, `${lines.length} things about the settings need a change:`);
    assert.deepEqual(
      lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
      [
        '- PORT',
        '- SIGNUP_CREDIT_PKR',
        '- REDIS_URL',
        '- LOG_LEVEL',
        // A setting that is not accepted was chosen all the same.
        '- HOST',
        '- GATEHOUSE_NEW_MASTER_KEY_FILE',
      ],
    );
    assert.match(lines[4] ?? '', /choose JOIN_POLICY .* and TRUSTED_PROXY_HOPS /);
    assert.doesNotMatch(lines[4] ?? '', /SIGNUP_CREDIT_PKR/);
  });

  it('concludes nothing from an address that cannot be read', () => {
    assert.deepEqual(
      messageOf({ DATABASE_URL: 'mysql://db', DATABASE_OWNER_URL: 'postgres://owner@db/x', HOST: '0.0.0.0' })
        .length,
      1,
    );
  });

  it('names the misspelt setting that may be the cause', () => {
    const lines = messageOf({ DATABASE_URL: 'postgres://db/x', JOINPOLICY: 'closed' });
    assert.match(lines[1] ?? '', /^- JOIN_POLICY must be chosen/);
    assert.match(lines[2] ?? '', /^- GATEHOUSE_MASTER_KEY must be set/);
    assert.equal(lines[3], '- JOINPOLICY is set and is not a setting; did you mean JOIN_POLICY?');
  });
});
