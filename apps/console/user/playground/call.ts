import type { Shape } from '../../api/shape.js';
import type { Code } from '../../ui/code/code.js';
import { KEY_PLACEHOLDER } from '../../visitor/code-samples.js';
import { ratedChoices } from '../../visitor/market/calculator-work.js';

export const playKinds = ['image', 'edit', 'video', '3d', 'chat', 'speech'] as const;
export type PlayKind = (typeof playKinds)[number];

/** What the form holds, under the names that the gateway uses, so that its refusals find their field. */
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

/** A call of the gateway, as the playground makes it and as the lines of code show it. */
export interface PlaygroundCall {
  /** Behind /v1/. */
  path: string;
  body: Record<string, unknown>;
  /** What is sent in a form with the body's fields, where the path takes one. */
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

/** Paths that take a form: the field of its file, and what the file is called in lines of code. */
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

/** Only then is it known that its vendor makes videos without sound. */
export function isPricedBySound({ listPrice }: Shape<'ListedModel'>): boolean {
  return listPrice !== null && ratedChoices(listPrice).some(({ name }) => name === 'audio');
}

/** Sound is what a video has where nothing is said. */
function silence({ generate_audio }: PlayValues): Record<string, unknown> {
  return generate_audio ? {} : { generate_audio };
}

/** Without what was left open. */
function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/** What a call would cost: the part of it that its price follows from. */
export function quoteRequest(kind: PlayKind, model: Shape<'ListedModel'>, values: PlayValues) {
  const body = { model: model.id, dimensions: dimensionsOfCall(kind, values) };
  if (model.unit === 'second') return { ...body, ...wholeOf('seconds', values.seconds) };
  const n = wholeOf('n', model.family === 'image' ? values.n : 1);
  if (model.unit === 'million_tokens')
    return { ...body, text: values.prompt, ...(model.family === 'image' && n) };
  return { ...body, ...n };
}

/** What a price may depend on, as far as it is typed. */
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

/** What tasks make. */
const FILES: Record<string, string> = { [PATHS.video]: 'MP4', [PATHS['3d']]: 'GLB' };

interface CodePlace {
  baseUrl: string;
  /** Null: the placeholder is there. */
  apiKey: string | null;
}

type CodeLanguage = 'curl' | 'javascript' | 'python';

const LANGUAGES: readonly { id: CodeLanguage; name: string }[] = [
  { id: 'curl', name: 'curl' },
  { id: 'python', name: 'Python' },
  { id: 'javascript', name: 'Node.js' },
];

/** The same call in lines to copy. `baseUrl` is where calls for models go, without /v1. */
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

function formLines(
  { body, file }: PlaygroundCall,
  url: string,
  form: { field: string; name: string },
): Record<CodeLanguage, string> {
  const { field: part } = form;
  const name = file?.name ?? form.name;
  const fields = Object.entries(body).map(([field, value]) => [field, String(value)] as const);
  const quoted = (text: string) => text.replaceAll("'", `'\\''`);
  return {
    curl: [
      `curl ${url}`,
      `  -H "Authorization: Bearer ${KEY_PLACEHOLDER}"`,
      `  -F '${part}=@${quoted(name)}'`,
      ...fields.map(([field, value]) => `  --form-string '${field}=${quoted(value)}'`),
    ].join(' \\\n'),
    javascript: [
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
    ].join('\n'),
    python: [
      `import requests`,
      ``,
      `response = requests.post(`,
      `    "${url}",`,
      `    headers={"Authorization": "Bearer ${KEY_PLACEHOLDER}"},`,
      `    files={"${part}": open(${JSON.stringify(name)}, "rb")},`,
      `    data=${JSON.stringify(Object.fromEntries(fields), null, 2).replaceAll('\n', '\n    ')},`,
      `)`,
      `answer = response.json()`,
    ].join('\n'),
  };
}
