import type { ConfigReader } from '#platform/config.js';

/** Who receives the money, for receipts. */
export interface Issuer {
  readonly name: string;
  /** Address lines; null: none is shown. */
  readonly address: string | null;
  readonly taxId: string | null;
}

export function readIssuer(reader: ConfigReader): Issuer {
  return {
    name: reader.get('ISSUER_NAME'),
    address: reader.get('ISSUER_ADDRESS')?.replaceAll('\\n', '\n') ?? null,
    taxId: reader.get('ISSUER_TAX_ID') ?? null,
  };
}
