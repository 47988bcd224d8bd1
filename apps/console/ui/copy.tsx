import { ActionIcon, Button, Code, CopyButton, Group } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { codeParts } from './code/code-parts.js';
import { SmallPrint } from './texts.js';

/** A one-line value to copy: an address, an id, a key. */
export function CopyLine({ value, label }: { value: string; label: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Code className="copy-line">{value}</Code>
      <CopyIcon value={value} label={label} />
    </Group>
  );
}

/** A value to copy below its name. */
export function CopyFact({ name, value }: { name: string; value: string | null }) {
  if (value === null) return null;
  return (
    <div>
      <SmallPrint>{name}</SmallPrint>
      <CopyLine value={value} label={name} />
    </div>
  );
}

export function CopyIcon({ value, label }: { value: string; label: string }) {
  const { t } = useTranslation('shell');
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <ActionIcon
          variant="default"
          onClick={copy}
          aria-label={copied ? t('copied') : t('copy', { what: label })}
        >
          {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
        </ActionIcon>
      )}
    </CopyButton>
  );
}

interface CodeLinesProps {
  code: string;
  label: string;
  /** What to copy, if `code` has line breaks for reading only. */
  copied?: string;
}

/** Code with a copy button. `label` is for screen readers. */
export function CodeLines({ code, label, copied: text = code }: CodeLinesProps) {
  const { t } = useTranslation('shell');
  return (
    <div className="code-lines">
      <Code block tabIndex={0} role="region" aria-label={label}>
        {codeParts(code).map(({ kind, code: part }, at) =>
          kind === null ? (
            part
          ) : (
            <span key={at} className={`code-${kind}`}>
              {part}
            </span>
          ),
        )}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="default" className="code-copy" onClick={copy}>
            {copied ? t('copied') : t('copyCode')}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
