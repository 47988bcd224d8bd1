import { Button, Group, Stack, Text } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { FormFault, type SendFormProps, useSend } from '../../ui/forms/form.js';
import { LeaveGuard } from '../../ui/forms/leave-guard.js';
import { SmallPrint } from '../../ui/texts.js';
import { CREDITS } from '../../ui/patterns.js';
import { Advanced } from '../../ui/forms/advanced.js';
import { Loaded } from '../../ui/states.js';
import { keepNewKey } from '../new-key.js';
import { GroupField, GroupOfKey } from './group-field.js';
import { type GroupOffer, useGroupOffers } from './group-offers.js';
import { NameField, RuleFields } from './rule-fields.js';
import type { MadeToken } from './token-once.js';
import { changedRules, type RuleValues, rulesOf, ruleValues } from './token-rules.js';

/** Checks what the server would refuse. */
function useChecks() {
  const { t } = useTranslation('tokens');
  const limit = (value: string) =>
    value.trim() === '' || CREDITS.test(value.trim()) ? null : t('fields.limitInvalid');
  return {
    name: (value: string) => (value.trim() === '' ? t('fields.nameMissing') : null),
    group: (value: string) => (value === '' ? t('fields.groupMissing') : null),
    monthlyLimit: limit,
    totalLimit: limit,
  };
}

interface PanelFormProps extends Pick<SendFormProps, 'sending' | 'submit' | 'children'> {
  form: UseFormReturnType<RuleValues>;
}

/** A form in a panel has its button at the end. */
function PanelForm({ form, sending, submit, children }: PanelFormProps) {
  return (
    <form onSubmit={sending.onSubmit} noValidate className="stack">
      <LeaveGuard isDirty={form.isDirty} />
      {children}
      <FormFault error={sending.failure} />
      <Group justify="flex-end">
        <Button type="submit" loading={sending.isSending}>
          {submit}
        </Button>
      </Group>
    </form>
  );
}

/** Asks only for a name. The widest group is the default; the rest limits what a lost key can do. */
export function NewToken({ done }: { done: (made: MadeToken) => void }) {
  return (
    <Loaded query={useGroupOffers()} lines={4}>
      {(offers) => <NewTokenForm offers={offers} done={done} />}
    </Loaded>
  );
}

interface NewTokenProps {
  /** Widest first. */
  offers: readonly GroupOffer[];
  done: (made: MadeToken) => void;
}

function NewTokenForm({ offers, done }: NewTokenProps) {
  const { t } = useTranslation('tokens');
  const initialValues = { ...ruleValues(null), group: offers[0]?.name ?? '' };
  const form = useForm<RuleValues>({ initialValues, validate: useChecks() });
  const sending = useSend({
    form,
    send: async (values) =>
      (await api.POST('/api/keys', { body: { ...rulesOf(values), group: values.group } })).data!,
    done: async ({ keyId, name, apiKey }) => {
      form.resetDirty();
      keepNewKey({ keyId, apiKey });
      await refresh('/api/keys');
      done({ keyId, name, apiKey });
    },
  });
  return (
    <PanelForm form={form} sending={sending} submit={t('createSubmit')}>
      <NameField form={form} />
      <GroupOfKey offer={offers.find(({ name }) => name === form.values.group)} />
      <Advanced isAtFault={Object.keys(form.errors).some((field) => field !== 'name')}>
        <GroupField form={form} offers={offers} />
        <RuleFields form={form} />
      </Advanced>
    </PanelForm>
  );
}

/** The group of a key never changes, since it decides what the key costs. */
export function ChangeToken({ token, done }: { token: Shape<'Key'>; done: () => void }) {
  const { t } = useTranslation('tokens');
  // The form keeps the values it opened with, even if the key is read again: only what was edited here is sent.
  const [before] = useState(() => ruleValues(token));
  const form = useForm<RuleValues>({ initialValues: before, validate: useChecks() });
  const sending = useSend({
    form,
    send: async (values) =>
      api.PATCH('/api/keys/{keyId}', {
        params: { path: { keyId: token.keyId } },
        body: changedRules(before, values),
      }),
    done: async (_answer, { name }) => {
      form.resetDirty();
      await refresh('/api/keys', '/api/keys/{keyId}');
      notify(t('changed', { name: name.trim() }));
      done();
    },
  });
  return (
    <PanelForm form={form} sending={sending} submit={t('changeSubmit')}>
      <NameField form={form} />
      <GroupNow group={token.group} />
      <RuleFields form={form} />
    </PanelForm>
  );
}

function GroupNow({ group }: { group: string }) {
  const { t } = useTranslation('tokens');
  return (
    <Stack gap="hair">
      <Text size="sm" fw={500}>
        {t('fields.group')}
      </Text>
      <Text size="sm">{group}</Text>
      <SmallPrint>{t('fields.groupStays')}</SmallPrint>
    </Stack>
  );
}
