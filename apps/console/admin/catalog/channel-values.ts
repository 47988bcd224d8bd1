import type { paths } from '../../api/schema.js';
import type { Shape } from '../../api/client.js';
import { editFrom } from '../../ui/forms/changed.js';

type Created = paths['/api/admin/channels']['post']['requestBody']['content']['application/json'];
type Changed =
  paths['/api/admin/channels/{channelId}']['patch']['requestBody']['content']['application/json'];

/** The server's defaults. */
const USUAL_TIMEOUT_MS = 120_000;

/** The form's values; one API key per line. */
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
  /** Our names, and the upstream's. */
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

/** One key per line, except that a service account's JSON may span several. */
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

/** Sends only what changed here, so that changes of other fields by others meanwhile stay. */
export function changesOf(before: ChannelValues, after: ChannelValues): Changed {
  return editFrom(settingsOf(before), settingsOf(after));
}
