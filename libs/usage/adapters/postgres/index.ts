/** The SQL by which statements of other contexts count messages that they remove. */
export { addUsage, LOCK_PROGRESS } from './add-usage.sql.js';
