import { isText } from '#platform/http/long-text.js';
import { asBody, type Body, invalid, isAbsent } from '../http/fields.js';
import { knownFields } from '../http/known-fields.js';
import { CONTENTS_FIELDS } from './contents-fields.js';

/** Contents and parts, with tools: a conversation of a million tokens has some thousands. */
const MAX_ENTRIES = 10_000;

/** What the path of a call contains, and the body of other conversations. */
interface ContentsPath {
  readonly model: string;
  readonly stream: boolean;
}

/**
 * The body of a Google call in the form of every other conversation, with the model and the way of answering. Google reads
 * each field in camel case and in snake case, and a single entry as a list of one. Here each has one form, which is checked
 * and sent. Anything else stays as it is, and is refused by name. @throws ApiError for a body that contradicts the path
 */
export function contentsBody(parsed: unknown, { model, stream }: ContentsPath): Body {
  const body = named(asBody(parsed), CONTENTS_FIELDS.body);
  const inBody = body['model'];
  if (!isAbsent(inBody) && inBody !== model && inBody !== `models/${model}`)
    throw invalid('model', 'differs from the path');
  // The path says it.
  if (!isAbsent(body['stream'])) knownFields({ stream: body['stream'] }, new Set());
  const entries = new Entries();
  const members = withMembers(body, {
    contents: (value) => entries.each(value, (content) => contentOf(content, entries)),
    systemInstruction: (value) => ofObject(value, (content) => contentOf(content, entries)),
    tools: (value) => entries.each(value, (tool) => named(tool, CONTENTS_FIELDS.tool)),
    toolConfig: (value) => ofObject(value, (config) => named(config, CONTENTS_FIELDS.toolConfig)),
    generationConfig: (value) => ofObject(value, (config) => named(config, CONTENTS_FIELDS.generationConfig)),
  });
  return { ...members, model, stream };
}

/** What is to be counted: contents, or the whole of a request as it would be sent. */
export function countedBody(parsed: unknown, model: string): Body {
  const { generateContentRequest, generate_content_request: same, ...plain } = asBody(parsed);
  const whole = generateContentRequest ?? same;
  if (isAbsent(whole)) return contentsBody(plain, { model, stream: false });
  knownFields(plain, new Set(['model']));
  return contentsBody(whole, { model, stream: false });
}

function contentOf(content: Body, entries: Entries): Body {
  return withMembers(named(content, CONTENTS_FIELDS.content), { parts: (value) => partsOf(value, entries) });
}

function partsOf(parts: unknown, entries: Entries): unknown {
  return entries.each(parts, (part) => partOf(part, entries));
}

function partOf(part: Body, entries: Entries): Body {
  return withMembers(named(part, CONTENTS_FIELDS.part), {
    inlineData: (value) => ofObject(value, (data) => named(data, CONTENTS_FIELDS.inlineData)),
    fileData: (value) => ofObject(value, (data) => named(data, CONTENTS_FIELDS.fileData)),
    functionResponse: (value) =>
      ofObject(value, (result) =>
        withMembers(named(result, CONTENTS_FIELDS.functionResponse), {
          parts: (parts) => partsOf(parts, entries),
        }),
      ),
  });
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Names are looked up, never rewritten: a client may send one of many megabytes. */
const CAMEL_CASE: ReadonlyMap<string, string> = new Map(
  Object.values(CONTENTS_FIELDS).flatMap((names) =>
    [...names].map((name): [string, string] => [snakeCase(name), name]),
  ),
);

/** Known fields by their names in camel case. */
function named(body: Body, names: ReadonlySet<string>): Body {
  const entries = Object.entries(body).map(([name, value]): [string, unknown] => {
    const camel = CAMEL_CASE.get(name) ?? name;
    return [names.has(camel) ? camel : name, value];
  });
  return Object.fromEntries(entries);
}

function withMembers(body: Body, works: Readonly<Record<string, (value: unknown) => unknown>>): Body {
  const changed = Object.entries(works).filter(([name]) => !isAbsent(body[name]));
  return { ...body, ...Object.fromEntries(changed.map(([name, work]) => [name, work(body[name])])) };
}

/** The entries of all lists in a body. Each is walked through several times before anything is held. */
class Entries {
  private left = MAX_ENTRIES;

  /** @throws ApiError before any of a list that is too long */
  each(value: unknown, work: (entry: Body) => Body): unknown {
    const list: unknown[] = Array.isArray(value) ? value : [value];
    this.left -= list.length;
    if (this.left < 0) throw invalid('contents', `must have at most ${MAX_ENTRIES} parts`);
    return list.map((entry) => ofObject(entry, work));
  }
}

function ofObject(value: unknown, work: (entry: Body) => Body): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isText(value)) return value;
  return work(value as Body);
}
