export { EndExpiredLeases } from './application/end-expired-leases.js';
