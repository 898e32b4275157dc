import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { CommandError } from '../../terminal/errors.ts';
import { readNewPassword } from './new-password.ts';

describe('readNewPassword', () => {
  const nobodyIsAsked = () => assert.fail('nobody sits there');
  const piped = (...parts: (string | Buffer)[]) =>
    readNewPassword(Readable.from(parts.map((part) => Buffer.from(part))), nobodyIsAsked);

  it('is the first line of what is piped in, as it is', async () => {
    assert.equal(await piped('one phrase\nanother\n'), 'one phrase');
    assert.equal(await piped('no line end'), 'no line end');
    assert.equal(await piped('with windows end\r\n'), 'with windows end');
    assert.equal(await piped('in ', 'two ', 'parts\nrest'), 'in two parts');
    assert.equal(await piped('  spaces\tand é 😀  \n'), '  spaces\tand é 😀  ');
    assert.equal(await piped(Buffer.from('😀😀').subarray(0, 5), Buffer.from('😀😀').subarray(5)), '😀😀');
  });

  it('does not wait for the end of the input', async () => {
    const input = new PassThrough();
    input.write('a phrase\n');
    assert.equal(await readNewPassword(input, nobodyIsAsked), 'a phrase');
  });

  it('refuses nothing, too much, and what is no text', async () => {
    for (const [args, expected] of [
      ['', /which is empty/],
      ['\nsecond line\n', /which is empty/],
      ['\r\n', /which is empty/],
      ['x'.repeat(5_000), /too long/],
      [Buffer.from([0x61, 0xff, 0x0a]), /not UTF-8/],
    ] as const) {
      await assert.rejects(piped(args), (error) => {
        assert.ok(error instanceof CommandError);
        assert.match(error.message, expected);
        return true;
      });
    }
    await assert.rejects(readNewPassword(Readable.from([]), nobodyIsAsked), CommandError);
  });

  /** A person who types these keys, with the text on the screen. */
  const typed = async (keys: string) => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    let seen = '';
    input.write(keys);
    const answer = readNewPassword(input, (text) => {
      seen += text;
    });
    const password = await answer.catch((error: unknown) => {
      assert.ok(error instanceof CommandError);
      return error;
    });
    return { password: password instanceof Error ? password.message : password, seen };
  };

  it('is asked for twice at a terminal, and not shown', async () => {
    for (const keys of ['my phrase\rmy phrase\r', 'my phrasx\u007fe\nmy phrase\n'])
      assert.deepEqual(await typed(keys), {
        password: 'my phrase',
        seen: 'New password: \nThe same again: \n',
      });
  });

  it('is not accepted when the two differ, or after an interruption', async () => {
    assert.match((await typed('one phrase\rone phrasf\r')).password, /not the same/);
    for (const keys of ['\r', '\u0003', '\u0004', 'half\u0003', 'one phrase\r\u0003', 'one phrase\r\u0004'])
      assert.match((await typed(keys)).password, /no password was entered/, JSON.stringify(keys));
  });
});
