import packageJson from '../package.json' with { type: 'json' };

/** This service's version. */
export const SERVICE_VERSION: string = packageJson.version;
