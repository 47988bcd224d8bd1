import { ActionIcon, type ActionIconProps, Button, Stack, Table, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Hint } from '../../ui/texts.js';
import { newRate, type ProposalValues, type RateDraft } from './draft.js';

/** The server's limit per model. */
const MOST_RATES = 64;

interface RateFieldsProps {
  form: UseFormReturnType<ProposalValues>;
  index: number;
  /** What requests for the model can specify. */
  dimensions: readonly (keyof RateDraft['when'])[];
}

/** Unit prices for requests that match a row; the first match counts. */
export function RateFields({ form, index, dimensions }: RateFieldsProps) {
  const { t } = useTranslation('prices');
  const path = `changes.${index}.rates`;
  const { rates } = form.values.changes[index]!;
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        {t('rates.title')}
      </Text>
      <Hint>{t('rates.hint')}</Hint>
      {rates.length > 0 && <RateTable form={form} index={index} dimensions={dimensions} />}
      {rates.length < MOST_RATES && (
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => form.insertListItem(path, newRate())}
        >
          {t('rates.add')}
        </Button>
      )}
    </Stack>
  );
}

function RateTable(props: RateFieldsProps) {
  const { t } = useTranslation('prices');
  const { form, index, dimensions } = props;
  return (
    <Table className="data-list" aria-label={t('rates.title')}>
      <Table.Thead>
        <Table.Tr>
          {dimensions.map((name) => (
            <Table.Th key={name}>{t(`rates.${name}`)}</Table.Th>
          ))}
          <Table.Th>{t('columns.price')}</Table.Th>
          <Table.Th>{t('columns.do')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {form.values.changes[index]!.rates.map(({ key }, row) => (
          <RateRow key={key} {...props} row={row} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function RateRow({ form, index, dimensions, row }: RateFieldsProps & { row: number }) {
  const { t } = useTranslation('prices');
  const path = `changes.${index}.rates`;
  const number = row + 1;
  const input = (field: string, name: string): object => ({
    'aria-label': t('rates.field', { field, number }),
    autoComplete: 'off',
    ...form.getInputProps(`${path}.${row}.${name}`),
  });
  return (
    <Table.Tr>
      {dimensions.map((name) => (
        <Table.Td key={name} data-label={t(`rates.${name}`)}>
          <TextInput placeholder={t('rates.any')} {...input(t(`rates.${name}`), `when.${name}`)} />
        </Table.Td>
      ))}
      <Table.Td data-label={t('columns.price')}>
        <TextInput inputMode="decimal" required {...input(t('columns.price'), 'unitPrice')} />
      </Table.Td>
      <Table.Td data-label={t('columns.do')}>
        <Remove label={t('rates.remove', { number })} remove={() => form.removeListItem(path, row)} />
      </Table.Td>
    </Table.Tr>
  );
}

interface RemoveProps extends ActionIconProps {
  label: string;
  remove: () => void;
}

export function Remove({ label, remove, ...button }: RemoveProps) {
  return (
    <ActionIcon variant="default" aria-label={label} onClick={remove} {...button}>
      <IconTrash size={16} aria-hidden />
    </ActionIcon>
  );
}
