import { Paper } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';

export interface ReceiptLine {
  name: string;
  what: ReactNode;
  amount: ReactNode;
  isTotal?: boolean;
}

interface ReceiptProps {
  /** For screen readers. */
  label: string;
  /** What was bought, and where. */
  title: ReactNode;
  about?: ReactNode;
  lines: readonly ReceiptLine[];
  /** Why people can trust the amounts. */
  stamp?: ReactNode;
}

/** A cost, line by line, like a receipt. */
export function ReceiptCard({ label, title, about, lines, stamp }: ReceiptProps) {
  return (
    <Paper component="section" withBorder className="receipt" aria-label={label}>
      <div className="receipt-title model-name">{title}</div>
      {about && <div className="receipt-about">{about}</div>}
      <dl className="receipt-lines">
        {lines.map(({ name, what, amount, isTotal = false }) => (
          <div key={name} className={isTotal ? 'receipt-total' : undefined}>
            <dt>{what}</dt>
            <dd>{amount}</dd>
          </div>
        ))}
      </dl>
      {stamp && (
        <div className="receipt-stamp">
          <IconCircleCheck size={16} aria-hidden />
          {stamp}
        </div>
      )}
    </Paper>
  );
}
