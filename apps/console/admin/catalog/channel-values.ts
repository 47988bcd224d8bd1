import type { UseFormReturnType } from '@mantine/form';
import type { paths } from '../../api/schema.js';
import type { Shape } from '../../api/shape.js';

type Created = paths['/api/admin/channels']['post']['requestBody']['content']['application/json'];
type Changed =
  paths['/api/admin/channels/{channelId}']['patch']['requestBody']['content']['application/json'];

export const protocols = ['openai-xai', 'openai', 'xai', 'gemini', 'anthropic', 'mesh3d'] as const;

/** What a channel is when nothing else is said, as the server has it. */
const USUAL_TIMEOUT_MS = 120_000;

/** The settings as their form has them: numbers may be empty, keys are lines. */
export type ChannelValues = {
  id: string;
  protocol: Shape<'Channel'>['protocol'];
  baseUrl: string;
  apiKeys: string;
  priority: number | string;
  weight: number | string;
  requestTimeoutMs: number | string;
  maxConcurrency: number | string;
  allowPrivateAddress: boolean;
  honoursIdempotency: boolean;
  groups: string[];
  /** Ours, and what the upstream calls each. */
  models: { ours: string; theirs: string }[];
};

/** Their form, for the parts that it is made of. */
export type ChannelFormState = UseFormReturnType<ChannelValues>;

export function channelValues(channel: Shape<'Channel'> | null): ChannelValues {
  return {
    id: channel?.id ?? '',
    protocol: channel?.protocol ?? 'openai',
    baseUrl: channel?.baseUrl ?? '',
    apiKeys: '',
    priority: channel?.priority ?? 0,
    weight: channel?.weight ?? 1,
    requestTimeoutMs: channel?.requestTimeoutMs ?? USUAL_TIMEOUT_MS,
    maxConcurrency: channel?.maxConcurrency ?? '',
    allowPrivateAddress: channel?.allowPrivateAddress ?? false,
    honoursIdempotency: channel?.honoursIdempotency ?? false,
    groups: [...(channel?.groups ?? [])],
    models: Object.entries(channel?.models ?? {}).map(([ours, theirs]) => ({ ours, theirs })),
  };
}

function settingsOf(values: ChannelValues) {
  const apiKeys = values.apiKeys.split(/\s+/).filter(Boolean);
  return {
    baseUrl: values.baseUrl.trim(),
    ...(apiKeys.length > 0 ? { apiKeys } : {}),
    priority: Number(values.priority),
    weight: Number(values.weight),
    requestTimeoutMs: Number(values.requestTimeoutMs),
    maxConcurrency: values.maxConcurrency === '' ? null : Number(values.maxConcurrency),
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
