// Reads values of the contract that no library reads as we need them, and finds values that are valid but cannot be used.
import { randomUUID } from 'node:crypto';

// The UUID format that the whole service accepts: RFC 9562, without `urn:uuid:` and braces.

/** Without anchors, for use inside larger patterns. */
export const uuidSource = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

export const uuidPattern = new RegExp(`^${uuidSource}$`, 'i');

export const isUuid = (text: string): boolean => uuidPattern.test(text);

/** In lower case, as it is stored; undefined when the text is not a UUID. */
export const readUuid = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);

/** Version 7: it begins with the time in milliseconds, so that new entries of an index by ID are side by side. */
export function makeTimedUuid(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

// Times of RFC 3339 with any precision become whole milliseconds, as they are stored.

// As strict as the format `date-time` of requests (server/kit/contract/ajv.ts).
const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3})(\d*))?(?:z|([+-])(\d\d):(\d\d))$/i;

/** The millisecond that a date-time falls in, and whether it is later than the start of that millisecond. */
function readInstant(text: string): { time: Date; isLater: boolean } {
  const parts = dateTime.exec(text);
  if (!parts) throw new RangeError(`Not a date-time: ${text}`);
  const [, year, month, day, hour, minute, second, fraction = '', beyond, sign, hours, minutes] = parts;
  const offset = (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
  const time = new Date(0);
  // Not Date.UTC, which reads the year 26 as 1926.
  time.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  time.setUTCHours(Number(hour), Number(minute) - offset, Number(second), Number(fraction.padEnd(3, '0')));
  return { time, isLater: Number(beyond ?? 0) > 0 };
}

/** The earliest whole millisecond that is not before the given time. */
export function notBefore(text: string): Date {
  const { time, isLater } = readInstant(text);
  return isLater ? new Date(time.getTime() + 1) : time;
}

/** The latest whole millisecond that is not after the given time. */
export const notAfter = (text: string): Date => readInstant(text).time;

/** Undefined unless it is a date-time that exists, in the years 0000 to 9999 of UTC. */
export function readDateTime(text: string): Date | undefined {
  const [year, month, day, hour, minute, second] = text.split(/\D/, 6).map(Number);
  const [, zoneHour = '0', zoneMinute = '0'] = /[+-](\d\d):(\d\d)$/.exec(text) ?? [];
  const isTime = (hours = 24, minutes = 60, seconds = 60) => hours < 24 && minutes < 60 && seconds < 60;
  if (!dateTime.test(text) || !isTime(hour, minute, second)) return undefined;
  if (!isTime(Number(zoneHour), Number(zoneMinute), 0)) return undefined;
  // 30 February becomes another day.
  const date = new Date(0);
  date.setUTCFullYear(year ?? 0, (month ?? 0) - 1, day);
  if (date.getUTCMonth() + 1 !== month || date.getUTCDate() !== day) return undefined;
  const time = notAfter(text);
  return time.getUTCFullYear() >= 0 && time.getUTCFullYear() <= 9999 ? time : undefined;
}

// Valid JSON that PostgreSQL cannot store.

/** False for JSON text with U+0000 or a lone surrogate. */
export const isStorable = (json: string): boolean => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(json);

/** Why a valid record cannot be stored; undefined when it can. */
export function whyUnstorable(record: { created_at: string; updated_at: string }): string | undefined {
  if (!isStorable(JSON.stringify(record)))
    return 'has text with U+0000 or a lone surrogate, which cannot be stored';
  for (const name of ['created_at', 'updated_at'] as const) {
    const year = notAfter(record[name]).getUTCFullYear();
    if (year < 0 || year > 9999) return `${name} is not in the years 0000 to 9999 of UTC`;
  }
  if (notAfter(record.updated_at) < notAfter(record.created_at)) return 'updated_at is before created_at';
  return undefined;
}

/** The contract's pattern accepts hosts that no URL parser does, such as `256.1.1.1`. */
export const hostFaults = (property: 'url' | 'redirect_url', address: string | null = null) =>
  address === null || URL.canParse(address)
    ? []
    : [
        {
          loc: ['body', property],
          msg: 'must have a host that is a valid name or IP address',
          type: 'value_error.url.host',
        },
      ];
