import {
  Checkbox,
  MultiSelect,
  type MultiSelectProps,
  Select,
  type SelectProps,
  Stack,
  Switch,
  TagsInput,
} from '@mantine/core';
import { common, type Field, type FieldOptions } from './field.js';

interface ChoiceOptions<Word extends string> extends FieldOptions<NoInfer<Word>> {
  of: readonly Word[];
  name: (word: Word) => string;
}

/** One of several words; the first is the default. */
export function choiceField<const Word extends string>(
  label: string,
  given: ChoiceOptions<Word>,
): Field<Word> {
  const { of, name, ...options } = given;
  const { field, input } = common(of[0]!, options);
  const data = of.map((value) => ({ value, label: name(value) }));
  return {
    ...field,
    draw: (bound) => <Select label={label} data={data} allowDeselect={false} {...input} {...bound} />,
  };
}

type NameOptions = FieldOptions<string> & { missing?: string } & Omit<
    SelectProps,
    keyof FieldOptions<string>
  >;

/** One of many names, such as a group; the empty string means none. */
export function oneOfField(label: string, given: NameOptions): Field<string> {
  const { missing, ...options } = given;
  const { field, input } = common('', options);
  return {
    ...field,
    fault: (value) => (value === '' && missing !== undefined ? missing : null),
    draw: (bound) => (
      <Select label={label} searchable required={missing !== undefined} {...input} {...bound} />
    ),
  };
}

type NamesOptions = FieldOptions<string[]> & Omit<MultiSelectProps, keyof FieldOptions<string[]>>;

/** Any number of names, such as models. */
export function someOfField(label: string, options: NamesOptions): Field<string[]> {
  const { field, input } = common<string[]>([], options);
  return {
    ...field,
    draw: (bound) => <MultiSelect label={label} {...input} {...bound} />,
  };
}

/** Any number of words that people enter, such as sizes. */
export function tagsField(label: string, options: FieldOptions<string[]> = {}): Field<string[]> {
  const { field, input } = common<string[]>([], options);
  return {
    ...field,
    draw: (bound) => (
      <TagsInput label={label} splitChars={[',', ' ']} acceptValueOnBlur {...input} {...bound} />
    ),
  };
}

interface TicksOptions<Word extends string> extends FieldOptions<Word[]> {
  of: readonly Word[];
  name: (word: Word) => string;
  about: (word: Word) => string;
  /** The error if none is ticked. */
  missing?: string;
}

/** Some of a few visible words, in their order. */
export function ticksField<Word extends string>(label: string, given: TicksOptions<Word>): Field<Word[]> {
  const { of, name, about, missing, ...options } = given;
  const { field, input } = common<Word[]>([], options);
  const boxes = of.map((word) => (
    <Checkbox key={word} value={word} label={name(word)} description={about(word)} />
  ));
  return {
    ...field,
    read: (value) => of.filter((word) => value.includes(word)),
    fault: ({ length }) => (length === 0 && missing !== undefined ? missing : null),
    draw: (bound) => (
      <Checkbox.Group label={label} required={missing !== undefined} {...input} {...bound}>
        <Stack gap="xs" mt="xs">
          {boxes}
        </Stack>
      </Checkbox.Group>
    ),
  };
}

/** Yes or no, ticked. */
export function tickField(label: string, options: FieldOptions<boolean> = {}): Field<boolean> {
  return ticked(options, (input) => <Checkbox label={label} {...input} />);
}

/** On or off, switched. */
export function onOffField(label: string, options: FieldOptions<boolean> = {}): Field<boolean> {
  return ticked(options, (input) => <Switch label={label} {...input} />);
}

function ticked(options: FieldOptions<boolean>, draw: Field<boolean>['draw']): Field<boolean> {
  const { field, input } = common(false, options);
  return {
    ...field,
    isTicked: true,
    draw: (bound) => draw({ ...input, ...bound }),
  };
}
