import type { Shape } from '../../api/client.js';
import type { Code } from '../../ui/code/code.js';
import { KEY_PLACEHOLDER } from '../../visitor/code-samples.js';
import { ratedChoices } from '../../visitor/market/calculator-work.js';

export const playKinds = ['image', 'edit', 'video', '3d', 'chat', 'speech'] as const;
export type PlayKind = (typeof playKinds)[number];

/** Named as in the gateway's API, so that its refusals find their field. */
export interface PlayValues extends Record<string, unknown> {
  prompt: string;
  n: number | string;
  size: string;
  aspect_ratio: string;
  resolution: string;
  generate_audio: boolean;
  seconds: number | string;
  voice: string;
  image: File | null;
}

/** A gateway call, made by the playground or shown as code. */
export interface PlaygroundCall {
  /** After /v1/. */
  path: string;
  body: Record<string, unknown>;
  /** Sent as a form with the body's fields, if the path takes one. */
  file: File | null;
}

export const PATHS: Record<PlayKind, string> = {
  image: 'images/generations',
  edit: 'images/edits',
  video: 'videos',
  '3d': '3d',
  chat: 'chat/completions',
  speech: 'audio/speech',
};

/** Paths that take a form: the file's field, and its name in code. */
const FORMS: Record<string, { field: string; name: string }> = {
  [PATHS.edit]: { field: 'image', name: 'image.png' },
  'audio/transcriptions': { field: 'file', name: 'speech.mp3' },
};

export function callOf(kind: PlayKind, model: string, values: PlayValues): PlaygroundCall {
  return {
    path: PATHS[kind],
    body: bodyOf(kind, model, values),
    file: kind === 'edit' ? values.image : null,
  };
}

function bodyOf(kind: PlayKind, model: string, values: PlayValues): Record<string, unknown> {
  const { prompt, n, size, aspect_ratio, resolution, seconds, voice } = values;
  const shape = given({ size, aspect_ratio, resolution });
  switch (kind) {
    case 'image':
    case 'edit':
      return { model, prompt, ...given({ n }), ...shape, response_format: 'b64_json' };
    case 'video':
      return { model, prompt, ...given({ seconds: String(seconds) }), ...shape, ...silence(values) };
    case '3d':
      return { model, prompt };
    case 'chat':
      return { model, messages: [{ role: 'user', content: prompt }] };
    case 'speech':
      return { model, input: prompt, ...given({ voice }) };
  }
}

/** Only models priced by sound are known to make videos without it. */
export function isPricedBySound({ listPrice }: Shape<'ListedModel'>): boolean {
  return listPrice !== null && ratedChoices(listPrice).some(({ name }) => name === 'audio');
}

/** Videos have sound by default. */
function silence({ generate_audio }: PlayValues): Record<string, unknown> {
  return generate_audio ? {} : { generate_audio };
}

/** Without empty fields. */
function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/** The parts of a call that its price depends on. */
export function quoteRequest(kind: PlayKind, model: Shape<'ListedModel'>, values: PlayValues) {
  const body = { model: model.id, dimensions: dimensionsOfCall(kind, values) };
  if (model.unit === 'second') return { ...body, ...wholeOf('seconds', values.seconds) };
  const n = wholeOf('n', model.family === 'image' ? values.n : 1);
  if (model.unit === 'million_tokens')
    return { ...body, text: values.prompt, ...(model.family === 'image' && n) };
  return { ...body, ...n };
}

/** Only what is completely typed. */
function dimensionsOfCall(kind: PlayKind, { size, resolution, generate_audio }: PlayValues) {
  if (kind === 'video')
    return { ...(resolution !== '' && { resolution }), ...(!generate_audio && { audio: 'off' as const }) };
  if (kind !== 'image' && kind !== 'edit') return {};
  return {
    ...(/^\d{1,5}x\d{1,5}$/.test(size) && { size }),
    ...(kind === 'edit' && { input: 'image' as const }),
  };
}

function wholeOf(name: 'n' | 'seconds', value: number | string): { n?: number; seconds?: number } {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? { [name]: value } : {};
}

const FILES: Record<string, string> = { [PATHS.video]: 'MP4', [PATHS['3d']]: 'GLB' };

interface CodePlace {
  baseUrl: string;
  /** Null: a placeholder. */
  apiKey: string | null;
}

type CodeLanguage = 'curl' | 'javascript' | 'python';

const LANGUAGES: readonly { id: CodeLanguage; name: string }[] = [
  { id: 'curl', name: 'curl' },
  { id: 'python', name: 'Python' },
  { id: 'javascript', name: 'Node.js' },
];

/** `baseUrl` is without /v1. */
export function codeLines(call: PlaygroundCall, { baseUrl, apiKey }: CodePlace): Code[] {
  const lines = linesOf(call, baseUrl);
  return LANGUAGES.map(({ id, name }) => ({
    id,
    name,
    code: apiKey === null ? lines[id] : lines[id].replaceAll(KEY_PLACEHOLDER, apiKey),
  }));
}

function linesOf(call: PlaygroundCall, baseUrl: string): Record<CodeLanguage, string> {
  const url = `${baseUrl}/v1/${call.path}`;
  const form = FORMS[call.path];
  const lines = form ? formLines(call, url, form) : jsonLines(call, url);
  const ending = FILES[call.path];
  if (ending === undefined) return lines;
  const { curl, javascript, python } = lines;
  return {
    curl: `${curl}\n\n# ${url}/<ID> -> status; ${url}/<ID>/content -> ${ending}\ncurl ${url}/<ID> -H "Authorization: Bearer ${KEY_PLACEHOLDER}"`,
    javascript: `${javascript}\n// ${url}/\${answer.id} -> status; ${url}/\${answer.id}/content -> ${ending}`,
    python: `${python}\n# ${url}/{answer["id"]} -> status; ${url}/{answer["id"]}/content -> ${ending}`,
  };
}

function jsonLines({ body, path }: PlaygroundCall, url: string): Record<CodeLanguage, string> {
  const json = JSON.stringify(body, null, 2);
  const isAudio = path === PATHS.speech;
  return {
    curl: `curl ${url} \\
  -H "Authorization: Bearer ${KEY_PLACEHOLDER}" \\
  -H "Content-Type: application/json" \\
  -d '${json.replaceAll("'", `'\\''`)}'${isAudio ? ' -o speech.mp3' : ''}`,
    javascript: `const response = await fetch('${url}', {
  method: 'POST',
  headers: { authorization: 'Bearer ${KEY_PLACEHOLDER}', 'content-type': 'application/json' },
  body: JSON.stringify(${indented(json)}),
});
const answer = await response.${isAudio ? 'blob' : 'json'}();`,
    python: `import requests

response = requests.post(
    "${url}",
    headers={"Authorization": "Bearer ${KEY_PLACEHOLDER}"},
    json=${json.replaceAll('\n', '\n    ')},
)
answer = response.${isAudio ? 'content' : 'json()'}`,
  };
}

function indented(json: string): string {
  return json.replaceAll('\n', '\n  ');
}

interface FormCall {
  url: string;
  /** The field of the file, and what the file is called. */
  part: string;
  name: string;
  fields: readonly (readonly [name: string, value: string])[];
}

function formLines(
  { body, file }: PlaygroundCall,
  url: string,
  form: { field: string; name: string },
): Record<CodeLanguage, string> {
  const fields = Object.entries(body).map(([field, value]) => [field, String(value)] as const);
  const call = { url, part: form.field, name: file?.name ?? form.name, fields };
  return { curl: curlForm(call), javascript: javascriptForm(call), python: pythonForm(call) };
}

function curlForm({ url, part, name, fields }: FormCall): string {
  const quoted = (text: string) => text.replaceAll("'", `'\\''`);
  return [
    `curl ${url}`,
    `  -H "Authorization: Bearer ${KEY_PLACEHOLDER}"`,
    `  -F '${part}=@${quoted(name)}'`,
    ...fields.map(([field, value]) => `  --form-string '${field}=${quoted(value)}'`),
  ].join(' \\\n');
}

function javascriptForm({ url, part, name, fields }: FormCall): string {
  return [
    `import { openAsBlob } from 'node:fs';`,
    `const form = new FormData();`,
    `form.set('${part}', await openAsBlob(${JSON.stringify(name)}), ${JSON.stringify(name)});`,
    ...fields.map(([field, value]) => `form.set('${field}', ${JSON.stringify(value)});`),
    `const response = await fetch('${url}', {`,
    `  method: 'POST',`,
    `  headers: { authorization: 'Bearer ${KEY_PLACEHOLDER}' },`,
    `  body: form,`,
    `});`,
    `const answer = await response.json();`,
  ].join('\n');
}

function pythonForm({ url, part, name, fields }: FormCall): string {
  return [
    `import requests`,
    ``,
    `response = requests.post(`,
    `    "${url}",`,
    `    headers={"Authorization": "Bearer ${KEY_PLACEHOLDER}"},`,
    `    files={"${part}": open(${JSON.stringify(name)}, "rb")},`,
    `    data=${JSON.stringify(Object.fromEntries(fields), null, 2).replaceAll('\n', '\n    ')},`,
    `)`,
    `answer = response.json()`,
  ].join('\n');
}
