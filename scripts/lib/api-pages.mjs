// The pages of the API reference, one per tag of both OpenAPI documents.
import { controlPlane } from './control-plane-examples.mjs';

const MAX_DEPTH = 3;
/** Where `npm start` serves both. */
const ORIGINS = { gateway: 'http://127.0.0.1:8787', 'control-plane': 'http://127.0.0.1:8788' };

/**
 * @param {'gateway' | 'control-plane'} api
 * @param {{ gateway: object, 'control-plane': object }} documents OpenAPI 3.1
 * @param {(schema: object) => unknown} sampleOf a value that a schema without references allows
 * @returns {Map<string, string>} the text of each page, by its name
 */
export function apiPages(api, documents, sampleOf) {
  const document = documents[api];
  const context = { api, document, sampleOf, examples: examplesOf(api, documents) };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  return new Map(
    document.tags.map(({ name }) => {
      const members = operations.filter(({ tags }) => tags.includes(name));
      return [`${api}-${slugOf(name)}`, pageOf(name, members, context)];
    }),
  );
}

/** What the document has no place for: the control plane's examples, and the calls that it passes on to the gateway. */
function examplesOf(api, documents) {
  if (api === 'gateway') return { places: {}, queries: {}, bodies: {} };
  const { played, ...own } = controlPlane;
  const operations = Object.values(documents.gateway.paths).flatMap((methods) => Object.values(methods));
  const bodyOf = (id) =>
    operations.find(({ operationId }) => operationId === id).requestBody.content['application/json'].example;
  const passedOn = Object.entries(played).map(([id, of]) => [id, bodyOf(of)]);
  return { ...own, bodies: { ...own.bodies, ...Object.fromEntries(passedOn) } };
}

function slugOf(tag) {
  return tag.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function pageOf(tag, members, context) {
  const own = members.filter((each) => !isAlias(each));
  const sections = own.map((each) => section(each, aliasOf(each, members), context));
  return `# ${tag}\n\n${sections.join('\n\n')}\n`;
}

function isAlias({ path }) {
  return path.startsWith('/vendora/');
}

function aliasOf({ path, method }, members) {
  return members.find((each) => each.path === `/vendora${path}` && each.method === method)?.path;
}

function section(operation, alias, context) {
  const { path, method, summary, description, parameters, requestBody, responses } = operation;
  const verb = method.toUpperCase();
  return [
    `## ${verb} ${inText(path)} {#${operation.operationId}}`,
    inText(summary),
    description === undefined ? '' : inText(description),
    alias === undefined ? '' : `The same at \`${alias}\`.`,
    accessOf(operation),
    parameters.length === 0 ? '' : parameterTable(parameters, context),
    requestBody === undefined ? '' : bodyTable(requestBody.content, context),
    curl({ ...operation, verb }, context),
    answers(responses, context),
    refusals(responses),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function accessOf({ security, 'x-access': access, 'x-confirms': confirms }) {
  if (access === undefined) return security.length === 0 ? 'No key needed.' : '';
  const who = access === 'public' ? 'Open to everyone.' : `For ${[access].flat().map(code).join(', ')}.`;
  return confirms ? `${who} Asks for a session that was confirmed a moment ago.` : who;
}

function parameterTable(parameters, context) {
  return table(
    ['parameter', 'in', 'type', 'meaning'],
    parameters.map(({ name, in: where, required, description, schema }) => [
      code(name),
      required ? `${where}, required` : where,
      typeOf(schema, context),
      inText(description ?? schema.description ?? ''),
    ]),
  );
}

function bodyTable(content, context) {
  const form = content['multipart/form-data'];
  const schema = content['application/json']?.schema ?? form?.schema;
  if (schema === undefined) return `Body: ${Object.keys(content).map(code).join(', ')}.`;
  const rows = fieldsOf(schema, context);
  if (rows.length === 0) return '';
  const isFormAlone = content['application/json'] === undefined;
  if (isFormAlone) return table(['form', 'type', 'meaning'], rows);
  const forms = form ? '\n\nA form with the same fields is taken too.' : '';
  return `${table(['body', 'type', 'meaning'], rows)}${forms}`;
}

/** The fields of an object, with those of nested objects after a dot. */
function fieldsOf(schema, context, prefix = '', depth = 1) {
  const { properties = {}, required = [] } = resolved(schema, context);
  return Object.entries(properties).flatMap(([name, field]) => {
    const inner = resolved(field, context);
    const words = [required.includes(name) ? 'Required.' : '', inText(inner.description ?? '')];
    const row = [code(`${prefix}${name}`), typeOf(field, context), words.filter(Boolean).join(' ')];
    const list = inner.items ? resolved(inner.items, context) : undefined;
    if (depth === MAX_DEPTH) return [row];
    if (list?.properties) return [row, ...fieldsOf(list, context, `${prefix}${name}[].`, depth + 1)];
    return [row, ...fieldsOf(inner, context, `${prefix}${name}.`, depth + 1)];
  });
}

function curl(operation, context) {
  const { verb } = operation;
  const lines = [
    `curl -s ${verb === 'GET' ? '' : `-X ${verb} `}${addressOf(operation, context)}`,
    ...credentials(operation),
    ...sentBody(operation, context),
  ];
  return `\`\`\`bash\n${lines.join(' \\\n  ')}\n\`\`\``;
}

function credentials({ security, path }) {
  const names = security.flatMap((each) => Object.keys(each));
  return [
    ...(names.includes('key') ? [`-H "Authorization: Bearer $KEY"`] : []),
    ...(names.includes('session') ? [`-H "Cookie: tollgate_session=$SESSION"`] : []),
    ...(names.includes('csrfToken') ? [`-H "x-csrf-token: $CSRF"`] : []),
    ...(path.startsWith('/api/playground/') ? [`-H 'x-tollgate-key: {keyId}'`] : []),
  ];
}

function sentBody({ requestBody, operationId }, context) {
  const {
    'application/json': json,
    'multipart/form-data': form,
    'text/csv': csv,
  } = requestBody?.content ?? {};
  const example = context.examples.bodies[operationId];
  if (csv !== undefined) return [`-H 'Content-Type: text/csv'`, `--data-binary ${quoted(example)}`];
  if (json === undefined && form !== undefined) return formFields(form);
  const body = example ?? json?.example ?? (json && context.sampleOf(resolvedDeep(json.schema, context)));
  if (body === undefined) return [];
  return [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`];
}

function formFields({ schema, example = {} }) {
  const isFile = (name) => schema.properties[name].contentMediaType !== undefined;
  return Object.entries(example).map(([name, value]) => `-F '${name}=${isFile(name) ? '@' : ''}${value}'`);
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The operation's address with its example values, including required query parameters. */
function addressOf({ path, parameters, operationId }, { api, examples }) {
  const valueOf = (name) =>
    parameters.find((each) => each.in === 'path' && each.name === name)?.example ?? examples.places[name];
  const place = path.replace(/\{(\w+)\}/g, (braces, name) => valueOf(name) ?? braces);
  const fixed = parameters
    .filter(({ in: where, schema }) => where === 'query' && schema.const !== undefined)
    .map(({ name, schema }) => `${name}=${schema.const}`);
  const query = examples.queries[operationId] ?? fixed.join('&');
  const address = `${ORIGINS[api]}${place}`;
  // In a shell, a question mark can match part of a file name.
  return query === '' ? address : `'${address}?${query}'`;
}

function answers(responses, context) {
  return Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, { description, content = {} }]) => {
      const schema = content['application/json']?.schema;
      const types = Object.keys(content).map(code).join(', ');
      const title = `Answers \`${status}\`: ${inText(description)}${types === '' ? '' : ` (${types})`}`;
      // What one program passes on from another is described there.
      if (schema === undefined || Object.keys(schema).length === 0) return title;
      const sample = context.sampleOf(resolvedDeep(schema, context));
      return `${title}\n\n\`\`\`json\n${JSON.stringify(sample, null, 2)}\n\`\`\``;
    })
    .join('\n\n');
}

function refusals(responses) {
  const words = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { description }]) => [...description.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  if (words.length === 0) return '';
  const links = [...new Set(words)].map((name) => `[\`${name}\`](../errors.md#${name.replaceAll('_', '-')})`);
  return `Errors: ${links.join(', ')}.`;
}

function typeOf(schema, context) {
  const { type, const: value, enum: words, items, anyOf, minimum, maximum } = resolved(schema, context);
  if (value !== undefined) return code(JSON.stringify(value));
  if (words && words.length <= 12) return words.map((word) => code(JSON.stringify(word))).join(', ');
  if (items) return `list of ${typeOf(items, context)}`;
  if (anyOf) return [...new Set(anyOf.map((each) => typeOf(each, context)))].join(' or ');
  const bounds = [
    minimum === undefined ? '' : `from ${minimum}`,
    maximum === undefined ? '' : `to ${maximum}`,
  ];
  return [[type ?? 'any'].flat().join(' or '), ...bounds].filter(Boolean).join(' ');
}

function resolved(schema, { document }) {
  const { $ref } = schema;
  return $ref === undefined ? schema : document.components.schemas[$ref.split('/').at(-1)];
}

/** The schema with references resolved. None of the documents has circular ones. */
function resolvedDeep(schema, context) {
  if (Array.isArray(schema)) return schema.map((each) => resolvedDeep(each, context));
  if (typeof schema !== 'object' || schema === null) return schema;
  const own = resolved(schema, context);
  return Object.fromEntries(Object.entries(own).map(([key, each]) => [key, resolvedDeep(each, context)]));
}

function table(head, rows) {
  const lines = [
    head,
    head.map(() => '---'),
    ...rows.map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|'))),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function code(text) {
  return `\`${text}\``;
}

/** Text with `code` in backticks. Nothing else in it is markup or a template. */
function inText(text) {
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`') ? part : part.replace(/[<{*_[\]]/g, (sign) => `&#${sign.charCodeAt(0)};`),
    )
    .join('')
    .replace(/\s+/g, ' ');
}
