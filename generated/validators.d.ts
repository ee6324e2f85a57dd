// Written by `npm run generate`. Do not edit.
export interface ValidateFunction {
  (value: unknown): boolean;
  /** Of the last call. */
  errors?: { instancePath: string; keyword: string; message?: string; params?: object }[] | null;
}

/** SHA-256 of the openapi.json that the validators were compiled from. */
export const digest: string;
/** The formats by their names, as Ajv knows them. */
export function validators(formats: object): Record<string, ValidateFunction>;
