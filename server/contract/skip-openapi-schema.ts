// express-openapi-validator compiles the schema of OpenAPI itself at every start, even when it is told not to validate the
// document with it (`validateApiSpec: false`). That is a quarter of a second for nothing, so it is skipped then. And it prints
// what it finds as JSON; here the first fault is said in words. Importing the file of that class fails loudly if another version
// of the package no longer has it.
import schemaValidator from 'express-openapi-validator/dist/framework/openapi.schema.validator.js';

const { OpenAPISchemaValidator: Original } = schemaValidator;

type Options = ConstructorParameters<typeof Original>[0];

function OnlyIfAsked(options: Options) {
  if (!options.validateApiSpec) return { validate: () => ({ errors: [] }) };
  const original = new Original(options);
  return {
    validate(document: Parameters<typeof original.validate>[0]) {
      const [fault] = original.validate(document).errors ?? [];
      if (fault)
        throw new Error(`${fault.instancePath} ${fault.message}. Fix openapi/, then run: npm run generate`);
      return { errors: [] };
    },
  };
}

schemaValidator.OpenAPISchemaValidator = OnlyIfAsked as unknown as typeof Original;
