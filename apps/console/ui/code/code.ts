export interface Code {
  id: string;
  name: string;
  code: string;
}
