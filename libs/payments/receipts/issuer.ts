import type { ConfigReader } from '#platform/config.js';

export function readIssuer(reader: ConfigReader) {
  return {
    name: reader.get('ISSUER_NAME'),
    /** Address lines; null: none is shown. */
    address: reader.get('ISSUER_ADDRESS')?.replaceAll('\\n', '\n') ?? null,
    taxId: reader.get('ISSUER_TAX_ID') ?? null,
  };
}

/** Who receives the money, for receipts. */
export type Issuer = Readonly<ReturnType<typeof readIssuer>>;
