import { api } from '../../api/client.js';
import { ApiFailure, failureFrom, unreachable } from '../../api/failure.js';
import { currentSession } from '../../shell/session.js';
import { PATHS, type PlaygroundCall } from './call.js';

export type Played =
  | { kind: 'images'; images: string[]; requestId: string | null }
  | { kind: 'task'; taskId: string; requestId: string | null }
  | { kind: 'text'; text: string; requestId: string | null }
  /** As a data URL, which outlives the page. */
  | { kind: 'sound'; sound: string; requestId: string | null };

interface PlayAs {
  keyId: string;
  signal: AbortSignal;
  /** Calls with the same name are made once. */
  name: string | null;
}

/** An empty list of fallback models, since they could cost more than the page showed. */
const WITH_FALLBACKS = [PATHS.image, PATHS.chat, PATHS.speech];

/** @throws ApiFailure with the gateway's message, or `unreachable`, also if the call was cancelled while its answer arrived */
export async function play(call: PlaygroundCall, as: PlayAs): Promise<Played> {
  try {
    return await sent(call, as);
  } catch (error) {
    throw error instanceof ApiFailure && !as.signal.aborted ? error : unreachable(error);
  }
}

async function sent(call: PlaygroundCall, { keyId, signal, name }: PlayAs): Promise<Played> {
  const session = await currentSession();
  const response = await fetch(`/api/playground/v1/${call.path}`, {
    method: 'POST',
    headers: {
      'x-tollgate-key': keyId,
      'x-csrf-token': session?.csrfToken ?? '',
      ...(name === null ? {} : { 'idempotency-key': name }),
      ...(call.file ? {} : { 'content-type': 'application/json' }),
    },
    body: call.file ? formOf(call, call.file) : JSON.stringify(bodyOf(call)),
    signal,
  });
  const requestId = response.headers.get('x-request-id');
  if (requestId !== null) playedHere.add(requestId);
  if (!response.ok) {
    const failure = await failureFrom(response);
    // The API client handles ended sessions.
    if (failure.code === 'not_signed_in') await api.GET('/api/session');
    throw failure;
  }
  return await playedOf(response, requestId);
}

function bodyOf({ path, body }: PlaygroundCall): Record<string, unknown> {
  return WITH_FALLBACKS.includes(path) ? { ...body, models: [] } : body;
}

function formOf({ body }: PlaygroundCall, file: File): FormData {
  const form = new FormData();
  form.set('image', file);
  for (const [name, value] of Object.entries(body)) form.set(name, String(value));
  return form;
}

interface Answered {
  id?: string;
  data?: { b64_json?: string }[];
  choices?: { message?: { content?: string | null } }[];
}

/** Tells this page's requests from those of people's own code. */
const playedHere = new Set<string>();

export function isPlayedHere(requestId: string | null): boolean {
  return requestId !== null && playedHere.has(requestId);
}

async function playedOf(response: Response, requestId: string | null): Promise<Played> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('audio/'))
    return { kind: 'sound', sound: await dataUrlOf(await response.blob()), requestId };
  const answer = (await response.json()) as Answered;
  if (answer.data) {
    const images = answer.data.map(({ b64_json = '' }) => `data:${typeOf(b64_json)};base64,${b64_json}`);
    return { kind: 'images', images, requestId };
  }
  if (answer.choices) return { kind: 'text', text: answer.choices[0]?.message?.content ?? '', requestId };
  return { kind: 'task', taskId: answer.id ?? '', requestId };
}

function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error!);
    reader.readAsDataURL(file);
  });
}

/** By the first bytes, in Base64. */
function typeOf(base64: string): string {
  if (base64.startsWith('/9j/')) return 'image/jpeg';
  return base64.startsWith('UklGR') ? 'image/webp' : 'image/png';
}
