import { Checkbox, SegmentedControl, Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useParam } from '../address.js';
import { useChosenInView } from '../chosen-in-view.js';

interface Option<Word extends string> {
  value: Word;
  label: string;
}

export function optionsOf<Word extends string>(
  words: readonly Word[],
  names: Record<NoInfer<Word>, string>,
): Option<Word>[] {
  return words.map((value) => ({ value, label: names[value] }));
}

interface FilterSelectProps<Word extends string> {
  label: string;
  options: readonly Option<Word>[];
  value: Word | undefined;
  set: (value: Word | undefined) => void;
  /** Shown if nothing is chosen, in place of the label. */
  any?: string;
  width?: string;
  searchable?: boolean;
}

/** Filters by one of several words, or by none. */
export function FilterSelect<Word extends string>(props: FilterSelectProps<Word>) {
  const { label, options, value, set, any, width = '10rem', searchable = false } = props;
  const { t } = useTranslation('shell');
  return (
    <Select
      aria-label={label}
      placeholder={any ?? label}
      data={options.map((option) => ({ ...option }))}
      value={value ?? null}
      onChange={(chosen) => set(options.find((option) => option.value === chosen)?.value)}
      searchable={searchable}
      clearable
      clearButtonProps={{ 'aria-label': t('filters.clear', { what: label }) }}
      w={filterWidth(width)}
    />
  );
}

interface Filter {
  /** The search parameter. */
  param: string;
  /** Whether to replace the history entry; otherwise going back undoes the choice. */
  replace?: boolean;
}

type ChoiceProps = Filter & Omit<FilterSelectProps<string>, 'value' | 'set'>;

/** A choice that is in the address. */
export function Choice({ param, replace = true, ...select }: ChoiceProps) {
  const { value, set } = useParam(param, { replace });
  const chosen = select.options.find((option) => option.value === value)?.value;
  return <FilterSelect {...select} value={chosen} set={set} />;
}

/** Several choices, which going back undoes one by one. */
export function Choices({
  of,
  ...rest
}: Omit<ChoiceProps, 'param' | 'label' | 'options'> & { of: readonly Named[] }) {
  return of.map((choice) => <Choice key={choice.param} replace={false} {...rest} {...choice} />);
}

type Named = Pick<ChoiceProps, 'param' | 'label' | 'options' | 'any'>;

/** Phones show two filters side by side. */
export function filterWidth(width: string) {
  return { base: 'calc(50% - var(--space-row))', xs: width };
}

interface SwitchProps<Word extends string> {
  label: string;
  options: readonly Option<Word>[];
  value: Word;
  set: (value: Word) => void;
}

/** One of a few visible words. */
export function Switch<Word extends string>({ label, options, value, set }: SwitchProps<Word>) {
  const row = useChosenInView<HTMLDivElement>(value);
  return (
    <div ref={row} className="switch">
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

interface SwitchFilterProps extends Filter {
  label: string;
  /** The first is the default. */
  options: readonly Option<string>[];
}

/** A switch that is in the address. */
export function SwitchFilter({ param, label, options, replace = true }: SwitchFilterProps) {
  const { value, set } = useParam(param, { replace });
  const usual = options[0]?.value ?? '';
  return (
    <Switch
      label={label}
      options={options}
      value={options.find((option) => option.value === value)?.value ?? usual}
      set={(chosen) => set(chosen === usual ? undefined : chosen)}
    />
  );
}

/** A checkbox that puts `yes` into the address. */
export function YesFilter({ param, label }: { param: string; label: string }) {
  const { value, set } = useParam(param);
  return (
    <Checkbox
      label={label}
      checked={value === 'yes'}
      onChange={({ currentTarget }) => set(currentTarget.checked ? 'yes' : undefined)}
    />
  );
}
