import { MultiSelect, Select, Stack, Switch, Text } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import type { ApiFailure } from '../../api/failure.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { TextField } from '../../ui/forms/fields.js';
import { SendForm, useFieldError, useSend } from '../../ui/forms/form.js';
import { Hint } from '../../ui/texts.js';
import { useGroups } from '../catalog.js';
import { LimitFields } from './limit-fields.js';
import { limitsFrom, limitsShown, type LimitValues, limitValues } from './limits.js';
import { families } from '../../api/enumerations.js';

/** As the server has it: as vendors write ids, with single slashes between their parts. */
const MODEL_ID = /^(?=.{1,200}$)[A-Za-z0-9][A-Za-z0-9._:-]*(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)*$/;

/** What the models of a family can be priced by. */
const UNITS: Record<Shape<'Model'>['family'], readonly Shape<'Model'>['unit'][]> = {
  image: ['call'],
  video: ['second'],
  chat: ['token', 'call'],
  speech: ['call', 'token'],
  '3d': ['call'],
};

/** The server names limits such as `limits.maxSeconds`; the form has the field without the document around it. */
function useAtLimit(setFieldError: (field: string, message: ReactNode) => void) {
  const errorOf = useFieldError();
  return (failure: ApiFailure) => {
    const field = /^limits\.(\w+)/.exec(failure.param ?? '')?.[1];
    if (field === undefined) return false;
    setFieldError(field, errorOf(failure));
    return true;
  };
}

async function reread(): Promise<void> {
  await refresh('/api/admin/models', '/api/admin/groups', '/api/public/prices', '/api/admin/audit-log');
}

interface NewModelProps {
  isAlias: boolean;
  models: readonly Shape<'Model'>[];
  done: () => void;
}

type NewValues = LimitValues & {
  id: string;
  aliasOf: string;
  family: Shape<'Model'>['family'];
  unit: Shape<'Model'>['unit'];
  ownedBy: string;
  groups: string[];
};
type NewForm = UseFormReturnType<NewValues>;

const newModel: NewValues = {
  id: '',
  aliasOf: '',
  family: 'image',
  unit: 'call',
  ownedBy: '',
  groups: [],
  ...limitValues({}),
};

/** A model, or another name of one that is there. It is for sale when its price was confirmed. */
export function CreateModel({ isAlias, models, done }: NewModelProps) {
  const { t } = useTranslation('catalog');
  const form = useForm<NewValues>({
    initialValues: newModel,
    validate: {
      id: (value) => (MODEL_ID.test(value.trim()) ? null : t('fields.modelInvalid')),
      aliasOf: (value) => (isAlias && value === '' ? t('fields.aliasMissing') : null),
      ownedBy: (value) => (value.trim() ? null : t('fields.vendorMissing')),
    },
  });
  const atLimit = useAtLimit(form.setFieldError);
  const sending = useSend({
    form,
    send: async ({ id, aliasOf, family, unit, ownedBy, groups: chosen, ...limits }) => {
      const kind = isAlias ? { aliasOf } : { family, unit };
      const shared = { id: id.trim(), ownedBy: ownedBy.trim(), groups: chosen, limits: limitsFrom(limits) };
      return api.POST('/api/admin/models', { body: { ...shared, ...kind, enabled: true } });
    },
    refused: atLimit,
    done: async (_answer, { id }) => {
      await reread();
      notify(isAlias ? t('models.aliasMade', { model: id }) : t('models.made', { model: id }));
      done();
    },
  });
  const { family, aliasOf } = form.values;
  return (
    <SendForm sending={sending} submit={isAlias ? t('models.createAlias') : t('models.create')}>
      <Text size="sm">{isAlias ? t('models.aliasHint') : t('models.newHint')}</Text>
      <TextField
        form={form}
        name="id"
        label={t('models.id')}
        description={t('fields.modelHint')}
        required
        data-autofocus
      />
      {isAlias ? <OfModel form={form} models={models} /> : <Kind form={form} />}
      <TextField form={form} name="ownedBy" label={t('models.vendor')} required />
      <Groups form={form} />
      {(!isAlias || aliasOf !== '') && <LimitFields form={form} isShown={limitsShown(family, {})} />}
    </SendForm>
  );
}

function Groups({ form }: { form: NewForm }) {
  const { t } = useTranslation('catalog');
  const groups = useGroups().data ?? [];
  return (
    <MultiSelect
      label={t('models.groups')}
      description={t('fields.groupsHint')}
      data={groups.map(({ name }) => name)}
      {...form.getInputProps('groups')}
    />
  );
}

/** The model that an alias names; the other fields start with that model's values. */
function OfModel({ form, models }: { form: NewForm; models: readonly Shape<'Model'>[] }) {
  const { t } = useTranslation('catalog');
  const choose = (id: string | null) => {
    const of = models.find((model) => model.id === id);
    form.setFieldValue('aliasOf', id ?? '');
    if (of) form.setValues({ ownedBy: of.ownedBy, family: of.family, groups: [...of.groups] });
  };
  return (
    <Select
      label={t('models.aliasOf')}
      data={models.filter(({ aliasOf }) => aliasOf === null).map(({ id }) => id)}
      searchable
      required
      {...form.getInputProps('aliasOf')}
      onChange={choose}
    />
  );
}

/** What a model makes, and what its price is of. */
function Kind({ form }: { form: NewForm }) {
  const { t } = useTranslation('catalog');
  const { family } = form.values;
  const choose = (chosen: Shape<'Model'>['family'] | null) => {
    const kind = chosen ?? 'image';
    form.setValues({ family: kind, unit: UNITS[kind][0] ?? 'call' });
  };
  return (
    <Stack gap="sm">
      <Select
        label={t('models.family')}
        data={families.map((value) => ({ value, label: t(`families.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps('family')}
        onChange={choose}
      />
      <Select
        label={t('models.unit')}
        data={UNITS[family].map((value) => ({ value, label: t(`units.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps('unit')}
      />
    </Stack>
  );
}

/** Switches a model on or off, and changes its limits and vendor; what it is stays. */
export function ChangeModel({ model, done }: { model: Shape<'Model'>; done: () => void }) {
  const { t } = useTranslation('catalog');
  const form = useForm({
    initialValues: { enabled: model.enabled, ownedBy: model.ownedBy, ...limitValues(model.limits) },
    validate: { ownedBy: (value) => (value.trim() ? null : t('fields.vendorMissing')) },
  });
  const atLimit = useAtLimit(form.setFieldError);
  const sending = useSend({
    form,
    send: ({ enabled, ownedBy, ...limits }) =>
      api.PATCH('/api/admin/models/{model}', {
        params: { path: { model: model.id } },
        body: { enabled, ownedBy: ownedBy.trim(), limits: limitsFrom(limits) },
      }),
    refused: atLimit,
    done: async () => {
      await reread();
      notify(t('models.changed', { model: model.id }));
      done();
    },
  });
  return (
    <SendForm sending={sending} submit={t('save')}>
      <Hint>
        {t(`families.${model.family}`)} · {t(`units.${model.unit}`)}
        {model.aliasOf !== null && ` · ${t('models.isAlias', { model: model.aliasOf })}`}
      </Hint>
      <Switch
        label={t('models.enabled')}
        description={t('models.enabledHint')}
        {...form.getInputProps('enabled', { type: 'checkbox' })}
      />
      <TextField form={form} name="ownedBy" label={t('models.vendor')} required />
      <LimitFields form={form} isShown={limitsShown(model.family, model.limits)} />
    </SendForm>
  );
}
