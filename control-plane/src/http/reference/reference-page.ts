import {
  API_VERSION,
  endpoints,
  gatewayOpenApiDocument,
  type JsonSchema,
  navigations,
  openApiDocument,
} from '@gatehouse/contract';
import { type Html, html } from './html.ts';
import { inlineCode, operationHtml, type ShownOperation } from './operation-html.ts';

export const STYLE_PATH = '/reference.css';

/** The part of an OpenAPI document that the page shows. */
interface ShownDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, ShownOperation & { readonly tags: readonly string[] }>>>
  >;
  readonly components: { readonly schemas: Record<string, JsonSchema> };
}

/** Both descriptions as one page without a script: it works offline, and under the policy of the dashboard. */
export function referencePage(): string {
  const documents: readonly (readonly [id: string, document: ShownDocument])[] = [
    ['api', openApiDocument(endpoints, navigations) as unknown as ShownDocument],
    ['gateway', gatewayOpenApiDocument() as unknown as ShownDocument],
  ];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reference - Gatehouse</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Operations"><p class="brand"><a href="/">Gatehouse</a> <span>${API_VERSION}</span></p>
${documents.map(([id, document]) => navigationOf(id, document))}
</nav>
<main id="content">
<h1>Reference</h1>
<p>Every call of the control plane and of the gateway. The same for programs: <a href="/api/openapi.json">openapi.json</a> here, and <code>/v1/openapi.json</code> of the gateway.</p>
${documents.map(([id, document]) => contentOf(id, document))}
</main>
</body>
</html>
`.text;
}

function navigationOf(id: string, document: ShownDocument): Html {
  return html`<h2><a href="#${id}">${document.info.title}</a></h2>
${sectionsOf(document).map(
  ({ name, operations }) => html`<h3>${name}</h3>
<ul>${operations.map(({ operation }) => html`<li><a href="#${idOf(id, operation)}">${operation.operationId}</a></li>`)}</ul>`,
)}`;
}

function contentOf(id: string, document: ShownDocument): Html {
  const base = document.servers[0]?.url ?? '';
  return html`<h2 id="${id}">${document.info.title}</h2>
${document.info.description.split('\n\n').map((text) => html`<p>${inlineCode(text)}</p>`)}
${sectionsOf(document).map(
  ({ name, description, operations }) => html`<h2 class="section">${name}</h2><p>${description}</p>
${operations.map(({ method, path, operation }) =>
  operationHtml(
    { method, path: base + path, id: idOf(id, operation), named: document.components.schemas },
    operation,
  ),
)}`,
)}`;
}

function sectionsOf({ tags, paths }: ShownDocument) {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  return tags.map(({ name, description }) => ({
    name,
    description,
    operations: all.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

function idOf(document: string, { operationId }: ShownOperation): string {
  return `${document}-${operationId}`;
}
