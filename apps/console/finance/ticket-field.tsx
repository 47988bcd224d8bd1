import type { SelectProps } from '@mantine/core';
import { $api } from '../api/client.js';
import { common, type Field, type FieldOptions } from '../ui/forms/field.js';
import { SearchSelect, useSearchWords } from './search-select.js';

/** The ticket that a form is about, found by its subject, id or customer; sends its id. */
export function ticketField(
  label: string,
  { missing, ...options }: FieldOptions<string | null> & { missing: string },
): Field<string | null, string> {
  const { field, input } = common<string | null>(null, options);
  return {
    ...field,
    read: (value) => value ?? '',
    fault: (value) => (value === null ? missing : null),
    draw: (bound) => <TicketSelect label={label} required {...input} {...bound} />,
  };
}

function TicketSelect({ value = null, ...select }: Omit<SelectProps, 'data'>) {
  const typed = useSearchWords();
  const search = $api.useQuery(
    'get',
    '/api/finance/tickets',
    { params: { query: { query: typed.query } } },
    { enabled: typed.isEnough },
  );
  const found = (search.data?.items ?? []).map(({ ticketId, subject }) => ({
    value: ticketId,
    label: subject || ticketId,
    second: ticketId,
  }));
  return (
    <SearchSelect
      typed={typed}
      search={search}
      found={found}
      chosenName={null}
      what="ticket"
      value={value}
      {...select}
    />
  );
}
