import { ActionIcon, Modal, NavLink, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/shape.js';
import { pages } from '../pages/pages.js';
import { ID } from '../ui/patterns.js';
import { isListed, navigationOf } from './navigation.js';
import { mayAny } from './session.js';

interface Destination {
  key: string;
  label: string;
  area: string;
  go: () => Promise<void>;
}

/** Ctrl-K or Cmd-K: goes to a page by a part of its name, and to what a pasted id names. */
export function Palette({ session }: { session: Shape<'Session'> }) {
  const { t } = useTranslation('shell');
  const [isOpen, { open, close }] = useDisclosure(false);
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <ActionIcon variant="subtle" color="gray" size="lg" onClick={open} aria-label={t('palette.open')}>
        <IconSearch size={20} aria-hidden />
      </ActionIcon>
      <Modal opened={isOpen} onClose={close} title={t('palette.open')} size="md">
        <Search session={session} close={close} />
      </Modal>
    </>
  );
}

function Search({ session, close }: { session: Shape<'Session'>; close: () => void }) {
  const { t } = useTranslation('shell');
  const [words, setWords] = useState('');
  const found = useDestinations(session, words.trim());
  const goTo = ({ go }: Destination) => {
    close();
    void go();
  };
  const goToFirst = (event: FormEvent) => {
    event.preventDefault();
    if (found[0]) goTo(found[0]);
  };
  return (
    <form onSubmit={goToFirst} className="stack">
      <TextInput
        aria-label={t('palette.label')}
        placeholder={t('palette.label')}
        value={words}
        onChange={({ currentTarget }) => setWords(currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <Stack gap={2}>
        {found.map((each) => (
          <NavLink
            key={each.key}
            component="button"
            type="button"
            label={each.label}
            description={each.area}
            onClick={() => goTo(each)}
          />
        ))}
        {found.length === 0 && <Text c="dimmed">{t('palette.none')}</Text>}
      </Stack>
    </form>
  );
}

function useDestinations(session: Shape<'Session'>, words: string): Destination[] {
  const { t } = useTranslation('shell');
  const named = useNamed(session, words);
  const navigate = useNavigate();
  if (ID.test(words)) return named;
  return navigationOf(pages).flatMap(({ label: area, entries }) =>
    entries
      .filter((entry) => isListed(entry, session))
      .map(({ to, label }) => ({
        key: to,
        label: t(`nav.${label}`),
        area: t(`nav.${area}`),
        go: () => navigate({ to }),
      }))
      .filter(({ label }) => label.toLowerCase().includes(words.toLowerCase())),
  );
}

/** Where an id can lead; the page says when there is no such thing. */
function useNamed(session: Shape<'Session'>, id: string): Destination[] {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  const places = [
    { label: 'usage', roles: ['user'], go: () => navigate({ to: '/usage', search: { charge: id } }) },
    {
      label: 'accounts',
      roles: ['support', 'admin'],
      go: () => navigate({ to: '/support/accounts/$accountId', params: { accountId: id } }),
    },
    {
      label: 'revenue',
      roles: ['finance'],
      go: () => navigate({ to: '/finance/charges/$chargeId', params: { chargeId: id } }),
    },
  ] as const;
  return places
    .filter(({ roles }) => mayAny(session, roles))
    .map(({ label, go }) => ({
      key: label,
      label: t(`palette.${label}`, { id }),
      area: t(`nav.${label}`),
      go,
    }));
}
