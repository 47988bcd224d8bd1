import {
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Textarea,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { TextField } from '../../ui/forms/fields.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { TextLine } from '../../ui/texts.js';
import { useGroups } from '../catalog.js';
import { KeyMark } from './channel-health.js';
import { ChannelModels } from './channel-models.js';
import {
  changesOf,
  type ChannelFormState,
  type ChannelValues,
  createdBy,
  protocols,
  channelValues,
} from './channel-values.js';

/** The settings of an upstream. Its keys are never shown: they are replaced or kept. */
export function ChannelForm({
  channel,
  done,
}: {
  channel: Shape<'Channel'> | null;
  done: (id: string) => void;
}) {
  const { t } = useTranslation('catalog');
  const before = channelValues(channel);
  const form = useForm<ChannelValues>({
    initialValues: before,
    validate: {
      id: (value) => (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(value.trim()) ? null : t('fields.channelInvalid')),
      baseUrl: (value) => (URL.canParse(value.trim()) ? null : t('fields.urlInvalid')),
      apiKeys: (value) => (channel === null && value.trim() === '' ? t('fields.keysMissing') : null),
    },
  });
  const sending = useSend({
    form,
    send: (values) =>
      channel === null
        ? api.POST('/api/admin/channels', { body: createdBy(values) })
        : api.PATCH('/api/admin/channels/{channelId}', {
            params: { path: { channelId: channel.id } },
            body: changesOf(before, values),
          }),
    done: async (_answer, { id }) => {
      await refresh('/api/admin/channels', '/api/admin/channels/{channelId}', '/api/admin/audit-log');
      notify(t('channel.saved', { channel: id.trim() }));
      done(id.trim());
    },
  });
  return (
    <SendForm sending={sending} submit={channel === null ? t('channels.create') : t('save')}>
      {channel === null && <Identity form={form} />}
      <TextField
        form={form}
        name="baseUrl"
        label={t('channel.baseUrl')}
        description={t('channel.baseUrlHint')}
        required
      />
      <Keys form={form} channel={channel} />
      <Numbers form={form} />
      <Switches form={form} />
      <Groups form={form} />
      <ChannelModels form={form} />
    </SendForm>
  );
}

function Identity({ form }: { form: ChannelFormState }) {
  const { t } = useTranslation('catalog');
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <TextField form={form} name="id" label={t('channels.id')} required data-autofocus />
      <Select
        label={t('channels.protocol')}
        data={[...protocols]}
        allowDeselect={false}
        {...form.getInputProps('protocol')}
      />
    </SimpleGrid>
  );
}

function Keys({ form, channel }: { form: ChannelFormState; channel: Shape<'Channel'> | null }) {
  const { t } = useTranslation('catalog');
  return (
    <Stack gap={4}>
      {channel !== null && (
        <TextLine>
          {t('channel.keysNow', { count: channel.keyMarks.length })}{' '}
          {channel.keyMarks.map((mark) => (
            <span key={mark}>
              <KeyMark mark={mark} />{' '}
            </span>
          ))}
        </TextLine>
      )}
      <Textarea
        label={channel === null ? t('channel.keys') : t('channel.keysReplace')}
        description={channel === null ? t('channel.keysHint') : t('channel.keysReplaceHint')}
        autosize
        minRows={1}
        autoComplete="off"
        spellCheck={false}
        required={channel === null}
        {...form.getInputProps('apiKeys')}
      />
    </Stack>
  );
}

const NUMBERS = ['priority', 'weight', 'requestTimeoutMs', 'maxConcurrency'] as const;
const LEAST = { priority: -1_000, weight: 1, requestTimeoutMs: 100, maxConcurrency: 1 };
const MOST = { priority: 1_000, weight: 1_000_000, requestTimeoutMs: 3_600_000, maxConcurrency: 1_000_000 };

function Numbers({ form }: { form: ChannelFormState }) {
  const { t } = useTranslation('catalog');
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {NUMBERS.map((name) => (
        <NumberInput
          key={name}
          label={t(`channel.${name}`)}
          description={t(`channel.${name}Hint`)}
          min={LEAST[name]}
          max={MOST[name]}
          allowDecimal={false}
          hideControls
          {...(name === 'maxConcurrency' ? { placeholder: t('groups.noLimit') } : { required: true })}
          {...form.getInputProps(name)}
        />
      ))}
    </SimpleGrid>
  );
}

function Switches({ form }: { form: ChannelFormState }) {
  const { t } = useTranslation('catalog');
  return (['allowPrivateAddress', 'honoursIdempotency'] as const).map((name) => (
    <Checkbox
      key={name}
      label={t(`channel.${name}`)}
      description={t(`channel.${name}Hint`)}
      {...form.getInputProps(name, { type: 'checkbox' })}
    />
  ));
}

function Groups({ form }: { form: ChannelFormState }) {
  const { t } = useTranslation('catalog');
  const groups = useGroups().data ?? [];
  return (
    <Group grow>
      <MultiSelect
        label={t('channel.groups')}
        description={t('channel.groupsHint')}
        data={groups.map(({ name }) => name)}
        {...form.getInputProps('groups')}
      />
    </Group>
  );
}
