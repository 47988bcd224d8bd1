import { createHash } from 'node:crypto';
import { asHtml } from '#platform/http/html.js';
import type { DocumentedOperation, GatewayDocument, Parameter } from './openapi.document.js';
import type { Schema } from './operation.js';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
details { border: 1px solid #8886; border-radius: 6px; margin: 0.5rem 0; }
summary { padding: 0.5rem 0.75rem; cursor: pointer; }
details > div { padding: 0 0.75rem 0.75rem; }
summary b { display: inline-block; min-width: 4.5rem; }
ul { padding-left: 1.25rem; margin: 0.25rem 0; }
h4 { margin: 1rem 0 0.25rem; }
small { opacity: 0.75; }
`;

/** Nothing is loaded and nothing runs: the page is its text and this one style. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The document as a page, by tags and in the order of its paths. */
export function docsPage(document: GatewayDocument): string {
  const { info, servers } = document;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${asHtml(info.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${asHtml(info.title)}</h1>
<p>${prose(info.description)}</p>
<p>Base address: <code>${asHtml(servers[0]?.url ?? '/')}</code>. For programs: <a href="openapi.json">openapi.json</a>.</p>
${sectionsOf(document)}
<h2>Errors</h2>
${schemasOf(document)}
</main>
</body>
</html>
`;
}

function sectionsOf({ tags, paths }: GatewayDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const sections = tags.map(({ name }) => {
    const members = operations.filter(({ operation }) => operation.tags.includes(name));
    return `<h2>${asHtml(name)}</h2>\n${members.map(operationBlock).join('\n')}`;
  });
  return sections.join('\n');
}

function schemasOf({ components }: GatewayDocument): string {
  const schemas = Object.entries(components['schemas'] ?? {}).map(
    ([name, schema]) =>
      `<details id="schema-${asHtml(name)}"><summary>${asHtml(name)}</summary><div>${schemaBlock(schema as Schema)}</div></details>`,
  );
  return schemas.join('\n');
}

function operationBlock(entry: { path: string; method: string; operation: DocumentedOperation }): string {
  const { path, method, operation } = entry;
  const { operationId, summary, description, security, parameters, requestBody, responses } = operation;
  const keys = security.flatMap((each) => Object.keys(each)).map(code);
  const answers = Object.entries(responses).map(
    ([status, { description: words, content }]) =>
      `<li><code>${asHtml(status)}</code> ${prose(words)}${Number(status) < 400 ? contentBlock(content) : errorShape(content)}</li>`,
  );
  return `<details id="${asHtml(operationId)}">
<summary><b>${asHtml(method.toUpperCase())}</b> <code>${asHtml(path)}</code> <small>${prose(summary)}</small></summary>
<div>
${description === undefined ? '' : `<p>${prose(description)}</p>`}
<p><small>${keys.length === 0 ? 'No key needed.' : `Opened by ${keys.join(' or ')}.`}</small></p>
${parameters.length === 0 ? '' : `<h4>Parameters</h4><ul>${parameters.map(parameterLine).join('')}</ul>`}
${requestBody === undefined ? '' : `<h4>Body</h4>${contentBlock(requestBody.content)}`}
<h4>Answers</h4><ul>${answers.join('')}</ul>
</div>
</details>`;
}

function parameterLine({ name, in: where, required, description, schema }: Parameter): string {
  const rule = required ? 'required' : 'optional';
  return `<li>${code(name)} <small>${where}, ${rule}, ${asHtml(typeOf(schema))}</small> ${prose(description ?? '')}</li>`;
}

function contentBlock(content: Record<string, { schema?: Schema; example?: unknown }> = {}): string {
  return Object.entries(content)
    .map(([type, { schema, example }]) => {
      const shown = example === undefined ? '' : `<pre>${asHtml(JSON.stringify(example, null, 2))}</pre>`;
      return `<div>${code(type)}${schema ? schemaBlock(schema) : ''}${shown}</div>`;
    })
    .join('');
}

/** Errors are the same everywhere: a link is enough. */
function errorShape(content: Record<string, { schema?: Schema }> = {}): string {
  return Object.values(content)
    .flatMap(({ schema }) => (schema === undefined ? [] : [...(schema.anyOf ?? [schema])]))
    .map((schema) => ` ${schemaBlock(schema)}`)
    .join(' or');
}

function schemaBlock(schema: Schema): string {
  const { $ref, properties, required = [], items, anyOf } = schema;
  if ($ref !== undefined) {
    const name = asHtml($ref.split('/').at(-1) ?? '');
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (anyOf)
    return `<ul>${anyOf.map((each) => `<li>${asHtml(typeOf(each))} ${prose(each.description ?? '')}${nested(each)}</li>`).join('')}</ul>`;
  if (items) return schemaBlock(items);
  if (!properties) return '';
  const fields = Object.entries(properties).map(([name, field]) => {
    const rule = required.includes(name) ? 'required, ' : '';
    const words = field.description ?? field.items?.description ?? '';
    return `<li>${code(name)} <small>${rule}${asHtml(typeOf(field))}</small> ${prose(words)}${nested(field)}</li>`;
  });
  return `<ul>${fields.join('')}</ul>`;
}

function nested(schema: Schema): string {
  return schema.properties || schema.items || schema.anyOf || schema.$ref ? schemaBlock(schema) : '';
}

function typeOf({ type, const: value, enum: words, items, anyOf, minimum, maximum }: Schema): string {
  if (value !== undefined) return JSON.stringify(value);
  if (items) return `list of ${typeOf(items)}`;
  if (anyOf) return 'one of';
  const range = [
    minimum === undefined ? '' : `from ${minimum}`,
    maximum === undefined ? '' : `to ${maximum}`,
  ];
  const bounds = range.filter(Boolean).join(' ');
  const name = [type ?? 'any'].flat().join(' or ');
  if (words && words.length <= 10) return `${name}: ${words.map((word) => JSON.stringify(word)).join(', ')}`;
  return bounds === '' ? name : `${name} ${bounds}`;
}

function code(text: string): string {
  return `<code>${asHtml(text)}</code>`;
}

/** Text with `code` in backticks. */
function prose(text: string): string {
  return asHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}
