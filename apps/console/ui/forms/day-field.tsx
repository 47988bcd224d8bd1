import '@mantine/dates/styles.css';
import 'dayjs/locale/zh-cn.js';
import { DatePickerInput, type DatePickerInputProps } from '@mantine/dates';
import { IconCalendar } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { common, type Field, type FieldOptions } from './field.js';

/** One day of UTC such as 2026-01-31; null: none. */
export function DayField(props: DatePickerInputProps<'default'>) {
  const { t, i18n } = useTranslation('shell');
  return (
    <DatePickerInput
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

type DayOptions = FieldOptions<string | null> & { missing?: string } & Pick<
    DatePickerInputProps,
    'minDate' | 'maxDate' | 'clearable'
  >;

/** One day of UTC of a form. */
export function dayField(label: string, { missing, ...options }: DayOptions): Field<string | null> {
  const { field, input } = common<string | null>(null, options);
  return {
    ...field,
    read: (value) => value,
    fault: (value) => (value === null && missing !== undefined ? missing : null),
    draw: (bound) => <DayField label={label} required={missing !== undefined} {...input} {...bound} />,
  };
}
