import { Checkbox, SegmentedControl, Select } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useFilter } from '../address.js';

interface ChoiceProps<Word extends string> {
  label: string;
  options: readonly { value: Word; label: string }[];
  value: Word | undefined;
  set: (value: Word | undefined) => void;
  /** Shown when none is chosen, in place of the label. */
  any?: string;
  width?: string;
}

/** Narrows a list to one of some words, or to none of them. */
export function Choice<Word extends string>(props: ChoiceProps<Word>) {
  const { label, options, value, set, any, width = '10rem' } = props;
  const { t } = useTranslation('shell');
  return (
    <Select
      aria-label={label}
      placeholder={any ?? label}
      data={options.map((option) => ({ ...option }))}
      value={value ?? null}
      onChange={(chosen) => set(options.find((option) => option.value === chosen)?.value)}
      clearable
      clearButtonProps={{ 'aria-label': t('filters.clear', { what: label }) }}
      w={filterWidth(width)}
    />
  );
}

/** Two filters are beside each other on a phone. */
export function filterWidth(width: string) {
  return { base: 'calc(50% - var(--space-row))', xs: width };
}

/** One of a few words that are all seen, of which one is always chosen. */
export function Switch<Word extends string>({
  label,
  options,
  value,
  set,
}: Pick<ChoiceProps<Word>, 'label' | 'options'> & { value: Word; set: (value: Word) => void }) {
  return (
    <div className="switch">
      <SegmentedControl
        aria-label={label}
        w="max-content"
        data={options.map((option) => ({ ...option }))}
        value={value}
        onChange={(chosen) => set(chosen)}
      />
    </div>
  );
}

interface YesFilterProps {
  /** The name in the address, which is `yes` when it is chosen. */
  param: string;
  label: string;
}

/** Shows more of a list, or less. */
export function YesFilter({ param, label }: YesFilterProps) {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const set = useFilter();
  return (
    <Checkbox
      label={label}
      checked={search[param] === 'yes'}
      onChange={({ currentTarget }) => set({ [param]: currentTarget.checked ? 'yes' : undefined })}
    />
  );
}
