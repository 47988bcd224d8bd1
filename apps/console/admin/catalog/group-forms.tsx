import { Group as Row, MultiSelect, NumberInput, SimpleGrid, Stack, Switch, Text } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { isDecimal } from '../../ui/decimal.js';
import { type Inputs, AmountField, CreditsField, TextField } from '../../ui/forms/fields.js';
import { SendForm, useSend, useSendForm } from '../../ui/forms/form.js';
import { ButtonLink } from '../../ui/links.js';
import { TextLine } from '../../ui/texts.js';
import { useModels } from '../catalog.js';
import { GroupPrice } from './group-price.js';

type RuleValues = {
  open: boolean;
  models: string[];
  requestsPerMinute: number | string;
  maxRunningTasks: number | string;
  maxConcurrentRequests: number | string;
};

const LIMITS = ['requestsPerMinute', 'maxConcurrentRequests', 'maxRunningTasks'] as const;

function numberOf(value: number | string): number | null {
  return value === '' ? null : Number(value);
}

function limitsOf(values: Omit<RuleValues, 'models' | 'open'>) {
  return {
    requestsPerMinute: numberOf(values.requestsPerMinute),
    maxRunningTasks: numberOf(values.maxRunningTasks),
    maxConcurrentRequests: numberOf(values.maxConcurrentRequests),
  };
}

async function reread(): Promise<void> {
  await refresh('/api/admin/groups', '/api/admin/models', '/api/admin/prices/export', '/api/admin/audit-log');
}

/** The models and limits that a new group and one that is there have in common. */
function RuleFields({ form }: { form: Inputs }) {
  const { t } = useTranslation('catalog');
  const models = useModels().data ?? [];
  return (
    <>
      <Switch
        label={t('groups.open')}
        description={t('groups.openHint')}
        {...form.getInputProps('open', { type: 'checkbox' })}
      />
      <MultiSelect
        label={t('groups.models')}
        description={t('groups.modelsHint')}
        data={models.map(({ id }) => id)}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': t('groups.noModels') }}
        {...form.getInputProps('models')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {LIMITS.map((name) => (
          <NumberInput
            key={name}
            label={t(`groups.${name}`)}
            description={t(`groups.${name}Hint`)}
            placeholder={t('groups.noLimit')}
            min={name === 'maxRunningTasks' ? 0 : 1}
            max={1_000_000_000}
            allowDecimal={false}
            hideControls
            {...form.getInputProps(name)}
          />
        ))}
      </SimpleGrid>
    </>
  );
}

const newGroup = {
  name: '',
  multiplier: '1',
  fixedPerCall: '',
  open: false,
  models: [] as string[],
  requestsPerMinute: '' as number | string,
  maxRunningTasks: '' as number | string,
  maxConcurrentRequests: '' as number | string,
};
type NewValues = typeof newGroup;

/** A group with what it begins with; later its multiplier and fixed price change by proposals. */
export function CreateGroup({ done }: { done: () => void }) {
  const { t } = useTranslation('catalog');
  const { form, sending } = useSendForm({
    initialValues: newGroup,
    validate: {
      name: (value) =>
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value.trim()) ? null : t('fields.groupInvalid'),
      multiplier: (value) => (isDecimal(value.trim()) ? null : t('fields.decimalInvalid')),
      fixedPerCall: (value) =>
        value.trim() === '' || isDecimal(value.trim()) ? null : t('fields.decimalInvalid'),
    },
    send: ({ name, multiplier, fixedPerCall, open, models, ...limits }) =>
      api.POST('/api/admin/groups', {
        body: {
          name: name.trim(),
          multiplier: multiplier.trim(),
          fixedPerCall: fixedPerCall.trim() || null,
          open,
          models,
          ...limitsOf(limits),
        },
      }),
    done: async (_answer, { name }) => {
      await reread();
      notify(t('groups.made', { group: name.trim() }));
      done();
    },
  });
  return (
    <SendForm sending={sending} submit={t('groups.create')}>
      <NameAndPrice form={form} />
      <RuleFields form={form} />
    </SendForm>
  );
}

interface NameAndPriceProps {
  form: UseFormReturnType<NewValues>;
}

function NameAndPrice({ form }: NameAndPriceProps) {
  const { t } = useTranslation('catalog');
  return (
    <>
      <TextField form={form} name="name" label={t('groups.name')} required data-autofocus />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <AmountField
          form={form}
          name="multiplier"
          label={t('groups.multiplier')}
          required
          leftSection={<Text size="sm">×</Text>}
        />
        <CreditsField
          form={form}
          name="fixedPerCall"
          label={t('groups.fixedPerCall')}
          placeholder={t('groups.listPrice')}
        />
      </SimpleGrid>
    </>
  );
}

/** Models and limits change at once; what calls cost is proposed. */
export function ChangeGroup({ group, done }: { group: Shape<'Group'>; done: () => void }) {
  const { t } = useTranslation('catalog');
  const form = useForm<RuleValues>({
    initialValues: {
      open: group.open,
      models: [...group.models],
      requestsPerMinute: group.requestsPerMinute ?? '',
      maxRunningTasks: group.maxRunningTasks ?? '',
      maxConcurrentRequests: group.maxConcurrentRequests ?? '',
    },
  });
  const params = { path: { group: group.name } };
  const sending = useSend({
    form,
    send: async ({ open, models, ...limits }) => {
      if (form.isDirty('models'))
        await api.PUT('/api/admin/groups/{group}/models', { params, body: { models } });
      return api.PATCH('/api/admin/groups/{group}', {
        params,
        body: { open, ...limitsOf(limits) },
      });
    },
    done: async () => {
      await reread();
      notify(t('groups.changed', { group: group.name }));
      done();
    },
  });
  return (
    <SendForm sending={sending} submit={t('save')}>
      <PriceNow group={group} />
      <RuleFields form={form} />
    </SendForm>
  );
}

function PriceNow({ group }: { group: Shape<'Group'> }) {
  const { t } = useTranslation('catalog');
  return (
    <Stack gap="xs">
      <TextLine>
        {t('groups.priceNow')} <GroupPrice group={group} />
      </TextLine>
      <Row gap="xs">
        {(['multiplier', 'rule'] as const).map((kind) => (
          <ButtonLink
            key={kind}
            to="/admin/prices/propose"
            search={{ group: group.name, kind }}
            variant="default"
            size="xs"
          >
            {t(`groups.propose.${kind}`)}
          </ButtonLink>
        ))}
      </Row>
    </Stack>
  );
}
