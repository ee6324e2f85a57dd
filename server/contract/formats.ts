// Two formats that ajv-formats reads more generously than their standards, and that the store cannot take: `urn:uuid:…` as
// a UUID (RFC 9562), and `+01`, a tab between date and time or second 60 as a time (RFC 3339). For judge and explainer alike.
import { fullFormats } from 'ajv-formats/dist/formats.js';

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
const { validate: isDateTime } = fullFormats['date-time'] as { validate: (text: string) => boolean };

export const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  // The library knows how long a month is, Date does not: it takes 30 February for 2 March.
  'date-time': (text: string) => dateTime.test(text) && isDateTime(text) && !Number.isNaN(Date.parse(text)),
};
