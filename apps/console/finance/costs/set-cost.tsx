import { Checkbox, Select } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import { AmountField, TextField } from '../../ui/forms/fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { NoteField, useNoteCheck } from '../note.js';

const units = ['unit', 'tokens', 'withdrawn'] as const;
const DECIMAL = /^\d{1,12}(\.\d{1,18})?$/;

interface Values extends Record<string, unknown> {
  channel: string;
  model: string;
  by: (typeof units)[number];
  unitCost: string;
  input: string;
  cachedInput: string;
  output: string;
  billsFailures: boolean;
  note: string;
}

const initial: Values = {
  channel: '',
  model: '',
  by: 'unit' as const,
  unitCost: '',
  input: '',
  cachedInput: '',
  output: '',
  billsFailures: false,
  note: '',
};

function costOf({ by, unitCost, input, cachedInput, output }: Values) {
  if (by === 'withdrawn') return null;
  return by === 'unit' ? { unitCost } : { input, cachedInput, output };
}

/** Applies to charges that end from now on, and to those that wait because no cost was known. */
export function SetCost() {
  const { t } = useTranslation('costs');
  const check = useNoteCheck();
  const wrong = (text: string) => !DECIMAL.test(text);
  return (
    <ModalForm
      label={t('set.do')}
      title={t('set.title')}
      hint={t('set.hint')}
      initial={initial}
      validate={(values) => ({
        ...check(values),
        ...(values.channel.trim() === '' ? { channel: t('set.missing') } : {}),
        ...(values.model.trim() === '' ? { model: t('set.missing') } : {}),
        ...(values.by === 'unit' && wrong(values.unitCost) ? { unitCost: t('set.amountWrong') } : {}),
        ...(values.by === 'tokens'
          ? Object.fromEntries(
              (['input', 'cachedInput', 'output'] as const)
                .filter((name) => wrong(values[name]))
                .map((name) => [name, t('set.amountWrong')]),
            )
          : {}),
      })}
      fields={(form) => <Fields form={form} />}
      send={(values, requestId) =>
        api.POST('/api/finance/upstream-costs', {
          body: {
            channel: values.channel.trim(),
            model: values.model.trim(),
            cost: costOf(values),
            billsFailures: values.billsFailures,
            effectiveFrom: null,
            reason: values.note,
            requestId,
          },
        })
      }
      reread={() => refresh('/api/finance/upstream-costs', '/api/finance/reports/revenue')}
      told={() => t('set.done')}
    />
  );
}

function Fields({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('costs');
  const { by } = form.getValues();
  return (
    <>
      <TextField form={form} name="channel" label={t('columns.channel')} required />
      <TextField form={form} name="model" label={t('columns.model')} required />
      <Select
        label={t('set.by')}
        data={units.map((value) => ({ value, label: t(`set.units.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps('by')}
      />
      {by === 'unit' && (
        <AmountField
          form={form}
          name="unitCost"
          label={t('set.unitCost')}
          description={t('set.unitCostHint')}
          required
        />
      )}
      {by === 'tokens' &&
        (['input', 'cachedInput', 'output'] as const).map((name) => (
          <AmountField
            key={name}
            form={form}
            name={name}
            label={t(`tokens.${name}`)}
            description={t('set.millionHint')}
            required
          />
        ))}
      <Checkbox
        label={t('set.billsFailures')}
        {...form.getInputProps('billsFailures', { type: 'checkbox' })}
      />
      <NoteField form={form} />
    </>
  );
}
