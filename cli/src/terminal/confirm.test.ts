import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { confirmation } from './confirm.ts';
import { CommandError, UsageError } from './errors.ts';

/** A person at a terminal who types this, with the text on the screen and the result. */
async function typed(keys: string) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  let seen = '';
  const err = (text: string) => {
    seen += text;
  };
  const confirm = confirmation({ input: () => input, err }, undefined, 'it');
  input.end(keys);
  const error = await confirm('Do it?').catch((reason: unknown) => reason);
  if (error !== undefined) assert.ok(error instanceof CommandError);
  return { seen, error: error?.message };
}

describe('confirmation', () => {
  it('goes on after a yes', async () => {
    for (const keys of ['y\n', 'Y\r\n', 'yes\n', ' YES \n', 'y\nn\n'])
      assert.deepEqual(await typed(keys), { seen: 'Do it? [y/N] ', error: undefined });
  });

  it('changes nothing after anything else', async () => {
    for (const keys of ['\n', 'n\n', 'no\n', 'yess\n', 'ye\n', 'ny\n', 'j\n', '--yes\n'])
      assert.equal((await typed(keys)).error, 'not confirmed; nothing was changed', keys);
    assert.deepEqual(await typed(''), {
      seen: 'Do it? [y/N] \n',
      error: 'not confirmed; nothing was changed',
    });
  });

  it('asks nobody where --yes is given', async () => {
    const nobody = { input: () => assert.fail('not read'), err: () => assert.fail('not asked') };
    await confirmation(nobody, '', 'it')('Do it?');
  });

  it('needs --yes where nobody can be asked, whatever is piped in, if it is strict', async () => {
    const piped = { input: () => Readable.from(['y\n']), err: () => assert.fail('not asked') };
    await confirmation(piped, undefined)('Do it?');
    assert.throws(
      () => confirmation(piped, undefined, 'it'),
      (error) => {
        assert.ok(error instanceof UsageError);
        assert.equal(error.message, 'it needs --yes where nobody can be asked');
        return true;
      },
    );
  });
});
