import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { TextLink } from '../ui/links.js';
import { Named } from '../ui/named.js';
import { TextLine } from '../ui/texts.js';
import { When } from '../ui/time/when.js';
import { mayAny, useSession } from './session.js';

/** Who did something: an actor such as `user:{id}` or `cli:{login}`, or a person's id, linked to the account if allowed. */
export function Who({ actor }: { actor: string }) {
  const { t } = useTranslation('shell');
  const session = useSession();
  const [, kind, rest = ''] = /^(?:(\w+):)?(.*)$/.exec(actor) ?? [];
  if (kind !== undefined && kind !== 'user') return <span>{actor}</span>;
  if (rest === 'system') return <span>{t('who.system')}</span>;
  if (rest === session?.userId) return <span>{t('who.you')}</span>;
  const named = <Named kind="user" id={rest} />;
  if (!mayAny(session, ['support', 'admin'])) return named;
  return (
    <TextLink to="/support/accounts" search={{ query: rest }} size="sm">
      {named}
    </TextLink>
  );
}

interface WhoAndWhenProps {
  what: string;
  actor: string | null;
  at?: string | null;
  children?: ReactNode;
}

/** Who did something and when, if somebody did. */
export function WhoAndWhen({ what, actor, at = null, children }: WhoAndWhenProps) {
  if (actor === null) return null;
  return (
    <TextLine>
      {what} <Who actor={actor} />
      {at !== null && ' · '}
      {at !== null && <When at={at} />}
      {children}
    </TextLine>
  );
}
