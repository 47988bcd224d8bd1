import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { IconDownload, type TablerIcon } from '@tabler/icons-react';
import type { ReactNode, Ref } from 'react';

/** A text link to a page of the console, type-checked against the routes. */
export const TextLink = createLink(function TextLink(props: AnchorProps & { ref?: Ref<HTMLAnchorElement> }) {
  return <Anchor {...props} />;
});

interface NarrowLinkProps extends Omit<AnchorProps, 'children'> {
  search: object;
  children: ReactNode;
}

/** Stays on the page and changes search parameters. */
export function NarrowLink({ search, ...link }: NarrowLinkProps) {
  return <TextLink to="." search={(before) => ({ ...before, ...search })} resetScroll={false} {...link} />;
}

interface OpenLinkProps extends Omit<NarrowLinkProps, 'search'> {
  /** The search parameter that says what is open. */
  param: string;
  value: string;
}

/** Opens something beside what the page shows, such as the details of a row; see OpenPanel. */
export function OpenLink({ param, value, ...link }: OpenLinkProps) {
  return <NarrowLink search={{ [param]: value }} {...link} />;
}

interface ButtonLinkProps extends ButtonProps {
  icon?: TablerIcon;
  ref?: Ref<HTMLAnchorElement>;
}

/** A link that looks like a button, for the main action of a page. */
export const ButtonLink = createLink(function ButtonLink({ icon: Icon, ...props }: ButtonLinkProps) {
  return <Button component="a" leftSection={Icon && <Icon size={16} aria-hidden />} {...props} />;
});

/** At the top of a page: the way back to its list. */
export const BackLink = createLink(function BackLink(props: AnchorProps & { ref?: Ref<HTMLAnchorElement> }) {
  return <Anchor size="sm" {...props} className="back-link" />;
});

/** A button that saves a file. */
export function DownloadButton({ href, ...button }: ButtonProps & { href: string; children: ReactNode }) {
  return (
    <Button
      component="a"
      href={href}
      download
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
      {...button}
    />
  );
}
