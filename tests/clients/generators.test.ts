import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { endpoints, gatewayOpenApiDocument, navigations, openApiDocument } from '@gatehouse/contract';
import { duringTests, startTestApi } from '@gatehouse/control-plane/testing';
import { addRoute, useBench } from '@gatehouse/gateway/testing';
import { clientFile } from './install.ts';
import { runProgram } from './program.ts';

// Two generators of other people's make clients from the descriptions of the API and the gateway. What they make has to
// compile under strict rules, and to do a first piece of work: sign up, sign in, mint a key, list it, ask a model.

const bench = await useBench();

/** The end of an import of a program below, which is none of this file. */
const from = (name: string) => `from '${name}'`;

const STRICT = {
  compilerOptions: {
    ...{ strict: true, module: 'nodenext', target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'] },
    ...{ skipLibCheck: false, outDir: 'made', types: [] },
  },
  include: ['*.ts', 'api/**/*.ts', 'gateway/**/*.ts'],
};

/** The cookies of a session, which fetch does not keep. */
const JAR = `
const jar = new Map<string, string>();
const fetchWithCookies = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
  const request = new Request(input, init);
  request.headers.set('cookie', [...jar].map(([name, value]) => name + '=' + value).join('; '));
  const response = await fetch(request);
  for (const line of response.headers.getSetCookie()) {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    jar.set(pair.slice(0, at), pair.slice(at + 1));
  }
  return response;
};
const [, , api = '', gateway = ''] = (globalThis as { process?: { argv: string[] } }).process?.argv ?? [];
const person = { email: crypto.randomUUID() + '@example.com', password: 'correct horse battery staple' };
`;

const OPENAPI_FETCH = `
import createClient ${from('openapi-fetch')};
import type { paths } ${from('./api.js')};
import type { paths as GatewayPaths } ${from('./gateway.js')};
${JAR}
const client = createClient<paths>({ baseUrl: api, fetch: (request) => fetchWithCookies(request) });
await client.POST('/auth/register', { body: { ...person, organization_name: crypto.randomUUID() } });
const { data: account } = await client.POST('/auth/login', { body: person });
const { data: list } = await client.GET('/projects');
const project_id = list?.projects[0]?.id ?? '';
const { data: key } = await client.POST('/keys', { body: { name: 'made', project_id } });
const { data: keys } = await client.GET('/keys');
const { error } = await client.PATCH('/keys/{key_id}', { params: { path: { key_id: project_id } }, body: { rate_limit_rpm: 5 } });
const models = createClient<GatewayPaths>({ baseUrl: gateway });
const { data: answer, response } = await models.POST('/chat/completions', {
  body: { model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] },
});
const { data: description } = await models.GET('/openapi.json');
console.log(JSON.stringify([account?.user.role, key?.name, keys?.keys.length, error !== undefined, (answer as { choices?: unknown } | undefined)?.choices ?? response.status, typeof description]));
`;

const HEY_API = `
import { createClient } ${from('./api/client/index.js')};
import { createKey, listKeys, listProjects, login, register, updateKey } ${from('./api/index.js')};
import { createClient as createGatewayClient } ${from('./gateway/client/index.js')};
import { createChatCompletion, describe } ${from('./gateway/index.js')};
${JAR}
const client = createClient({ baseUrl: api, fetch: fetchWithCookies as typeof fetch });
await register({ client, body: { ...person, organization_name: crypto.randomUUID() } });
const { data: account } = await login({ client, body: person });
const { data: list } = await listProjects({ client });
const project_id = list?.projects[0]?.id ?? '';
const { data: key } = await createKey({ client, body: { name: 'made', project_id } });
const { data: keys } = await listKeys({ client });
const { error } = await updateKey({ client, path: { key_id: project_id }, body: { rate_limit_rpm: 5 } });
const models = createGatewayClient({ baseUrl: gateway });
const { data: answer, response } = await createChatCompletion({
  client: models,
  body: { model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] },
});
const { data: description } = await describe({ client: models });
console.log(JSON.stringify([account?.user.role, key?.name, keys?.keys.length, error !== undefined, (answer as { choices?: unknown } | undefined)?.choices ?? response?.status, typeof description]));
`;

describe('clients that other generators make', () => {
  const api = duringTests(startTestApi);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-generators-'));
    await symlink(await clientFile(), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(STRICT));
    await writeFile(join(folder, 'api.json'), JSON.stringify(openApiDocument(endpoints, navigations)));
    await writeFile(join(folder, 'gateway.json'), JSON.stringify(gatewayOpenApiDocument()));
    await addRoute(bench.database, {
      id: 'demo/echo',
      protocol: 'demo',
      apiKeyEnv: null,
      endpoints: ['chat'],
    });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const run = async (program: string, ...args: readonly string[]) => {
    const file = program.endsWith('.js') ? join(folder, program) : await clientFile('.bin', program);
    const options = { home: folder, directory: folder, environment: {} };
    const { code, stdout, stderr } = await runProgram(process.execPath, [file, ...args], options);
    assert.equal(code, 0, `${program}: ${stdout}\n${stderr}`);
    return stdout;
  };

  for (const [name, source, generate] of [
    [
      'openapi-typescript with openapi-fetch',
      OPENAPI_FETCH,
      async (which: string) => run('openapi-typescript', `${which}.json`, '-o', `${which}.ts`),
    ],
    [
      '@hey-api/openapi-ts',
      HEY_API,
      async (which: string) =>
        run('openapi-ts', '-i', `${which}.json`, '-o', which, '-c', '@hey-api/client-fetch'),
    ],
  ] as const) {
    it(`by ${name} compile and work`, async () => {
      await generate('api');
      await generate('gateway');
      await writeFile(join(folder, 'smoke.ts'), source);
      await run('tsc', '-p', '.');
      const gateway = `http://127.0.0.1:${bench.gateway.port}/v1`;
      const printed = await run('made/smoke.js', `http://127.0.0.1:${api.port}/api`, gateway);
      // The gateway has another database here, so it knows no key: its own word for that is read by the client.
      assert.deepEqual(JSON.parse(printed), ['owner', 'made', 1, true, 401, 'object']);
      await rm(join(folder, 'made'), { recursive: true });
      await rm(join(folder, 'api.ts'), { force: true });
      await rm(join(folder, 'gateway.ts'), { force: true });
    });
  }
});
