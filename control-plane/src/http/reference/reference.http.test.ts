import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpoints, gatewayOpenApiDocument, navigations, openApiDocument } from '@gatehouse/contract';
import { duringTests } from '../../testing/during-tests.ts';
import { startTestApi } from '../../testing/test-api.ts';
import { html } from './html.ts';

describe('the description of the API', () => {
  const api = duringTests(startTestApi);
  const get = (path: string) => api.anonymous().raw({ method: 'GET', path });

  it('200 without a session, with every path and method that the service knows and no other', async () => {
    const { status, headers, text } = await get('/api/openapi.json');
    assert.deepEqual([status, headers['content-type']], [200, 'application/json; charset=utf-8']);
    const document = JSON.parse(text) as ReturnType<typeof openApiDocument>;
    assert.deepEqual(document, JSON.parse(JSON.stringify(openApiDocument(endpoints, navigations))));
    for (const [path, methods] of Object.entries(document.paths)) {
      const at = `/api${path.replaceAll(/\{\w+\}/g, 'x')}`;
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'PUT']) {
        const reply = await api.anonymous().raw({ method, path: at });
        const isKnown = methods[method.toLowerCase()] !== undefined;
        assert.equal(
          reply.status !== 405 && reply.status !== 404,
          isKnown,
          `${method} ${at}: ${reply.status}`,
        );
        if (reply.status === 405) {
          const allowed = Object.keys(methods).map((one) => one.toUpperCase());
          assert.deepEqual(String(reply.headers['allow']).split(', ').sort(), allowed.sort());
        }
      }
    }
  });

  it('is a page as well, with every operation of both listeners, under the policy of the dashboard', async () => {
    const page = await get('/reference');
    assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; .*trusted-types 'none'$/);
    for (const [tag] of page.text.matchAll(/<[^>]*>/g)) {
      assert.ok(!/^<(script|style|img|iframe)|\s(style|on\w+)=/.test(tag), tag);
      assert.match(/(?:href|src)="([^"]*)"/.exec(tag)?.[1] ?? '/', /^(\/(?!\/)|#|data:,$)/);
    }
    const ids = new Set([...page.text.matchAll(/ id="([\w-]+)"/g)].map(([, id]) => id));
    const documents = { api: openApiDocument(endpoints, navigations), gateway: gatewayOpenApiDocument() };
    for (const [name, { paths }] of Object.entries(documents)) {
      for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
        assert.ok(ids.has(`${name}-${(operation as { operationId: string }).operationId}`));
    }
    for (const [, target] of page.text.matchAll(/href="#([\w-]+)"/g)) assert.ok(ids.has(target), target);
    const style = await get('/reference.css');
    assert.deepEqual([style.status, style.headers['content-type']], [200, 'text/css; charset=utf-8']);
  });
});

describe('html', () => {
  it('escapes every text, and only pieces of HTML are HTML', () => {
    const hostile = `<script>alert("1")</script>&'`;
    assert.equal(
      html`<p title="${hostile}">${hostile}${[html`<b>${1}</b>`, undefined, false]}</p>`.text,
      '<p title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;">&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;<b>1</b></p>',
    );
  });
});
