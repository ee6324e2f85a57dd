// Keys of 32 bytes in base64, and whether one can come from a random generator. Catches keys that people type or count: text, repeats of a
// pattern, sequences. It cannot catch a key that was published or comes from a weak generator.

export function strongKey(value: string): Buffer | undefined {
  const key = decodeKey(value);
  return key && looksRandom(key) ? key : undefined;
}

/** Undefined unless it is 32 bytes in base64. */
export function decodeKey(value: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(value)) return undefined;
  const key = Buffer.from(value, 'base64');
  return key.length === 32 ? key : undefined;
}

/**
 * Refuses a random key with a probability below 10^-12. The sum of these bounds, where n random bytes have m or fewer distinct
 * values with a probability of at most C(256, m) · (m / 256)^n:
 * - printable: (95 / 256)^32 < 2·10^-14;
 * - 16 or fewer distinct bytes of 32: < 3·10^-14;
 * - the differences at a distance of 1 to 24 bytes (n = 31 to 8, m = n / 4; each difference is as random as the later one of
 *   its bytes): < 5·10^-13;
 * - second differences (n = 30, m = 7) and bytes in ascending or descending order: < 10^-30.
 */
export function looksRandom(key: Buffer): boolean {
  const bytes = [...key];
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x7f)) return false;
  if (new Set(bytes).size <= 16) return false;
  for (let distance = 1; distance <= 24; distance++)
    if (isRegular(differences(bytes, distance))) return false;
  if (isRegular(differences(differences(bytes, 1), 1))) return false;
  const pairs = bytes.slice(1).map((byte, index) => byte - (bytes[index] ?? 0));
  return !pairs.every((step) => step >= 0) && !pairs.every((step) => step <= 0);
}

/** Of a sequence they are all the same at a distance of 1, of n sequences in turn and of repeats at a distance of n. */
const differences = (bytes: number[], distance: number): number[] =>
  bytes.slice(distance).map((byte, index) => (256 + byte - (bytes[index] ?? 0)) % 256);

const isRegular = (values: number[]): boolean => new Set(values).size <= values.length / 4;
