export { FailExpiredLeases } from './application/fail-expired-leases.js';
