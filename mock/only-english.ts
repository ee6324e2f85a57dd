// Prism loads faker, for `Prefer: dynamic=true`, with the data of sixty languages: half of the time that the mock takes to
// start. It uses the English one only, so that alone is loaded in its place. Import this before Prism.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
// From Prism's place, because faker is its dependency and not ours.
const fromPrism = createRequire(require.resolve('@stoplight/prism-http'));

const whole = fromPrism.resolve('@faker-js/faker');
const english: unknown = fromPrism('@faker-js/faker/locale/en');
const { cache } = require;
cache[whole] ??= Object.assign(Object.create(null), {
  id: whole,
  filename: whole,
  loaded: true,
  children: [],
  paths: [],
  exports: { __esModule: true, default: english, faker: english },
}) as NodeJS.Module;
