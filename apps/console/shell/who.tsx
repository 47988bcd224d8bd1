import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { TextLink } from '../ui/links.js';
import { mayAny, useSession } from './session.js';

/** Ids begin with the time, so their ends distinguish people. */
const SHOWN_CHARS = 8;

/**
 * Who did something: an actor of the audit log such as `user:{id}` or `cli:{login}`, or a person's id. Those who may see
 * accounts are led to that of the person.
 */
export function Who({ actor }: { actor: string }) {
  const { t } = useTranslation('shell');
  const session = useSession();
  const [, kind, rest = ''] = /^(?:(\w+):)?(.*)$/.exec(actor) ?? [];
  if (kind !== undefined && kind !== 'user') return <span>{actor}</span>;
  if (rest === 'system') return <span>{t('who.system')}</span>;
  if (rest === session?.userId) return <span>{t('who.you')}</span>;
  const short = <span title={rest}>…{rest.slice(-SHOWN_CHARS)}</span>;
  if (!mayAny(session, ['support', 'admin']))
    return (
      <Text span size="sm" ff="monospace">
        {short}
      </Text>
    );
  return (
    <TextLink to="/support/accounts" search={{ query: rest }} size="sm" ff="monospace">
      {short}
    </TextLink>
  );
}
