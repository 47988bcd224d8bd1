import { ApiError } from '#platform/errors.js';
import { isText } from '#platform/http/long-text.js';
import { type Body, invalid, isAbsent } from '../http/fields.js';
import { knownFields } from '../http/known-fields.js';

/**
 * What Google's contents can contain. As in every conversation, each field is metered as tokens or costs nothing. Tools
 * that Google runs, its cache, audio and video have prices of their own, and are not listed.
 */
export const CONTENTS_FIELDS = {
  /** The first two come from the path. */
  body: new Set([
    'model',
    'stream',
    'contents',
    'systemInstruction',
    'tools',
    'toolConfig',
    'safetySettings',
    'generationConfig',
    'serviceTier',
  ]),
  content: new Set(['role', 'parts']),
  part: new Set([
    'text',
    'thought',
    'thoughtSignature',
    'inlineData',
    'fileData',
    'functionCall',
    'functionResponse',
    'mediaResolution',
  ]),
  inlineData: new Set(['mimeType', 'data']),
  fileData: new Set(['mimeType', 'fileUri']),
  functionCall: new Set(['id', 'name', 'args', 'partialArgs', 'willContinue']),
  functionResponse: new Set(['id', 'name', 'response', 'parts', 'willContinue', 'scheduling']),
  tool: new Set(['functionDeclarations']),
  toolConfig: new Set(['functionCallingConfig']),
  generationConfig: new Set([
    'candidateCount',
    'maxOutputTokens',
    'stopSequences',
    'temperature',
    'topP',
    'topK',
    'seed',
    'presencePenalty',
    'frequencyPenalty',
    'responseLogprobs',
    'logprobs',
    'responseMimeType',
    'responseSchema',
    'responseJsonSchema',
    'responseModalities',
    'mediaResolution',
    'thinkingConfig',
    'imageConfig',
    'enableEnhancedCivicAnswers',
  ]),
} satisfies Record<string, ReadonlySet<string>>;

/** Images and documents: audio and video are metered at other prices. */
const MEDIA = /^(image\/[\w.+-]+|text\/[\w.+-]+|application\/pdf)$/i;
const MODALITIES = ['TEXT', 'IMAGE'];

/** @throws ApiError naming a field that the relay cannot price, or whose shape hides its content */
export function refuseUnpricedContents(body: Body): void {
  for (const [content, at] of entriesOf(body['contents'], 'contents')) refuseContent(content, at);
  if (!isAbsent(body['systemInstruction'])) refuseInstruction(body['systemInstruction']);
  for (const [tool] of entriesOf(body['tools'], 'tools')) refuseTool(tool);
  membersOf(body, 'toolConfig');
  const { responseModalities } = membersOf(body, 'generationConfig');
  refuseModalities(responseModalities);
}

function refuseContent(content: Body, at: string): void {
  knownFields(content, CONTENTS_FIELDS.content, `${at}.`);
  for (const [part, where] of entriesOf(content['parts'], `${at}.parts`)) refusePart(part, where);
}

function refusePart(part: Body, at: string): void {
  knownFields(part, CONTENTS_FIELDS.part, `${at}.`);
  const inline = membersOf(part, 'inlineData', at);
  const file = membersOf(part, 'fileData', at);
  if (!isAbsent(part['inlineData'])) refuseMedia(inline['mimeType'], `${at}.inlineData.mimeType`);
  if (!isAbsent(part['fileData'])) {
    refuseMedia(file['mimeType'], `${at}.fileData.mimeType`);
    refuseAddress(file['fileUri'], `${at}.fileData.fileUri`);
  }
  membersOf(part, 'functionCall', at);
  const result = membersOf(part, 'functionResponse', at);
  for (const [inner, where] of entriesOf(result['parts'], `${at}.functionResponse.parts`))
    refusePart(inner, where);
}

/** Google accepts only text here. */
function refuseInstruction(instruction: unknown): void {
  const at = 'systemInstruction';
  const content = objectIn(instruction, at);
  refuseContent(content, at);
  for (const [part, where] of entriesOf(content['parts'], `${at}.parts`)) {
    const isWords = ['inlineData', 'fileData', 'functionResponse'].every((name) => isAbsent(part[name]));
    if (!isWords) throw invalid(where, 'must be text');
  }
}

function refuseTool(tool: Body): void {
  const other = Object.keys(tool).find((name) => !CONTENTS_FIELDS.tool.has(name) && !isAbsent(tool[name]));
  if (other === undefined) return;
  const named = other.slice(0, MAX_NAME_CHARS);
  throw invalid('tools', `must hold functionDeclarations, which the client runs, not ${named}`);
}

function refuseModalities(value: unknown): void {
  const param = 'generationConfig.responseModalities';
  if (isAbsent(value)) return;
  const isOffered = (each: unknown) => typeof each === 'string' && MODALITIES.includes(each.toUpperCase());
  if (Array.isArray(value) && value.every(isOffered)) return;
  throw invalid(param, `must be a list of ${MODALITIES.join(' and ')}: audio is not generated here`);
}

function refuseMedia(type: unknown, param: string): void {
  if (typeof type === 'string' && MEDIA.test(type)) return;
  throw invalid(param, 'must be of an image, of text or application/pdf: other media are not offered here');
}

/** A host of plain letters, which all URL parsers read alike. */
const ADDRESS = /^https?:\/\/([a-z\d.-]+)(:\d+)?([/?#]|$)/i;
/** Google reads its own services with the operator's key, and bills video, which has a price of its own. */
const GOOGLES_OWN = /(^|\.)(googleapis\.com|youtube\.com|youtu\.be)\.*$/;
const PUBLIC_FILES = 'storage.googleapis.com';

/** An address that anyone can read. Anything else belongs to the operator's account at the vendor. */
function refuseAddress(address: unknown, param: string): void {
  const host = typeof address === 'string' && URL.canParse(address) ? ADDRESS.exec(address)?.[1] : undefined;
  if (host === undefined)
    throw invalid(param, 'must be an http or https address with a host of letters, digits, dots and hyphens');
  const name = host.toLowerCase();
  if (name !== PUBLIC_FILES && GOOGLES_OWN.test(name))
    throw invalid(param, `must not be an address of YouTube or of Google's services, except ${PUBLIC_FILES}`);
}

/** The members of an optional object, all of them known. */
function membersOf(body: Body, name: keyof typeof CONTENTS_FIELDS, at = ''): Body {
  const value = body[name];
  if (isAbsent(value)) return {};
  const param = at === '' ? name : `${at}.${name}`;
  return knownFields(objectIn(value, param), CONTENTS_FIELDS[name], `${param}.`);
}

/** The objects of a list with their positions. Anything else could contain something unchecked. */
function entriesOf(value: unknown, param: string): [entry: Body, at: string][] {
  if (isAbsent(value)) return [];
  if (!Array.isArray(value)) throw new ApiError('invalid_type', `${param} must be an array.`, { param });
  return value.map((entry: unknown, index) => {
    const at = `${param}[${index}]`;
    return [objectIn(entry, at), at];
  });
}

function objectIn(value: unknown, param: string): Body {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isText(value))
    return value as Body;
  throw new ApiError('invalid_type', `${param} must be an object.`, { param });
}

const MAX_NAME_CHARS = 50;
