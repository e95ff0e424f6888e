export { SettleUsage } from './application/settle-usage.js';
