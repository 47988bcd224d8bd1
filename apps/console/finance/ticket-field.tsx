import type { SelectProps } from '@mantine/core';
import { useState } from 'react';
import { $api } from '../api/client.js';
import { useName } from '../api/names.js';
import type { Shape } from '../api/shape.js';
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

function TicketSelect({ value = null, onChange, ...select }: Omit<SelectProps, 'data'>) {
  const typed = useSearchWords();
  const [subject, setSubject] = useState<string | null>(null);
  const search = $api.useQuery(
    'get',
    '/api/finance/tickets',
    { params: { query: { query: typed.query } } },
    { enabled: typed.isEnough },
  );
  const found = (search.data?.items ?? []).map((ticket) => ({
    value: ticket.ticketId,
    label: ticket.subject || ticket.ticketId,
    second: <OfCustomer {...ticket} />,
  }));
  return (
    <SearchSelect
      typed={typed}
      search={search}
      found={found}
      chosenName={subject}
      what="ticket"
      value={value}
      onChange={(id, option) => {
        setSubject(option?.label ?? null);
        onChange?.(id, option);
      }}
      {...select}
    />
  );
}

function OfCustomer({ accountId, ticketId }: Pick<Shape<'FoundTicket'>, 'accountId' | 'ticketId'>) {
  return `${useName('account', accountId) ?? accountId} · ${ticketId}`;
}
