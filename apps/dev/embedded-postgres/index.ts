export { EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
export { EmbeddedPostgresError } from './error.js';
export { runningUrl } from './running-url.js';
