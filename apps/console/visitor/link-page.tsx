import { Text } from '@mantine/core';
import { type ComponentType, useState } from 'react';
import { TextLink } from '../ui/links.js';
import { EntrancePage } from './entrance.js';

interface LinkPageProps {
  texts: { title: string; about: string; noToken: string; again?: string };
  /** Where to request another link. */
  again?: '/sign-up' | '/forgot-password';
  form: ComponentType<{ token: string }>;
}

/** Where a mailed link leads. */
export function LinkPage({ texts, again, form: Form }: LinkPageProps) {
  const token = useLinkToken();
  if (token)
    return (
      <EntrancePage title={texts.title} about={texts.about}>
        <Form token={token} />
      </EntrancePage>
    );
  return (
    <EntrancePage title={texts.title}>
      <Text>{texts.noToken}</Text>
      {again && <TextLink to={again}>{texts.again}</TextLink>}
    </EntrancePage>
  );
}

/** The token of a mailed link. It is removed from the address, where others could read it later. */
function useLinkToken(): string {
  const [token] = useState(() => {
    const found = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '';
    window.history.replaceState(window.history.state, '', window.location.pathname);
    return found;
  });
  return token;
}
