/** An error people can act on. It crosses workers as the plain record `{code, message, hint}` (structured clone drops classes). */
export interface PlainError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export class NacreError extends Error implements PlainError {
  readonly code: string;
  readonly hint: string;
  /** @param code kebab-case and stable; @param message what went wrong and where; @param hint what to do about it. */
  constructor(code: string, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NacreError';
    this.code = code;
    this.hint = hint;
  }
}

/** Any thrown value as the record that is shown, logged or posted. */
export function toPlainError(thrown: unknown): PlainError {
  if (thrown instanceof NacreError) return { code: thrown.code, message: thrown.message, hint: thrown.hint };
  if (isPlainError(thrown)) return { code: thrown.code, message: thrown.message, hint: thrown.hint };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: 'unexpected', message, hint: 'This is a defect of Nacre: please report it with the details.' };
}

export function isPlainError(value: unknown): value is PlainError {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value && 'hint' in value;
}

export function fromPlainError(plain: PlainError): NacreError {
  return new NacreError(plain.code, plain.message, plain.hint);
}
