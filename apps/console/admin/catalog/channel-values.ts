import type { paths } from '../../api/schema.js';
import type { Shape } from '../../api/shape.js';

type Created = paths['/api/admin/channels']['post']['requestBody']['content']['application/json'];
type Changed =
  paths['/api/admin/channels/{channelId}']['patch']['requestBody']['content']['application/json'];

/** What a channel is when nothing else is said, as the server has it. */
const USUAL_TIMEOUT_MS = 120_000;

/** The settings as their form has them: keys are lines. */
export type ChannelValues = {
  id: string;
  protocol: Shape<'Channel'>['protocol'];
  baseUrl: string;
  apiKeys: string;
  webhookSecret: string;
  priority: number | null;
  weight: number | null;
  requestTimeoutMs: number | null;
  maxConcurrency: number | null;
  allowPrivateAddress: boolean;
  honoursIdempotency: boolean;
  groups: string[];
  /** Ours, and what the upstream calls each. */
  models: { ours: string; theirs: string }[];
};

export function channelValues(channel: Shape<'Channel'> | null): ChannelValues {
  return {
    id: channel?.id ?? '',
    protocol: channel?.protocol ?? 'openai',
    baseUrl: channel?.baseUrl ?? '',
    apiKeys: '',
    webhookSecret: '',
    priority: channel?.priority ?? 0,
    weight: channel?.weight ?? 1,
    requestTimeoutMs: channel?.requestTimeoutMs ?? USUAL_TIMEOUT_MS,
    maxConcurrency: channel?.maxConcurrency ?? null,
    allowPrivateAddress: channel?.allowPrivateAddress ?? false,
    honoursIdempotency: channel?.honoursIdempotency ?? false,
    groups: [...(channel?.groups ?? [])],
    models: Object.entries(channel?.models ?? {}).map(([ours, theirs]) => ({ ours, theirs })),
  };
}

/** One a line; the JSON document of a service account may take several. */
function keysIn(text: string): string[] {
  const documents = /\{[^{}]*\}/g;
  const plain = text.replaceAll(documents, ' ').split(/\s+/).filter(Boolean);
  return [...(text.match(documents) ?? []), ...plain];
}

function settingsOf(values: ChannelValues) {
  const apiKeys = keysIn(values.apiKeys);
  return {
    baseUrl: values.baseUrl.trim(),
    ...(apiKeys.length > 0 ? { apiKeys } : {}),
    ...(values.webhookSecret === '' ? {} : { webhookSecret: values.webhookSecret }),
    priority: Number(values.priority),
    weight: Number(values.weight),
    requestTimeoutMs: Number(values.requestTimeoutMs),
    maxConcurrency: values.maxConcurrency,
    allowPrivateAddress: values.allowPrivateAddress,
    honoursIdempotency: values.honoursIdempotency,
    groups: values.groups,
    models: Object.fromEntries(values.models.map(({ ours, theirs }) => [ours, theirs.trim() || ours])),
  };
}

export function createdBy(values: ChannelValues): Created {
  const { id, protocol } = values;
  return { id: id.trim(), protocol, ...settingsOf(values), apiKeys: settingsOf(values).apiKeys ?? [] };
}

/** What the form changed alone: what others changed meanwhile stays. */
export function changesOf(before: ChannelValues, after: ChannelValues): Changed {
  const [old, now] = [settingsOf(before), settingsOf(after)];
  const names = Object.keys(now) as (keyof typeof now)[];
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
      .map((name) => [name, now[name]]),
  );
}
