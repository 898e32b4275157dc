import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { estimate, HELP, readOptions } from './options.ts';

const DEFAULT_LIMIT_SECONDS = 480;
const QUICK_LIMIT_SECONDS = 120;

describe('the options of the gateway benchmark', () => {
  it('measures everything, within eight minutes, unless asked otherwise', () => {
    const options = readOptions([]) ?? assert.fail();
    assert.deepEqual(options, {
      seconds: 2,
      rounds: 3,
      connections: [1, 16, 64, 256],
      kinds: ['json', 'sse'],
      references: ['nginx', 'portkey', 'node', 'node-postgres'],
      processes: [1],
      markdown: false,
    });
    assert.ok(estimate(options) <= DEFAULT_LIMIT_SECONDS, `${estimate(options)} s`);
  });

  it('takes at most two minutes with --quick, which other options override', () => {
    const options = readOptions(['--quick']) ?? assert.fail();
    assert.deepEqual(options.connections, [1, 64]);
    assert.ok(estimate(options) <= QUICK_LIMIT_SECONDS, `${estimate(options)} s`);
    assert.equal(readOptions(['--quick', '--seconds', '4'])?.seconds, 4);
  });

  it('reads lists in order and without repetition', () => {
    const options = readOptions([
      ...['--connections', '64,1,64', '--processes', '2,1', '--only', 'sse'],
      ...['--without', 'portkey,nginx,node', '--markdown'],
    ]);
    assert.deepEqual(options?.connections, [1, 64]);
    assert.deepEqual(options?.processes, [1, 2]);
    assert.deepEqual(options?.kinds, ['sse']);
    assert.deepEqual(options?.references, ['node-postgres']);
    assert.equal(options?.markdown, true);
  });

  it('says what was wrong', () => {
    for (const [args, message] of [
      [['--seconds', '0'], '--seconds takes whole numbers from 1 to 600, not 0'],
      [['--seconds', '1.5'], '--seconds takes whole numbers from 1 to 600, not 1.5'],
      [['--connections', '1,,2'], '--connections takes whole numbers from 1 to 1000, not nothing'],
      [['--only', 'xml'], '--only takes json or sse, not xml'],
      [['--without', 'envoy'], '--without takes nginx or portkey or node or node-postgres, not envoy'],
    ] as const)
      assert.throws(() => readOptions(args), { message });
    assert.throws(() => readOptions(['--sceonds', '1']), /--sceonds/);
  });

  it('prints every option with --help', () => {
    assert.equal(readOptions(['--help']), undefined);
    for (const name of [
      'seconds',
      'rounds',
      'connections',
      'only',
      'processes',
      'without',
      'quick',
      'markdown',
    ])
      assert.match(HELP, new RegExp(`^ {2}--${name}\\b`, 'm'));
  });
});
