import { MultiSelect, NumberInput, SimpleGrid, TagsInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { creditsField, momentField, textField } from '../../ui/forms/text-fields.js';
import { marketQuery } from '../../visitor/market/market-query.js';
import type { RuleValues } from './token-rules.js';

type RuleForm = UseFormReturnType<RuleValues>;

/** The server's limit. */
const MOST = 1_000_000;
const MOST_UNITS = 1_000_000_000;
/** The server's limit. */
const MOST_FALLBACKS = 4;

export function NameField({ form }: { form: RuleForm }) {
  const { t } = useTranslation('tokens');
  const name = { hint: t('fields.nameHint'), required: true, maxLength: 100, isFirst: true };
  return textField(t('fields.name'), name).draw(form.getInputProps('name'));
}

/** The fields that creating and changing a key share. */
export function RuleFields({ form }: { form: RuleForm }) {
  const { t } = useTranslation('tokens');
  const expiry = momentField(t('fields.expiresAt'), { hint: t('fields.expiresAtHint') });
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Limit form={form} name="monthlyLimit" />
        <Limit form={form} name="totalLimit" />
      </SimpleGrid>
      {expiry.draw(form.getInputProps('expiresAt'))}
      <Models form={form} name="allowedModels" whenEmpty={t('allModels')} />
      <Models form={form} name="fallbackModels" whenEmpty={t('noFallback')} most={MOST_FALLBACKS} />
      <Ips form={form} />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Count form={form} name="requestsPerMinute" min={1} />
        <Count form={form} name="tokensPerMinute" min={1} most={MOST_UNITS} />
        <Count form={form} name="imagesPerMinute" min={1} most={MOST_UNITS} />
        <Count form={form} name="maxRunningTasks" min={0} />
      </SimpleGrid>
    </>
  );
}

function Ips({ form }: { form: RuleForm }) {
  const { t } = useTranslation('tokens');
  return (
    <TagsInput
      label={t('fields.allowedIps')}
      description={t('fields.allowedIpsHint')}
      placeholder={form.values.allowedIps.length === 0 ? t('allIps') : ''}
      splitChars={[',', ' ']}
      acceptValueOnBlur
      {...form.getInputProps('allowedIps')}
    />
  );
}

function Limit({ form, name }: { form: RuleForm; name: 'monthlyLimit' | 'totalLimit' }) {
  const { t } = useTranslation('tokens');
  return creditsField(t(`fields.${name}`), { placeholder: t('noLimit') }).draw(form.getInputProps(name));
}

type CountName = 'requestsPerMinute' | 'tokensPerMinute' | 'imagesPerMinute' | 'maxRunningTasks';

function Count(props: { form: RuleForm; name: CountName; min: number; most?: number }) {
  const { t } = useTranslation('tokens');
  const { form, name, min, most = MOST } = props;
  return (
    <NumberInput
      label={t(`fields.${name}`)}
      placeholder={t('asGroup')}
      min={min}
      max={most}
      allowDecimal={false}
      hideControls
      {...form.getInputProps(name)}
    />
  );
}

interface ModelsProps {
  form: RuleForm;
  name: 'allowedModels' | 'fallbackModels';
  whenEmpty: string;
  most?: number;
}

/** The group's models, and those that the key already names even if they are gone. */
function Models({ form, name, whenEmpty, most }: ModelsProps) {
  const { t } = useTranslation('tokens');
  const market = useQuery(marketQuery);
  const { group, [name]: chosen } = form.values;
  const ofGroup = (market.data ?? [])
    .filter(({ groups }) => group === '' || groups.some((each) => each.group === group))
    .map(({ id }) => id);
  return (
    <MultiSelect
      label={t(`fields.${name}`)}
      description={t(`fields.${name}Hint`)}
      placeholder={chosen.length === 0 ? whenEmpty : ''}
      data={[...new Set([...ofGroup, ...chosen])].sort((a, b) => a.localeCompare(b))}
      {...(most !== undefined && { maxValues: most })}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': whenEmpty }}
      nothingFoundMessage={t('fields.noModels')}
      {...form.getInputProps(name)}
    />
  );
}
