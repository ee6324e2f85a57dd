// express-openapi-validator compiles the schema of OpenAPI itself at every start, even when it is told not to validate the
// document with it (`validateApiSpec: false`). That is a quarter of a second for nothing, so it is skipped then. Importing the
// file of that class fails loudly if another version of the package no longer has it.
import schemaValidator from 'express-openapi-validator/dist/framework/openapi.schema.validator.js';

const { OpenAPISchemaValidator: Original } = schemaValidator;

type Options = ConstructorParameters<typeof Original>[0];

function OnlyIfAsked(options: Options) {
  return options.validateApiSpec ? new Original(options) : { validate: () => ({ errors: [] }) };
}

schemaValidator.OpenAPISchemaValidator = OnlyIfAsked as unknown as typeof Original;
