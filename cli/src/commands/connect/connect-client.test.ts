import assert from 'node:assert/strict';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { CLIENTS } from './clients.ts';
import { connect, KEY, temporaryHome } from './connect.fixture.ts';

const FILES = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/config.toml',
  opencode: '.config/opencode/opencode.json',
  continue: '.continue/config.yaml',
} as const;

async function put(home: string, path: string, text: string): Promise<string> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('gatehouse connect', () => {
  for (const client of CLIENTS.keys()) {
    it(`prints the configuration of ${client}, and writes nothing where there is no terminal`, async () => {
      await using home = await temporaryHome();
      const { code, stdout, stderr } = await connect([client], { HOME: home.path });
      assert.equal(code, 0);
      assert.match(stdout, /localhost:8081/);
      assert.match(`${stdout}${stderr}`, /GATEHOUSE_API_KEY/);
      assert.deepEqual(await readdir(home.path), []);
      const json = await connect([client, '--json', '--dry-run', '--yes'], { HOME: home.path });
      const document = JSON.parse(json.stdout);
      assert.deepEqual([document.client, document.written], [client, false]);
      assert.equal(document.configuration, stdout);
      assert.deepEqual(await readdir(home.path), []);
    });

    it(`prints the key for ${client} only where it is given, and never the value of a variable`, async () => {
      await using home = await temporaryHome();
      const environment = { HOME: home.path, GATEHOUSE_API_KEY: KEY, MINE: KEY };
      for (const args of [[], ['--key-env', 'MINE'], ['--json']]) {
        const { stdout, stderr } = await connect([client, ...args], environment);
        assert.ok(!`${stdout}${stderr}`.includes(KEY));
      }
      const { stdout } = await connect([client, '--key', KEY], environment);
      assert.ok(stdout.includes(KEY));
    });
  }

  for (const [client, path] of Object.entries(FILES)) {
    it(`writes a new file of ${client} for its owner only, as printed, and has nothing to do after that`, async () => {
      await using home = await temporaryHome();
      const environment = { HOME: home.path };
      const first = await connect([client, '--key', KEY], environment, 'y\n');
      assert.equal(first.code, 0, first.stderr);
      const file = join(home.path, path);
      assert.equal(await readFile(file, 'utf8'), first.stdout);
      assert.equal(await modeOf(file), 0o600);
      assert.deepEqual(await readdir(dirname(file)), [path.split('/').at(-1)]);
      const second = await connect([client, '--key', KEY, '--yes'], environment);
      assert.match(second.stderr, /already has this configuration/);
      assert.equal(await readFile(file, 'utf8'), first.stdout);
      assert.deepEqual(await readdir(dirname(file)), [path.split('/').at(-1)]);
    });

    it(`changes nothing of ${client} without a yes, and leaves a broken file alone`, async () => {
      await using home = await temporaryHome();
      const environment = { HOME: home.path };
      const refused = await connect([client], environment, 'n\n');
      assert.deepEqual([refused.code, await readdir(home.path)], [1, []]);
      const broken = '{"a": [\n[[[';
      const file = await put(home.path, path, broken);
      const { code, stdout, stderr } = await connect([client, '--yes'], environment);
      assert.equal(code, 1);
      assert.match(stderr, /is not valid .*; add the lines by hand/);
      assert.match(stdout, /localhost:8081/);
      assert.equal((await connect([client], environment)).code, 0);
      assert.equal(await readFile(file, 'utf8'), broken);
      assert.deepEqual(await readdir(dirname(file)), [path.split('/').at(-1)]);
    });
  }

  it('keeps what is in the file and a copy of it, closes both to other accounts, also behind a link', async () => {
    await using home = await temporaryHome();
    const text = '# mine\nmodel = "gpt"   # the best\n\n[profiles.x]\nmodel_provider = "other"\n';
    const real = await put(home.path, 'dotfiles/codex.toml', text);
    await chmod(real, 0o640);
    await mkdir(join(home.path, '.codex'));
    const link = join(home.path, '.codex/config.toml');
    await symlink(real, link);
    const { code, stderr } = await connect(['codex', '--key', KEY, '--yes'], { HOME: home.path });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /codex\.toml contains the key, so only its owner can read it now/);
    assert.equal(await readlink(link), real);
    assert.equal(await modeOf(real), 0o600);
    assert.equal(
      await readFile(link, 'utf8'),
      `# mine
model = "gpt"   # the best
model_provider = "gatehouse"

[profiles.x]
model_provider = "other"

[model_providers.gatehouse]
name = "Gatehouse"
base_url = "http://localhost:8081/v1"
wire_api = "responses"
experimental_bearer_token = "${KEY}"
`,
    );
    const backup = `${real}.before-gatehouse`;
    assert.deepEqual([await readFile(backup, 'utf8'), await modeOf(backup)], [text, 0o600]);
    // The key of before goes when the variable takes its place; the earlier copy is not overwritten.
    await connect(['codex', '--key-env', 'MINE', '--yes'], { HOME: home.path });
    const changed = await readFile(link, 'utf8');
    assert.ok(changed.includes('env_key = "MINE"') && !changed.includes(KEY));
    assert.equal(await readFile(backup, 'utf8'), text);
    assert.ok((await readFile(`${backup}-2`, 'utf8')).includes(KEY));
  });

  it('keeps the mode of a file without a key, and closes the copy, which may have one', async () => {
    await using home = await temporaryHome();
    assert.equal((await connect(['continue', '--yes'], { HOME: home.path })).code, 0);
    assert.equal(await modeOf(join(home.path, FILES.continue)), 0o600, 'a new one');
    const file = await put(home.path, FILES.codex, 'experimental_bearer_token = "old"\n');
    await chmod(file, 0o644);
    assert.equal((await connect(['codex', '--yes'], { HOME: home.path })).code, 0);
    assert.deepEqual([await modeOf(file), await modeOf(`${file}.before-gatehouse`)], [0o644, 0o600]);
  });

  it('writes through a link whose file is missing, and names one whose directory is', async () => {
    await using home = await temporaryHome();
    await mkdir(join(home.path, 'dotfiles'));
    await mkdir(join(home.path, '.codex'));
    const link = join(home.path, FILES.codex);
    await symlink('../dotfiles/codex.toml', link);
    assert.equal((await connect(['codex', '--yes'], { HOME: home.path })).code, 0);
    assert.equal(await readlink(link), '../dotfiles/codex.toml');
    assert.match(await readFile(join(home.path, 'dotfiles/codex.toml'), 'utf8'), /base_url/);
    const lost = join(home.path, 'lost');
    await mkdir(lost);
    for (const [target, message] of [
      ['../gone/codex.toml', /is a link to .*\/gone\/codex\.toml, and .*\/gone is missing/],
      ['config.toml', /cannot be read: ELOOP/],
    ] as const) {
      const broken = join(lost, 'config.toml');
      await rm(broken, { force: true });
      await symlink(target, broken);
      const { code, stderr } = await connect(['codex', '--yes'], { HOME: home.path, CODEX_HOME: lost });
      assert.equal(code, 1);
      assert.match(stderr, message);
      assert.equal(await readlink(broken), target);
    }
  });

  it('leaves a read-only file alone', async () => {
    await using home = await temporaryHome();
    const file = await put(home.path, FILES.codex, 'model = "m"\n');
    await chmod(file, 0o444);
    const { code, stderr } = await connect(['codex', '--yes'], { HOME: home.path });
    assert.equal(code, 1);
    assert.match(stderr, /config\.toml is read-only; make it writable, or add the lines by hand/);
    assert.deepEqual(await readdir(dirname(file)), ['config.toml']);
  });

  it('as root it writes files of the owner', {
    skip: process.geteuid?.() !== 0 && 'needs root',
  }, async () => {
    await using home = await temporaryHome();
    await chown(home.path, 60_104, 60_104);
    assert.equal((await connect(['codex', '--yes'], { HOME: home.path })).code, 0);
    assert.equal((await connect(['codex', '--key', KEY, '--yes'], { HOME: home.path })).code, 0);
    const names = await readdir(home.path, { recursive: true });
    assert.deepEqual(names.toSorted(), [
      '.codex',
      '.codex/config.toml',
      '.codex/config.toml.before-gatehouse',
    ]);
    for (const name of names) assert.equal((await stat(join(home.path, name))).uid, 60_104, name);
  });

  it('changes the file of OpenCode that wins', async () => {
    await using home = await temporaryHome();
    const plain = await put(home.path, FILES.opencode, '{}\n');
    const commented = await put(home.path, '.config/opencode/opencode.jsonc', '{\n  // mine\n}\n');
    assert.equal((await connect(['opencode', '--yes'], { HOME: home.path })).code, 0);
    assert.equal(await readFile(plain, 'utf8'), '{}\n');
    assert.match(await readFile(commented, 'utf8'), /^\{\n {2}\/\/ mine\n {2}"\$schema": /);
  });

  it('takes the key from standard input or from a variable, so that it is no argument', async () => {
    const piped = async (args: readonly string[], input: string, environment = {}) =>
      connect(['openai', ...args], environment, undefined, input);
    for (const [args, input, environment] of [
      [['--key-stdin'], `${KEY}\n`, {}],
      [['--key', '-'], KEY, {}],
      [['--key', 'env:MINE'], '', { MINE: ` ${KEY}\n` }],
    ] as const) {
      const { code, stdout } = await piped(args, input, environment);
      assert.equal(code, 0);
      assert.ok(stdout.includes(`export OPENAI_API_KEY=${KEY}\n`));
    }
    for (const [args, input, environment, message] of [
      [['--key-stdin'], '', {}, /standard input is empty, expected a gateway key/],
      [['--key-stdin'], `x${KEY}\n`, {}, /standard input is \(not shown\), expected a gateway key/],
      [['--key', 'env:MINE'], '', {}, /MINE is empty, expected a gateway key/],
      [['--key', 'env:constructor'], '', {}, /constructor is empty, expected a gateway key/],
      [['--key', `env:${KEY.replace('sk', '-')}`], '', {}, /--key is \(not shown\)/],
      [['--key-stdin', '--key', KEY], KEY, {}, /--key and --key-stdin exclude each other/],
    ] as const) {
      const { code, stderr } = await piped(args, input, environment);
      assert.equal(code, 2);
      assert.match(stderr, message);
      assert.ok(!stderr.includes(KEY.slice(8)));
    }
    const typed = await connect(['openai', '--key-stdin'], {}, `${KEY}\r`);
    assert.ok(typed.stdout.includes(KEY) && typed.stderr.startsWith('Gateway key: \n'));
  });

  it('takes a model with the name of a member of every object', async () => {
    await using home = await temporaryHome();
    for (const model of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) {
      for (const client of CLIENTS.keys()) {
        const { code, stdout, stderr } = await connect([client, '--model', model], { HOME: home.path });
        assert.equal(code, 0, stderr);
        if (client === 'opencode')
          assert.ok(stdout.includes(`"${model}": {\n          "name": "${model}"`), stdout);
        await connect([client, '--model', model, '--yes'], { HOME: home.path });
      }
      const opencode = await readFile(join(home.path, FILES.opencode), 'utf8');
      assert.ok(opencode.includes(`"${model}": {`), opencode);
    }
  });

  it('names what it changes before it asks, without the values', async () => {
    await using home = await temporaryHome();
    await put(
      home.path,
      FILES['claude-code'],
      '{"env": {"ANTHROPIC_API_KEY": "sk-ant-secret"}, "model": "opus"}',
    );
    const { code, stderr } = await connect(
      ['claude-code', '--model', 'demo/echo'],
      { HOME: home.path },
      'y\n',
    );
    assert.equal(code, 0);
    assert.match(stderr, /set {5}env\.ANTHROPIC_BASE_URL\n/);
    assert.match(stderr, /remove {2}env\.ANTHROPIC_API_KEY\n/);
    assert.match(stderr, /replace model\n/);
    assert.match(stderr, /Change .*settings\.json for Claude Code\? \[y\/N\] /);
    assert.doesNotMatch(stderr, /sk-ant-secret|opus/);
  });

  it('goes where the client looks, and prints where there is no home', async () => {
    await using home = await temporaryHome();
    for (const [client, environment, path] of [
      ['claude-code', { CLAUDE_CONFIG_DIR: join(home.path, 'c') }, 'c/settings.json'],
      ['codex', { CODEX_HOME: join(home.path, 'x') }, 'x/config.toml'],
      ['opencode', { XDG_CONFIG_HOME: join(home.path, 'g') }, 'g/opencode/opencode.json'],
      ['opencode', { OPENCODE_CONFIG: join(home.path, 'o.json') }, 'o.json'],
      ['continue', { CONTINUE_GLOBAL_DIR: join(home.path, 'd') }, 'd/config.yaml'],
    ] as const) {
      const { code, stderr } = await connect([client, '--yes'], { HOME: home.path, ...environment });
      assert.equal(code, 0, stderr);
      assert.ok((await stat(join(home.path, path))).isFile());
    }
    const { code, stdout, stderr } = await connect(['codex'], {});
    assert.equal(code, 0);
    assert.match(stdout, /base_url/);
    assert.match(stderr, /HOME is not set/);
    assert.equal((await connect(['codex', '--yes'], {})).code, 1);
  });

  it('takes the address with or without /v1, and the port of the settings', async () => {
    for (const [args, environment, expected] of [
      [['--url', 'https://gw.example.com'], {}, 'https://gw.example.com/v1'],
      [['--url', 'https://gw.example.com/v1/'], {}, 'https://gw.example.com/v1'],
      [['--url', 'http://[::1]:9/v1'], {}, 'http://[::1]:9/v1'],
      [[], { GATEWAY_PORT: '9000' }, 'http://localhost:9000/v1'],
    ] as const) {
      const { stdout, stderr } = await connect(['openai', ...args], environment);
      assert.ok(stdout.includes(`OPENAI_BASE_URL=${expected}\n`), stdout);
      assert.doesNotMatch(stderr, /can be read on the way/);
    }
    const { stderr } = await connect(['openai', '--url', 'http://gw.example.com'], {});
    assert.match(stderr, /anyone on the network can read the key and every prompt/);
  });

  it('exits 2 for what it does not accept, and repeats no key', async () => {
    for (const [args, message] of [
      [['vim'], /CLIENT is "vim", expected claude-code, codex, cursor, /],
      [['codex', '--url', 'gw.example.com'], /--url is "gw\.example\.com", expected the address/],
      [['codex', '--url', 'https://u:hunter2@gw.example.com'], /--url is "https:\/\/…@gw\.example\.com"/],
      [['codex', '--url', 'https://u:hunter2'], /--url is "https:\/\/u:…"/],
      [['codex', '--url', 'hunter2@gw'], /--url is \(not shown\)/],
      [['codex', '--url', 'https://gw.example.com/openai'], /--url is/],
      [['codex', '--url', 'https://gw.example.com?x'], /--url is/],
      [['codex', '--model', 'a b'], /--model is "a b"/],
      [['codex', '--model', `m'"`], /--model is/],
      [['codex', '--key', `${KEY}x`], /--key is \(not shown\)/],
      [['codex', '--key-env', KEY.replace('sk', '-')], /--key-env is \(not shown\)/],
      [['codex', '--key', KEY, '--key-env', 'X'], /exclude each other/],
    ] as const) {
      const { code, stdout, stderr } = await connect(args, { HOME: '/none' });
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, message);
      assert.ok(!stderr.includes(KEY.slice(8)) && !stderr.includes('hunter2'));
    }
    const { code, stderr } = await connect(['codex'], { HOME: '/none', GATEWAY_PORT: '0' });
    assert.deepEqual([code, /give the address with --url/.test(stderr)], [2, true]);
    const encrypted = await connect(['codex'], { HOME: '/none', TLS_CERT: '/c', TLS_KEY: '/k' });
    assert.match(
      encrypted.stderr,
      /TLS_CERT is set; give the address that the certificate is for with --url/,
    );
  });
});
