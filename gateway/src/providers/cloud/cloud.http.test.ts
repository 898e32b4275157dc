import assert from 'node:assert/strict';
import { verify } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CloudCredential } from '@gatehouse/contract';
import { proxiesFor } from '@gatehouse/http/outgoing';
import { createCertificate, startProxy } from '@gatehouse/http/testing';
import type { Database } from '@gatehouse/store';
import { createTestDatabase } from '@gatehouse/store/testing';
import {
  addRoute,
  type IssuedKey,
  issueKey,
  type MockProvider,
  startMockProvider,
  startTestGateway,
} from '../../testing/index.ts';
import { signatureIssue } from '../../testing/sigv4-verifier.ts';

const KEY = {
  accessKeyId: 'ASIAEXAMPLE',
  secretAccessKey: 'secret/example',
  sessionToken: 'session-token-1',
};
const AWS = { kind: 'aws', region: 'us-east-1', service: 'bedrock' } as const;
const GOOGLE = { kind: 'google', scopes: ['https://www.googleapis.com/auth/cloud-platform'] } as const;
const AZURE = { kind: 'azure', scope: 'https://cognitiveservices.azure.com/.default' } as const;

describe('a provider whose credential a cloud issues', () => {
  const stack = new AsyncDisposableStack();
  let database: Database;
  let key: IssuedKey;
  let provider: MockProvider;
  let folder: string;
  let cloud: string;
  /** The requests that the clouds got: their path, and their form. */
  let asked: { path: string; form: URLSearchParams; authorization: string | undefined }[] = [];
  let lifeSeconds = 3_600;
  let isDown = false;
  const variables: Record<string, string> = {};

  before(async () => {
    ({ database } = stack.use(await createTestDatabase()));
    key = await issueKey(database, { rateLimitRpm: 100_000 });
    provider = stack.use(await startMockProvider());
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-cloud-'));
    stack.defer(() => rm(folder, { recursive: true }));
    const server = createServer(async (request, response) => {
      const form = new URLSearchParams(await textOf(request));
      const path = request.url ?? '';
      asked.push({ path, form, authorization: request.headers.authorization });
      if (isDown) {
        response.writeHead(500).end('{}');
        return;
      }
      const answer =
        path === '/aws'
          ? {
              AccessKeyId: KEY.accessKeyId,
              SecretAccessKey: KEY.secretAccessKey,
              Token: KEY.sessionToken,
              Expiration: new Date(Date.now() + lifeSeconds * 1_000).toISOString(),
            }
          : {
              access_token: `token-${asked.length}-0123456789`,
              token_type: 'Bearer',
              expires_in: lifeSeconds,
            };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    stack.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    cloud = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // As the vendors' own code finds them.
    for (const [name, value] of Object.entries({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${cloud}/aws`,
      AWS_CONFIG_FILE: join(folder, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
      AWS_LAMBDA_NODEJS_NO_GLOBAL_AWSLAMBDA: 'true',
      GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'google.json'),
    })) {
      const earlier = process.env[name];
      process.env[name] = value;
      stack.defer(() => {
        if (earlier === undefined) delete process.env[name];
        else process.env[name] = earlier;
      });
    }
  });
  beforeEach(() => {
    asked = [];
    lifeSeconds = 3_600;
    isDown = false;
    for (const name of Object.keys(variables)) delete variables[name];
    Object.assign(variables, {
      AZURE_TENANT_ID: 'tenant',
      AZURE_CLIENT_ID: 'client',
      AZURE_AUTHORITY_HOST: cloud,
    });
  });
  after(() => stack.disposeAsync());

  let routes = 0;
  const routeTo = async (credential: CloudCredential) => {
    routes += 1;
    const model = `cloud/${routes}`;
    await addRoute(database, {
      id: model,
      provider: `cloud-${routes}`,
      baseUrl: `${provider.baseUrl}?tier=a%20b`,
      apiKeyEnv: null,
      flags: { credential },
    });
    return model;
  };
  const start = () => startTestGateway(database, { platformKey: (name) => variables[name] });
  type Started = Awaited<ReturnType<typeof start>>;
  const ask = async (gateway: Started, model: string, body: object = {}) => {
    const answer = await gateway.chat(key.secret, { model, ...body });
    return { status: answer.status, text: await answer.text() };
  };

  it('is asked with a signature over the body as it was sent, JSON and stream', async () => {
    await using gateway = await start();
    const model = await routeTo(AWS);
    for (const isStream of [false, true]) {
      provider.asked.length = 0;
      const { status } = await ask(gateway, model, { stream: isStream });
      assert.equal(status, 200);
      const [sent] = provider.asked;
      assert.ok(sent);
      const { method, path: target, headers, text } = sent;
      assert.match(target, /\?tier=a%20b$/);
      assert.equal(signatureIssue({ method, target, headers, body: text }, KEY), undefined);
      assert.equal(signatureIssue({ method, target, headers, body: `${text} ` }, KEY), 'another body');
    }
    assert.deepEqual(
      asked.map(({ path }) => path),
      ['/aws'],
    );
  });

  it('is asked for a credential once, by 50 requests at a time, also when it ends', async () => {
    await using gateway = await start();
    const model = await routeTo(AWS);
    // The vendor's own code keeps one that has more than five minutes left.
    lifeSeconds = 120;
    const all = async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask(gateway, model)));
      return new Set(answers.map(({ status }) => status));
    };
    assert.deepEqual(await all(), new Set([200]));
    assert.equal(asked.length, 1);
    gateway.time.advance(61_000);
    assert.deepEqual(await all(), new Set([200]));
    assert.equal(asked.length, 2);
  });

  it('answers 503 while there is no credential, and the log says why', async () => {
    isDown = true;
    await using gateway = await start();
    const model = await routeTo(GOOGLE);
    await writeGoogleKey();
    const { status, text } = await ask(gateway, model);
    assert.equal(status, 503);
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    assert.equal(error.code, 'upstream_not_configured');
    assert.match(error.message, /no credential of the kind google for the provider cloud-\d+ right now/);
    const failing = gateway.logged.filter(({ event }) => event === 'provider.credential_failing');
    assert.deepEqual(
      failing.map(({ kind }) => kind),
      ['google'],
    );
    const before = asked.length;
    assert.equal((await ask(gateway, model)).status, 503);
    assert.equal(asked.length, before);
    isDown = false;
    gateway.time.advance(5_000);
    assert.equal((await ask(gateway, model)).status, 200);
    assert.ok(gateway.logged.some(({ event }) => event === 'provider.credential_recovered'));
  });

  /** A workload's federation: the one kind whose file says where its tokens are. */
  const writeGoogleKey = async (tokenUrl = `${cloud}/google`) => {
    await writeFile(join(folder, 'subject'), 'subject.token');
    await writeFile(
      join(folder, 'google.json'),
      JSON.stringify({
        type: 'external_account',
        audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/one',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: tokenUrl,
        credential_source: { file: join(folder, 'subject') },
      }),
    );
  };

  it('is asked with a token of Google for its scopes, by a workload’s federation', async () => {
    await writeGoogleKey();
    await using gateway = await start();
    provider.asked.length = 0;
    assert.equal((await ask(gateway, await routeTo(GOOGLE))).status, 200);
    assert.equal(provider.asked[0]?.headers.authorization, 'Bearer token-1-0123456789');
    const [{ path, form } = { path: '', form: new URLSearchParams() }] = asked;
    assert.deepEqual(
      [path, form.get('subject_token'), form.get('scope')],
      ['/google', 'subject.token', GOOGLE.scopes[0]],
    );
  });

  it('gets the model in its path and its own member in the body, as Vertex has it', async () => {
    variables['AZURE_CLIENT_SECRET'] = 'hunter2hunter2';
    await using gateway = await start();
    await addRoute(database, {
      id: 'cloud/vertex',
      provider: 'vertex',
      protocol: 'anthropic',
      baseUrl: `${provider.baseUrl}/locations/one`,
      upstreamModel: 'claude-x@20261101',
      endpoints: ['messages'],
      apiKeyEnv: null,
      flags: {
        credential: AZURE,
        surfaces: { messages: '/models/{model}:{rawPredict|streamRawPredict}' },
        add: { anthropic_version: 'vertex-2023-10-16' },
      },
    });
    for (const [stream, verb] of [
      [false, 'rawPredict'],
      [true, 'streamRawPredict'],
    ] as const) {
      provider.asked.length = 0;
      const body = {
        model: 'cloud/vertex',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'hi' }],
        stream,
      };
      await (await gateway.post('/v1/messages', key.secret, { ...body, anthropic_version: 'mine' })).text();
      const [sent] = provider.asked;
      assert.match(sent?.path ?? '', new RegExp(`/locations/one/models/claude-x@20261101:${verb}$`));
      const { model: _model, ...others } = body;
      assert.deepEqual(sent?.body, { ...others, anthropic_version: 'vertex-2023-10-16' });
    }
  });

  it('is asked with a token of Entra, by a client secret', async () => {
    variables['AZURE_CLIENT_SECRET'] = 'hunter2hunter2';
    await using gateway = await start();
    provider.asked.length = 0;
    assert.equal((await ask(gateway, await routeTo(AZURE))).status, 200);
    assert.equal(provider.asked[0]?.headers.authorization, 'Bearer token-1-0123456789');
    assert.equal(asked[0]?.path, '/tenant/oauth2/v2.0/token');
    assert.deepEqual(Object.fromEntries(asked[0]?.form ?? []), {
      grant_type: 'client_credentials',
      scope: AZURE.scope,
      client_id: 'client',
      client_secret: 'hunter2hunter2',
    });
  });

  it('is asked with a token of Entra, by a certificate', async () => {
    const certificate = createCertificate({ isRsa: true });
    const path = join(folder, 'azure.pem');
    await writeFile(path, Buffer.concat([certificate.cert, certificate.key]));
    variables['AZURE_CLIENT_CERTIFICATE_PATH'] = path;
    await using gateway = await start();
    assert.equal((await ask(gateway, await routeTo(AZURE))).status, 200);
    const assertion = asked[0]?.form.get('client_assertion') ?? '';
    const [head, claims, signature = ''] = assertion.split('.');
    const { alg, 'x5t#S256': thumbprint } = jsonOf(head);
    assert.equal(alg, 'PS256');
    assert.match(String(thumbprint), /^[\w-]{43}$/);
    const { iss, sub, aud } = jsonOf(claims);
    assert.deepEqual([iss, sub, aud], ['client', 'client', `${cloud}/tenant/oauth2/v2.0/token`]);
    const isSigned = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      { key: certificate.cert.toString(), padding: 6, saltLength: 32 },
      Buffer.from(signature, 'base64url'),
    );
    assert.ok(isSigned);
  });

  it('reads a certificate again after each failure, and so takes the one that replaces it', async () => {
    const path = join(folder, 'replaced.pem');
    const [first, second] = [createCertificate({ isRsa: true }), createCertificate({ isRsa: true })];
    const write = ({ cert, key: own }: typeof first) => writeFile(path, Buffer.concat([cert, own]));
    await write(first);
    variables['AZURE_CLIENT_CERTIFICATE_PATH'] = path;
    isDown = true;
    await using gateway = await start();
    const model = await routeTo(AZURE);
    for (let failures = 0; failures < 2; failures += 1) {
      assert.equal((await ask(gateway, model)).status, 503);
      gateway.time.advance(5_000);
    }
    await write(second);
    assert.equal((await ask(gateway, model)).status, 503);
    gateway.time.advance(5_000);
    isDown = false;
    assert.equal((await ask(gateway, model)).status, 200);
    const thumbprints = asked.map(
      ({ form }) => jsonOf(form.get('client_assertion')?.split('.')[0])['x5t#S256'],
    );
    const [one, ...others] = thumbprints;
    assert.deepEqual([others[0] === one, others[1] === one, others[2] === others[1]], [true, false, true]);
  });

  it('is asked with a token of Entra, by the token of a workload, as it is in its file at the time', async () => {
    const path = join(folder, 'workload-token');
    variables['AZURE_FEDERATED_TOKEN_FILE'] = path;
    await writeFile(path, 'first.token\n');
    await using gateway = await start();
    const model = await routeTo(AZURE);
    assert.equal((await ask(gateway, model)).status, 200);
    await writeFile(path, 'second.token');
    gateway.time.advance(3_600_000);
    assert.equal((await ask(gateway, model)).status, 200);
    assert.deepEqual(
      asked.map(({ form }) => form.get('client_assertion')),
      ['first.token', 'second.token'],
    );
  });

  it('answers 503 where a variable is missing, and asks again once it is there', async () => {
    await using gateway = await start();
    const model = await routeTo(AZURE);
    assert.equal((await ask(gateway, model)).status, 503);
    const failing = gateway.logged.find(({ event }) => event === 'provider.credential_failing');
    assert.match(JSON.stringify(failing), /none of AZURE_CLIENT_SECRET, AZURE_CLIENT_CERTIFICATE_PATH and/);
    variables['AZURE_CLIENT_SECRET'] = 'hunter2hunter2';
    gateway.time.advance(5_000);
    assert.equal((await ask(gateway, model)).status, 200);
  });

  it('is asked for its credential through the proxy of the network, whichever cloud it is', async () => {
    await using proxy = await startProxy(1, { refusesWith: 403 });
    const token = join(folder, 'web-identity');
    await writeFile(token, 'web.identity.token');
    const named = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: undefined,
      AWS_WEB_IDENTITY_TOKEN_FILE: token,
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/gateway',
      AWS_MAX_ATTEMPTS: '1',
      AWS_EC2_METADATA_DISABLED: 'true',
      // Google's code for federations reads it itself.
      HTTPS_PROXY: proxy.url.href,
    };
    const earlier = Object.keys(named).map((name) => [name, process.env[name]] as const);
    const set = (name: string, value: string | undefined) => {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    };
    for (const [name, value] of Object.entries(named)) set(name, value);
    await writeGoogleKey('https://sts.googleapis.com/v1/token');
    variables['AZURE_CLIENT_SECRET'] = 'hunter2hunter2';
    delete variables['AZURE_AUTHORITY_HOST'];
    try {
      await using gateway = await startTestGateway(database, {
        platformKey: (name) => variables[name],
        proxyOf: proxiesFor({ http: undefined, https: proxy.url, exceptions: undefined }),
      });
      for (const credential of [AWS, GOOGLE, AZURE])
        assert.equal((await ask(gateway, await routeTo(credential))).status, 503);
    } finally {
      for (const [name, value] of earlier) set(name, value);
    }
    assert.deepEqual(
      new Set(proxy.asked),
      new Set([
        'CONNECT sts.us-east-1.amazonaws.com:443',
        'CONNECT sts.googleapis.com:443',
        'CONNECT login.microsoftonline.com:443',
      ]),
    );
  });

  it('does not tell the caller its credential: an answer that repeats it is redacted', async () => {
    variables['AZURE_CLIENT_SECRET'] = 'hunter2hunter2';
    await using gateway = await start();
    const model = await routeTo(AZURE);
    const { script } = provider;
    provider.script = (response, { headers }) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `no: ${headers.authorization}` } }));
    };
    const { text } = await ask(gateway, model);
    provider.script = script;
    assert.doesNotMatch(text, /token-1-0123456789/);
  });
});

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function jsonOf(part: string | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from(part ?? '', 'base64url').toString());
}
