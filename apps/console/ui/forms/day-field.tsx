import '@mantine/dates/styles.css';
import 'dayjs/locale/zh-cn.js';
import { DatePickerInput, type DatePickerInputProps, type DatePickerType } from '@mantine/dates';
import { IconCalendar } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useParam } from '../address.js';
import { common, type Field, type FieldOptions } from './field.js';

/** One or several days, such as 2026-01-31; null for none. */
export function DayPicker<Type extends DatePickerType = 'default'>(props: DatePickerInputProps<Type>) {
  const { t, i18n } = useTranslation('shell');
  return (
    <DatePickerInput<Type>
      leftSection={<IconCalendar size={16} aria-hidden />}
      locale={i18n.language === 'zh' ? 'zh-cn' : 'en'}
      valueFormat="YYYY-MM-DD"
      clearButtonProps={{ 'aria-label': t('days.clear') }}
      ariaLabels={{
        previousMonth: t('days.previousMonth'),
        nextMonth: t('days.nextMonth'),
        previousYear: t('days.previousYear'),
        nextYear: t('days.nextYear'),
        monthLevelControl: t('days.chooseMonth'),
        yearLevelControl: t('days.chooseYear'),
      }}
      {...props}
    />
  );
}

interface DayFilterProps {
  /** The search parameter. */
  param: string;
  label: string;
  /** Shown if none is chosen. */
  none: string;
  /** The last day that can be chosen. */
  last: string;
}

/** The UTC day that a page shows. */
export function DayFilter({ param, label, none, last }: DayFilterProps) {
  const { value, set } = useParam(param);
  return (
    <DayPicker
      label={label}
      placeholder={none}
      clearable
      maxDate={last}
      value={value ?? null}
      onChange={(day) => set(day ?? undefined)}
      w={{ base: '100%', xs: '12rem' }}
    />
  );
}

type DayOptions = FieldOptions<string | null> & { missing?: string } & Pick<
    DatePickerInputProps,
    'minDate' | 'maxDate' | 'clearable'
  >;

/** One UTC day. */
export function dayField(label: string, { missing, ...options }: DayOptions): Field<string | null> {
  const { field, input } = common<string | null>(null, options);
  return {
    ...field,
    fault: (value) => (value === null && missing !== undefined ? missing : null),
    draw: (bound) => <DayPicker label={label} required={missing !== undefined} {...input} {...bound} />,
  };
}
