/** The same in one language or client. */
export interface Code {
  id: string;
  name: string;
  code: string;
}
