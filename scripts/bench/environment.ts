/** What a measured program gets of the environment of the bench: nothing that configures the service. */
export const environment = (env: Record<string, string> = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  DATABASE_URL: '',
  ENVIRONMENT: 'sandbox',
  SCARF_ANALYTICS: 'false',
  NODE_ENV: '',
  ...env,
});
