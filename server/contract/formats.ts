// Stricter versions of two formats. ajv-formats accepts more than the standards and the database: `urn:uuid:…` as a UUID
// (RFC 9562); the offset `+01`, a tab between date and time, and second 60 in a date-time (RFC 3339).
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { uuidPattern } from '../rules/uuid.ts';

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
const { validate: isDateTime } = fullFormats['date-time'] as { validate: (text: string) => boolean };

export const formats = {
  uuid: uuidPattern,
  // The library is needed for the length of months: Date reads 30 February as 2 March.
  'date-time': (text: string) => dateTime.test(text) && isDateTime(text) && !Number.isNaN(Date.parse(text)),
};

/** Every format by name, for validators that were compiled without an Ajv. */
export const allFormats = { ...fullFormats, ...formats };
