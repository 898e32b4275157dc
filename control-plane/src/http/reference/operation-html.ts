import { type JsonSchema, rowsOfSchema } from '@gatehouse/contract';
import { type Html, html } from './html.ts';

/** The part of an OpenAPI operation that the page shows. */
export interface ShownOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
  readonly 'x-codeSamples'?: readonly { readonly label: string; readonly source: string }[];
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;
type Named = Record<string, JsonSchema>;

/** An operation: its inputs, its answers, and the calls of it by curl and an SDK. */
export function operationHtml(
  { method, path, id, named }: { method: string; path: string; id: string; named: Named },
  operation: ShownOperation,
): Html {
  const { summary, security, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const isOpen = security?.length === 0;
  return html`<section class="operation" id="${id}">
<h3><span class="method">${method.toUpperCase()}</span> <code>${path}</code></h3>
<p>${inlineCode(summary)}${isOpen && ' Open to anyone.'}</p>
<div class="halves"><div>
${parameters.length > 0 && html`<h4>Parameters</h4>${table(['Name', 'In', 'Rules'], parameters.map(parameterRow))}`}
${body && html`<h4>Body</h4>${fieldsTable(body, 'sent', named)}`}
<h4>Answers</h4>
${Object.entries(responses).map(([status, { description, content }]) => answerHtml(status, description, content, named))}
</div><div>${(operation['x-codeSamples'] ?? []).map(({ label, source }) => html`<h4>${label}</h4><pre><code>${source}</code></pre>`)}</div></div>
</section>`;
}

function answerHtml(status: string, description: string, content: Content | undefined, named: Named): Html {
  const schema = content?.['application/json']?.schema;
  const fields = schema && status.startsWith('2') ? fieldsTable(schema, 'got', named) : undefined;
  const line = html`<b>${status}</b> ${inlineCode(description)}`;
  return fields === undefined
    ? html`<p class="answer">${line}</p>`
    : html`<details class="answer"><summary>${line}</summary>${fields}</details>`;
}

type Parameter = NonNullable<ShownOperation['parameters']>[number];

function parameterRow({ name, in: where, required, description }: Parameter): Html[] {
  return [
    html`<code>${name}</code>${required && html` <i>required</i>`}`,
    html`${where}`,
    inlineCode(description ?? ''),
  ];
}

function fieldsTable(schema: JsonSchema, side: 'sent' | 'got', named: Named): Html | undefined {
  const rows = rowsOfSchema(schema, side, named).map(({ path, cells }) => {
    const [isRequired, type = '', rules = ''] = side === 'sent' ? cells : ['', ...cells];
    return [
      html`<code>${path}</code>${isRequired === 'yes' && html` <i>required</i>`}`,
      inlineCode(type),
      inlineCode(rules),
    ];
  });
  return rows.length === 0 ? undefined : table(['Field', 'Type', 'Rules'], rows);
}

function table(header: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return html`<table><thead><tr>${header.map((cell) => html`<th>${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>`;
}

/** A text whose code stands in backticks, as the descriptions have it. */
export function inlineCode(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
