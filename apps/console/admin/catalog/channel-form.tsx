import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, refresh, relayQuery, type Shape } from '../../api/client.js';
import { anewAfterConflict } from '../../ui/forms/anew.js';
import { choiceField, someOfField, tickField } from '../../ui/forms/choice-fields.js';
import { Form } from '../../ui/forms/declared.js';
import type { Field } from '../../ui/forms/field.js';
import { countField } from '../../ui/forms/number-fields.js';
import { linesField } from '../../ui/forms/lines-field.js';
import { textField } from '../../ui/forms/text-fields.js';
import { TextLine } from '../../ui/texts.js';
import { useGroups } from '../catalog.js';
import { KeyMark } from './channel-health.js';
import { ChannelModels } from './channel-models.js';
import { changesOf, channelValues, type ChannelValues, createdBy } from './channel-values.js';
import { protocols, withWebhookSecret } from './protocols.js';

const CHANNEL_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

function useIdentity(values: ChannelValues) {
  const { t } = useTranslation('catalog');
  return {
    id: textField(t('channels.id'), {
      initial: values.id,
      rule: [CHANNEL_ID, t('fields.channelInvalid')],
      isHalf: true,
      isFirst: true,
    }),
    protocol: choiceField(t('channels.protocol'), {
      initial: values.protocol,
      of: protocols,
      name: (protocol) => protocol,
      isHalf: true,
    }),
    baseUrl: textField(t('channel.baseUrl'), {
      initial: values.baseUrl,
      hint: t('channel.baseUrlHint'),
      rule: [(url) => URL.canParse(url), t('fields.urlInvalid')],
    }),
  };
}

/** Saved keys are never shown. An empty field keeps them. */
function useKeys(channel: Shape<'Channel'> | null): Field<string> {
  const { t } = useTranslation('catalog');
  const isNew = channel === null;
  const field = linesField(isNew ? t('channel.keys') : t('channel.keysReplace'), {
    hint: isNew ? t('channel.keysHint') : t('channel.keysReplaceHint'),
    missing: isNew ? t('fields.keysMissing') : undefined,
    minRows: 1,
    autoComplete: 'off',
    spellCheck: false,
  });
  if (isNew) return field;
  return {
    ...field,
    draw: (bound) => (
      <>
        <KeysNow marks={channel.keyMarks} />
        {field.draw(bound)}
      </>
    ),
  };
}

function KeysNow({ marks }: { marks: readonly string[] }) {
  const { t } = useTranslation('catalog');
  return (
    <TextLine>
      {t('channel.keysNow', { count: marks.length })}{' '}
      {marks.map((mark) => (
        <span key={mark}>
          <KeyMark mark={mark} />{' '}
        </span>
      ))}
    </TextLine>
  );
}

/** Never shown either. Only `gemini`, `openai` and `replicate` have one. */
function useWebhookSecret(channel: Shape<'Channel'> | null): Field<string> {
  const { t } = useTranslation('catalog');
  const origin = useQuery(relayQuery).data?.baseUrl ?? '';
  const address = `${origin}/vendor-webhooks/${channel?.id ?? `<${t('channels.id')}>`}`;
  const hint = channel?.webhookSecretMark ? 'channel.webhookSecretReplaceHint' : 'channel.webhookSecretHint';
  return textField(t('channel.webhookSecret'), {
    hint: t(hint, { address }),
    rule: [/^whsec_[A-Za-z0-9+/]{22,100}={0,2}$/, t('fields.webhookSecretInvalid')],
    isOptional: true,
    spellCheck: false,
  });
}

const RANGES = {
  priority: { min: -1_000, max: 1_000 },
  weight: { max: 1_000_000 },
  requestTimeoutMs: { min: 100, max: 3_600_000 },
  maxConcurrency: { max: 1_000_000 },
} as const;

function useSettings(values: ChannelValues) {
  const { t } = useTranslation('catalog');
  const number = (name: keyof typeof RANGES) =>
    countField(t(`channel.${name}`), {
      initial: values[name],
      hint: t(`channel.${name}Hint`),
      ...(name === 'maxConcurrency' ? { placeholder: t('groups.noLimit') } : { required: true }),
      ...RANGES[name],
      isHalf: true,
    });
  const yes = (name: 'allowPrivateAddress' | 'honoursIdempotency') =>
    tickField(t(`channel.${name}`), { initial: values[name], hint: t(`channel.${name}Hint`) });
  return {
    priority: number('priority'),
    weight: number('weight'),
    requestTimeoutMs: number('requestTimeoutMs'),
    maxConcurrency: number('maxConcurrency'),
    allowPrivateAddress: yes('allowPrivateAddress'),
    honoursIdempotency: yes('honoursIdempotency'),
  };
}

function useOffer({ groups, models }: ChannelValues) {
  const { t } = useTranslation('catalog');
  const all = useGroups().data ?? [];
  return {
    groups: someOfField(t('channel.groups'), {
      initial: groups,
      hint: t('channel.groupsHint'),
      data: all.map(({ name }) => name),
    }),
    models: modelsField(models),
  };
}

function modelsField(initial: ChannelValues['models']): Field<ChannelValues['models']> {
  return {
    initial,
    read: (models) => models,
    fault: () => null,
    draw: (bound) => <ChannelModels {...bound} />,
  };
}

function save(channel: Shape<'Channel'> | null, before: ChannelValues, values: ChannelValues) {
  if (channel === null) return api.POST('/api/admin/channels', { body: createdBy(values) });
  const params = { path: { channelId: channel.id } };
  const body = changesOf(before, values);
  return api.PATCH('/api/admin/channels/{channelId}', { params, body });
}

interface ChannelFormProps {
  channel: Shape<'Channel'> | null;
  /** Saved, or refused because of what others changed. */
  done: (id: string) => void;
}

function reread(): Promise<void> {
  return refresh('/api/admin/channels', '/api/admin/channels/{channelId}', '/api/admin/audit-log');
}

export function ChannelForm({ channel, done }: ChannelFormProps) {
  const { t } = useTranslation('catalog');
  // The form keeps the values it opened with, even if the channel is read again: only what was edited here is sent.
  const [before] = useState(() => channelValues(channel));
  return (
    <Form
      fields={{
        ...useIdentity(before),
        apiKeys: useKeys(channel),
        webhookSecret: useWebhookSecret(channel),
        ...useSettings(before),
        ...useOffer(before),
      }}
      hidden={({ protocol }) => [
        ...(channel === null ? [] : (['id', 'protocol'] as const)),
        ...(withWebhookSecret.includes(protocol) ? [] : (['webhookSecret'] as const)),
      ]}
      submit={channel === null ? t('channels.create') : t('save')}
      send={(values) => save(channel, before, values)}
      reread={reread}
      {...(channel === null ? {} : { refused: anewAfterConflict(reread, () => done(channel.id)) })}
      success={({ data }, { id }) =>
        t(data?.approvalId == null ? 'channel.saved' : 'channel.routesWait', { channel: id })
      }
      done={(_answer, { id }) => done(id)}
    />
  );
}
