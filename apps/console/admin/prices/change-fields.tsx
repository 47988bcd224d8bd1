import { Fieldset, Group, Select, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { Advanced } from '../../ui/forms/advanced.js';
import { unitSection } from '../../ui/forms/text-fields.js';
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
import { RateFields, Remove } from './rate-fields.js';
import { optionsOf } from '../../ui/lists/choice.js';

type ProposalForm = UseFormReturnType<ProposalValues>;

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

export function ChangeFields({ form, index, catalog }: ChangeFieldsProps) {
  const { t } = useTranslation('prices');
  const draft = form.values.changes[index]!;
  const removal = t('propose.remove', { number: index + 1 });
  const replace = (change: Partial<Draft>) => {
    form.clearFieldError(`changes.${index}.subject`);
    form.setFieldValue(`changes.${index}`, { ...draft, ...change });
  };
  return (
    <Fieldset legend={t('propose.change', { number: index + 1 })}>
      <Stack gap="sm">
        <Group align="flex-end" gap="sm">
          <Kind kind={draft.kind} choose={(kind) => replace({ kind, subject: '', isEnd: false })} />
          <Subject form={form} index={index} catalog={catalog} replace={replace} />
          {form.values.changes.length > 1 && (
            <Remove size="input-sm" label={removal} remove={() => form.removeListItem('changes', index)} />
          )}
        </Group>
        {draft.subject !== '' && <Wanted form={form} index={index} catalog={catalog} replace={replace} />}
      </Stack>
    </Fieldset>
  );
}

function Kind({ kind, choose }: { kind: Draft['kind']; choose: (kind: Draft['kind']) => void }) {
  const { t } = useTranslation('prices');
  return (
    <Select
      label={t('propose.kind')}
      data={optionsOf(KINDS, t('kinds'))}
      value={kind}
      onChange={(chosen) => choose(chosen ?? 'price')}
      allowDeselect={false}
      w={{ base: '100%', xs: '13rem' }}
    />
  );
}

interface WantedProps extends ChangeFieldsProps {
  replace: (change: Partial<Draft>) => void;
}

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
      <SetOrEnd draft={draft} choose={(isEnd) => replace({ isEnd })} />
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

function SetOrEnd({ draft: { kind, isEnd }, choose }: { draft: Draft; choose: (isEnd: boolean) => void }) {
  const { t } = useTranslation('prices');
  const ways = ['set', 'end'] as const;
  return (
    <SegmentedControl
      w="fit-content"
      aria-label={t('propose.what')}
      value={isEnd ? 'end' : 'set'}
      onChange={(chosen) => choose(chosen === 'end')}
      data={ways.map((value) => ({ value, label: t(`propose.${value}.${kind}`) }))}
    />
  );
}

interface OptionalProps extends Omit<AmountsProps, 'names'> {
  dimensions: readonly (keyof RateDraft['when'])[];
}

/** Prices that few models need: for special tokens, and by what a request asks for. */
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

function subjectsOf(kind: Draft['kind'], { models, groups }: PriceCatalog): string[] {
  if (kind !== 'price') return groups.map(({ name }) => name);
  return models.filter(({ aliasOf }) => aliasOf === null).map(({ id }) => id);
}

function Subject({ form, index, catalog, replace }: WantedProps) {
  const { t } = useTranslation('prices');
  const { kind, subject, key } = form.values.changes[index]!;
  const choose = (chosen: string) => {
    const known = inForceFor({ kind, subject: chosen }, catalog.inForce);
    replace(known ? { ...draftOf(known), key } : { subject: chosen });
  };
  return (
    <Select
      label={kind === 'price' ? t('columns.model') : t('columns.group')}
      placeholder={t('propose.choose')}
      data={subjectsOf(kind, catalog)}
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
  const labelOf = useAmountLabel(form.values.changes[index]!, unit);
  const hints = new Map<string, string>(
    optionalTokenNames.map((name) => [name, t(`propose.fields.${name}`)]),
  );
  return (
    <Group align="flex-start" gap="sm">
      {names.map((name) => (
        <TextInput
          key={name}
          label={labelOf(name)}
          w={{ base: '100%', xs: 'auto' }}
          inputMode="decimal"
          autoComplete="off"
          required={!hints.has(name)}
          placeholder={hints.get(name)}
          {...(name === 'multiplier' ? { leftSection: <Text size="sm">×</Text> } : unitSection())}
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
