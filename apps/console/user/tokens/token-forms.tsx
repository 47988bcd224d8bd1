import { Button, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { FormFault, useSend } from '../../ui/forms/form.js';
import { SmallPrint } from '../../ui/texts.js';
import { GroupField } from './group-field.js';
import { RuleFields } from './rule-fields.js';
import type { MadeToken } from './token-once.js';
import { changedRules, NO_RULES, type RuleValues, rulesOf, ruleValues } from './token-rules.js';

const AMOUNT = /^\d{1,9}(\.\d{1,9})?$/;

/** What the server would refuse, said before it is sent. */
function useChecks() {
  const { t } = useTranslation('tokens');
  const limit = (value: string) =>
    value.trim() === '' || AMOUNT.test(value.trim()) ? null : t('fields.limitInvalid');
  return {
    name: (value: string) => (value.trim() === '' ? t('fields.nameMissing') : null),
    group: (value: string) => (value === '' ? t('fields.groupMissing') : null),
    expiresAt: (value: string, _all: RuleValues) =>
      value !== '' && Number.isNaN(Date.parse(value)) ? t('fields.expiryInvalid') : null,
    monthlyLimit: limit,
    totalLimit: limit,
  };
}

/** Makes a key. Only what people need at first is asked for; the rest limits what a lost key can do. */
export function NewToken({ done }: { done: (made: MadeToken) => void }) {
  const { t } = useTranslation('tokens');
  const form = useForm<RuleValues>({ initialValues: NO_RULES, validate: useChecks() });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: async (values) => {
      const body = { ...rulesOf(values), group: values.group };
      return (await api.POST('/api/keys', { body })).data!;
    },
    done: async ({ name, apiKey }) => {
      await refresh('/api/keys');
      done({ name, apiKey });
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <RuleFields form={form}>
        <GroupField form={form} />
      </RuleFields>
      <FormFault error={failure} />
      <Group justify="flex-end">
        <Button type="submit" loading={isSending}>
          {t('createSubmit')}
        </Button>
      </Group>
    </form>
  );
}

/** Changes the rules of a key; its group stays, since the group is what it costs. */
export function ChangeToken({ token, done }: { token: Shape<'Key'>; done: () => void }) {
  const { t } = useTranslation('tokens');
  const before = ruleValues(token);
  const form = useForm<RuleValues>({ initialValues: before, validate: useChecks() });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: async (values) =>
      api.PATCH('/api/keys/{keyId}', {
        params: { path: { keyId: token.keyId } },
        body: changedRules(before, values),
      }),
    done: async (_answer, { name }) => {
      await refresh('/api/keys', '/api/keys/{keyId}');
      notify(t('changed', { name: name.trim() }));
      done();
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <RuleFields form={form}>
        <Stack gap="hair">
          <Text size="sm" fw={500}>
            {t('fields.group')}
          </Text>
          <Text size="sm">{token.group}</Text>
          <SmallPrint>{t('fields.groupStays')}</SmallPrint>
        </Stack>
      </RuleFields>
      <FormFault error={failure} />
      <Group justify="flex-end">
        <Button type="submit" loading={isSending}>
          {t('changeSubmit')}
        </Button>
      </Group>
    </form>
  );
}
