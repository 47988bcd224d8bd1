import { ActionIcon, Fieldset, Group, Select, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { Advanced } from '../../ui/forms/advanced.js';
import { useUnitSection } from '../../ui/forms/fields.js';
import { TextLine } from '../../ui/texts.js';
import { optionalTokenNames } from '../../api/token-names.js';
import type { Change } from '../catalog.js';
import { ChangeValue } from './change.js';
import {
  type AmountName,
  amountsOf,
  dimensionsOf,
  type Draft,
  draftOf,
  inForceFor,
  type ProposalValues,
  type RateDraft,
} from './draft.js';
import { RateFields } from './rate-fields.js';

type ProposalForm = UseFormReturnType<ProposalValues>;

/** What can be changed, and what is in force. */
export interface PriceCatalog {
  models: readonly Shape<'Model'>[];
  groups: readonly Shape<'Group'>[];
  inForce: readonly Change[];
}

interface ChangeFieldsProps {
  form: ProposalForm;
  index: number;
  catalog: PriceCatalog;
}

const KINDS = ['price', 'multiplier', 'rule'] as const;

/** One change: what it is about, what is in force, and the new value. */
export function ChangeFields({ form, index, catalog }: ChangeFieldsProps) {
  const { t } = useTranslation('prices');
  const draft = form.values.changes[index]!;
  const replace = (change: Partial<Draft>) => {
    form.clearFieldError(`changes.${index}.subject`);
    form.setFieldValue(`changes.${index}`, { ...draft, ...change });
  };
  const choose = (subject: string) => {
    const known = inForceFor({ kind: draft.kind, subject }, catalog.inForce);
    replace(known ? { ...draftOf(known), key: draft.key } : { subject });
  };
  return (
    <Fieldset legend={t('propose.change', { number: index + 1 })}>
      <Stack gap="sm">
        <Group align="flex-end" gap="sm">
          <Select
            label={t('propose.kind')}
            data={KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
            value={draft.kind}
            onChange={(kind) => replace({ kind: kind ?? 'price', subject: '', isEnd: false })}
            allowDeselect={false}
            w={{ base: '100%', xs: '13rem' }}
          />
          <Subject form={form} index={index} catalog={catalog} choose={choose} />
          {form.values.changes.length > 1 && <RemoveChange form={form} index={index} />}
        </Group>
        {draft.subject !== '' && <Wanted form={form} index={index} catalog={catalog} replace={replace} />}
      </Stack>
    </Fieldset>
  );
}

function RemoveChange({ form, index }: Pick<ChangeFieldsProps, 'form' | 'index'>) {
  const { t } = useTranslation('prices');
  return (
    <ActionIcon
      variant="default"
      size="input-sm"
      aria-label={t('propose.remove', { number: index + 1 })}
      onClick={() => form.removeListItem('changes', index)}
    >
      <IconTrash size={16} aria-hidden />
    </ActionIcon>
  );
}

interface WantedProps extends ChangeFieldsProps {
  replace: (change: Partial<Draft>) => void;
}

/** What is in force, and the new value. */
function Wanted({ form, index, catalog, replace }: WantedProps) {
  const { t } = useTranslation('prices');
  const draft = form.values.changes[index]!;
  const current = inForceFor(draft, catalog.inForce);
  const model = catalog.models.find(({ id }) => id === draft.subject);
  const unit = model?.unit;
  const dimensions = model && unit !== 'token' ? dimensionsOf[model.family] : [];
  return (
    <>
      <TextLine>
        {t('propose.inForce')} <ChangeValue change={current} unit={unit} />
      </TextLine>
      <SegmentedControl
        w="fit-content"
        aria-label={t('propose.what')}
        value={draft.isEnd ? 'end' : 'set'}
        onChange={(chosen) => replace({ isEnd: chosen === 'end' })}
        data={[
          { value: 'set', label: t(`propose.set.${draft.kind}`) },
          { value: 'end', label: t(`propose.end.${draft.kind}`) },
        ]}
      />
      {draft.isEnd ? (
        <Text size="sm">{t(`propose.endHint.${draft.kind}`)}</Text>
      ) : (
        <Amounts form={form} index={index} unit={unit} names={amountsOf(draft, unit)} />
      )}
      {draft.kind === 'price' && !draft.isEnd && (
        <OptionalPrices key={draft.subject} form={form} index={index} unit={unit} dimensions={dimensions} />
      )}
    </>
  );
}

interface OptionalProps extends Omit<AmountsProps, 'names'> {
  dimensions: readonly (keyof RateDraft['when'])[];
}

/** What most models leave to their other prices: that of some tokens, and of what a request asks for. */
function OptionalPrices({ form, index, unit, dimensions }: OptionalProps) {
  const draft = form.values.changes[index]!;
  const names = unit === 'token' ? optionalTokenNames : [];
  if (names.length === 0 && dimensions.length === 0) return null;
  const isOptional = (field: string) =>
    [...names, 'rates'].some((name) => field.startsWith(`changes.${index}.${name}`));
  return (
    <Advanced
      isAtFault={Object.keys(form.errors).some(isOptional)}
      isFilled={draft.rates.length > 0 || names.some((name) => draft[name] !== '')}
    >
      {names.length > 0 && <Amounts form={form} index={index} unit={unit} names={names} />}
      {dimensions.length > 0 && <RateFields form={form} index={index} dimensions={dimensions} />}
    </Advanced>
  );
}

type SubjectProps = ChangeFieldsProps & { choose: (subject: string) => void };

function Subject({ form, index, catalog, choose }: SubjectProps) {
  const { t } = useTranslation('prices');
  const { kind, subject } = form.values.changes[index]!;
  const names =
    kind === 'price'
      ? catalog.models.filter(({ aliasOf }) => aliasOf === null).map(({ id }) => id)
      : catalog.groups.map(({ name }) => name);
  return (
    <Select
      label={kind === 'price' ? t('columns.model') : t('columns.group')}
      placeholder={t('propose.choose')}
      data={names}
      value={subject || null}
      onChange={(value) => choose(value ?? '')}
      error={form.errors[`changes.${index}.subject`]}
      searchable
      allowDeselect={false}
      required
      flex="1 1 14rem"
    />
  );
}

interface AmountsProps {
  form: ProposalForm;
  index: number;
  unit: Shape<'Model'>['unit'] | undefined;
  names: readonly AmountName[];
}

function Amounts({ form, index, unit, names }: AmountsProps) {
  const { t } = useTranslation('prices');
  const section = useUnitSection();
  const labelOf = useAmountLabel(form.values.changes[index]!, unit);
  const optional = (name: AmountName) => optionalTokenNames.find((each) => each === name);
  const hintOf = (name: AmountName) => {
    const left = optional(name);
    return left && t(`propose.fields.${left}`);
  };
  return (
    <Group align="flex-start" gap="sm">
      {names.map((name) => (
        <TextInput
          key={name}
          label={labelOf(name)}
          inputMode="decimal"
          autoComplete="off"
          required={optional(name) === undefined}
          placeholder={hintOf(name)}
          {...(name === 'multiplier' ? { leftSection: <Text size="sm">×</Text> } : section)}
          {...form.getInputProps(`changes.${index}.${name}`)}
        />
      ))}
    </Group>
  );
}

function useAmountLabel({ kind }: Draft, unit: AmountsProps['unit']): (name: AmountName) => string {
  const { t } = useTranslation('prices');
  return (name) => {
    if (name === 'multiplier') return t('propose.fields.multiplier');
    if (name !== 'unitPrice') return `${t(`tokens.${name}`)} ${t('units.token')}`;
    return t('propose.fields.unitPrice', {
      unit: kind === 'rule' ? t('value.eachCall') : t(`units.${unit ?? 'call'}`),
    });
  };
}
